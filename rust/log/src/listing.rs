//! Listing of the log's files, in order.

use std::sync::Arc;

use deltaic_protocol::log_path::{LOG_FOLDER, LogFileKind, LogPath};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta};

use deltaic_storage::location::TableLocation;
use deltaic_storage::{is_not_a_folder, store_error};

/// A file that exists in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Version and kind, parsed from the name.
    pub path: LogPath,
    /// Its name in `_delta_log`.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Modification time reported by the store, in milliseconds since the epoch.
    pub modified_ms: i64,
    /// Entity tag, which identifies one write of the file, if the store reports one.
    pub e_tag: Option<String>,
}

impl LogFile {
    /// Creates the entry for the commit of a version, with nothing else known.
    #[must_use]
    pub fn commit(version: Version) -> Self {
        Self {
            path: LogPath {
                version,
                kind: LogFileKind::Commit,
            },
            name: format!("{}.json", version.file_stem()),
            size: 0,
            modified_ms: 0,
            e_tag: None,
        }
    }

    /// Creates the entry for a version's checksum of this size, without time and tag.
    #[must_use]
    pub fn checksum(version: Version, size: u64) -> Self {
        Self {
            path: LogPath {
                version,
                kind: LogFileKind::VersionChecksum,
            },
            name: format!("{}.crc", version.file_stem()),
            size,
            modified_ms: 0,
            e_tag: None,
        }
    }

    /// Whether the metadata that the store now reports is still of this write of the file.
    #[must_use]
    pub fn is_still(&self, meta: &ObjectMeta) -> bool {
        // HTTP responses have times in whole seconds and quoted tags; listings may have milliseconds and
        // unquoted tags.
        let seconds = |ms: i64| ms.div_euclid(1000);
        let plain = |tag: &str| tag.trim_start_matches("W/").trim_matches('"').to_owned();
        let tags = (self.e_tag.as_deref().map(plain), meta.e_tag.as_deref().map(plain));
        self.size == meta.size
            && seconds(self.modified_ms) == seconds(meta.last_modified.timestamp_millis())
            && match tags {
                (Some(listed), Some(answered)) => listed == answered,
                _ => true,
            }
    }

    /// Whether both entries describe the same write of one file.
    #[must_use]
    pub fn is_same_writing(&self, other: &Self) -> bool {
        self.path == other.path
            && self.size == other.size
            && self.modified_ms == other.modified_ms
            && (self.e_tag.is_none() || other.e_tag.is_none() || self.e_tag == other.e_tag)
    }

    /// The last version that the file covers: its own, or the end of a compaction file.
    #[must_use]
    pub fn last_version(&self) -> Version {
        match self.path.kind {
            LogFileKind::Compaction { end } => end,
            _ => self.path.version,
        }
    }

    /// The path relative to the table's root.
    #[must_use]
    pub fn relative(&self) -> String {
        format!("{LOG_FOLDER}/{}", self.name)
    }
}

/// Returns the error of a failed listing, with the table's URI, since all logs have the same folder name.
fn unlistable(error: &object_store::Error, location: &TableLocation) -> Error {
    store_error(error, LOG_FOLDER).with("table", location.uri())
}

/// Lists the log's folder. Files that are created during a local listing may be missing from it: if it shows
/// a later commit without an earlier one, the folder is listed once more for the missing commits only.
pub(crate) async fn list_folder(
    location: &TableLocation,
    folder: &Path,
) -> Result<ListResult, object_store::Error> {
    let mut listed = location.store().list_with_delimiter(Some(folder)).await?;
    let missing = missing_commits(&listed.objects);
    if location.file_system().is_none() || missing.is_empty() {
        return Ok(listed);
    }
    let again = location.store().list_with_delimiter(Some(folder)).await?;
    let came = again.objects.into_iter();
    listed
        .objects
        .extend(came.filter(|object| commit_of(object).is_some_and(|version| missing.contains(version))));
    Ok(listed)
}

fn commit_of(object: &ObjectMeta) -> Option<Version> {
    let path = LogPath::parse(object.location.filename()?)?;
    (path.kind == LogFileKind::Commit).then_some(path.version)
}

/// Returns the gaps between the listed commits.
fn missing_commits(objects: &[ObjectMeta]) -> Gaps {
    let mut versions: Vec<Version> = objects.iter().filter_map(commit_of).collect();
    versions.sort_unstable();
    let pairs = versions.iter().zip(versions.iter().skip(1));
    Gaps(
        pairs
            .filter(|(one, next)| next.as_i64().saturating_sub(one.as_i64()) > 1)
            .map(|(one, next)| (*one, *next))
            .collect(),
    )
}

/// Ranges of versions without their bounds, in order.
struct Gaps(Vec<(Version, Version)>);

impl Gaps {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn contains(&self, version: Version) -> bool {
        let before = self.0.partition_point(|(after, _)| *after < version);
        let range = before.checked_sub(1).and_then(|index| self.0.get(index));
        range.is_some_and(|(_, until)| version < *until)
    }
}

/// The log's files, by version; names that do not follow the protocol are skipped.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The files, ordered by version and then by kind.
    pub files: Vec<Arc<LogFile>>,
    /// Whether `_delta_log` contains any file.
    pub any: bool,
}

impl Listing {
    /// Lists the whole log.
    ///
    /// Fails with `CorruptLog` if a folder has the name of a commit.
    #[tracing::instrument(target = "deltaic::log", name = "list log", level = "debug", skip_all, fields(files = tracing::field::Empty))]
    pub async fn whole(location: &TableLocation) -> Result<Self> {
        let folder = location.below(LOG_FOLDER)?;
        let listed = match list_folder(location, &folder).await {
            Ok(listed) => listed,
            // A path below a file is not a table.
            Err(error) if is_not_a_folder(&error) => return Ok(Self::default()),
            Err(error) => return Err(unlistable(&error, location)),
        };
        for prefix in &listed.common_prefixes {
            if let Some(LogPath {
                version,
                kind: LogFileKind::Commit,
            }) = prefix.filename().and_then(LogPath::parse)
            {
                return Err(
                    Error::new(ErrorKind::CorruptLog, "the path of a commit is a folder")
                        .with("path", LogPath::commit(version))
                        .with("version", version)
                        .hint("move the folder away and restore the commit from a backup"),
                );
            }
        }
        let any = !listed.common_prefixes.is_empty() || !listed.objects.is_empty();
        let mut listing = Self::from_objects(listed.objects, &folder, any);
        listing.leave_out_what_is_no_file(location)?;
        tracing::Span::current().record("files", listing.files.len());
        Ok(listing)
    }

    /// Lists the log from a version on, for use with the last-checkpoint hint.
    pub async fn from(location: &TableLocation, version: Version) -> Result<Self> {
        if location.file_system().is_some() {
            // A local folder is always read completely.
            let mut listing = Self::whole(location).await?;
            listing.files.retain(|file| file.path.version >= version);
            return Ok(listing);
        }
        let folder = location.below(LOG_FOLDER)?;
        let offset = location.below(&format!("{LOG_FOLDER}/{}", version.file_stem()))?;
        let objects: Vec<ObjectMeta> = location
            .store()
            .list_with_offset(Some(&folder), &offset)
            .try_collect()
            .await
            .map_err(|error| unlistable(&error, location))?;
        let any = !objects.is_empty();
        Ok(Self::from_objects(objects, &folder, any))
    }

    fn from_objects(objects: Vec<ObjectMeta>, folder: &Path, any: bool) -> Self {
        let mut files: Vec<Arc<LogFile>> = objects
            .into_iter()
            .filter_map(|object| {
                let mut below = object.location.prefix_match(folder)?;
                let name = below.next()?.as_ref().to_owned();
                if below.next().is_some() {
                    return None;
                }
                Some(Arc::new(LogFile {
                    path: LogPath::parse(&name)?,
                    name,
                    size: object.size,
                    modified_ms: object.last_modified.timestamp_millis(),
                    e_tag: object.e_tag,
                }))
            })
            .collect();
        // Stores do not guarantee an order, and may list a file that is rewritten concurrently twice.
        files.sort_by(|left, right| {
            let newer_first = right.modified_ms.cmp(&left.modified_ms);
            left.path.cmp(&right.path).then(newer_first)
        });
        files.dedup_by(|later, kept| later.name == kept.name);
        Self { files, any }
    }

    /// Skips pipes, devices and other special files, which would block a reader; under the name of a commit they
    /// are an error. All of them have size 0, which few regular files have.
    fn leave_out_what_is_no_file(&mut self, location: &TableLocation) -> Result<()> {
        let mut commit = None;
        self.files.retain(|file| {
            let is_none = file.size == 0
                && location
                    .below(&file.relative())
                    .is_ok_and(|path| location.is_not_regular_file(&path));
            if is_none && file.path.kind == LogFileKind::Commit {
                commit.get_or_insert(file.path.version);
            }
            !is_none
        });
        match commit {
            None => Ok(()),
            Some(version) => Err(Error::new(
                ErrorKind::CorruptLog,
                "there is no regular file at the path of a commit",
            )
            .with("path", LogPath::commit(version))
            .with("version", version)
            .hint("move it away and restore the commit from a backup")),
        }
    }

    /// The commits, oldest first.
    pub fn commits(&self) -> impl DoubleEndedIterator<Item = &Arc<LogFile>> {
        self.files
            .iter()
            .filter(|file| file.path.kind == LogFileKind::Commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(versions: &[i64]) -> Vec<ObjectMeta> {
        let object = |version: &i64| ObjectMeta {
            location: Path::from(format!("t/_delta_log/{version:020}.json")),
            last_modified: Default::default(),
            size: 1,
            e_tag: None,
            version: None,
        };
        versions.iter().map(object).collect()
    }

    /// A file that is created during a listing may be missing although a later one is listed.
    #[test]
    fn a_second_look_is_for_what_the_first_one_missed() -> Result<()> {
        let gaps = missing_commits(&objects(&[9, 3, 4, 7]));
        for (version, is_missing) in [
            (2, false),
            (3, false),
            (5, true),
            (6, true),
            (7, false),
            (8, true),
            (10, false),
        ] {
            assert_eq!(gaps.contains(Version::try_new(version)?), is_missing, "{version}");
        }
        assert!(missing_commits(&objects(&[4, 3, 5])).is_empty());
        assert!(missing_commits(&[]).is_empty());
        Ok(())
    }
}
