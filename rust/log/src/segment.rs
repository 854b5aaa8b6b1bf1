//! The log files that make up one version.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::log_path::{LOG_FOLDER, LogFileKind, LogPath};
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use crate::listing::{Listing, LogFile};

/// A checkpoint that has all its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointFiles {
    /// The version of the checkpoint.
    pub version: Version,
    /// Its files: one, or the parts of a multi-part checkpoint in order.
    pub files: Vec<Arc<LogFile>>,
}

/// The log files that make up one version.
///
/// Guarantees: the commits are contiguous, the last one is the version itself, and the first follows the
/// checkpoint or is version 0. Without commits the checkpoint is of the version itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSegment {
    /// The version.
    pub version: Version,
    /// The checkpoint to start from, unless the segment starts at version 0.
    pub checkpoint: Option<CheckpointFiles>,
    /// The commits after the checkpoint, oldest first.
    pub commits: Vec<Arc<LogFile>>,
    /// Compaction files that cover some of these commits, ordered by start version, the longest first.
    pub compactions: Vec<Arc<LogFile>>,
    /// The version checksum of this version.
    pub checksum: Option<Arc<LogFile>>,
}

/// Whether compaction files are read instead of the commits that they cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compactions {
    /// Read compaction files where possible.
    Used,
    /// Read commits only.
    Ignored,
}

/// Returns the complete checkpoints at or below a version, newest first.
///
/// Protocol: *Checkpoints*: a multi-part checkpoint with missing parts is skipped.
#[must_use]
pub fn complete_checkpoints(listing: &Listing, at_most: Option<Version>) -> Vec<CheckpointFiles> {
    let mut found: Vec<CheckpointFiles> = Vec::new();
    let mut parts: BTreeMap<(Version, u32), Vec<Arc<LogFile>>> = BTreeMap::new();
    for file in listing
        .files
        .iter()
        .filter(|file| at_most.is_none_or(|limit| file.path.version <= limit))
    {
        match file.path.kind {
            LogFileKind::ClassicCheckpoint => {
                found.push(CheckpointFiles {
                    version: file.path.version,
                    files: vec![Arc::clone(file)],
                });
            }
            LogFileKind::UuidCheckpoint { .. } => {
                found.push(CheckpointFiles {
                    version: file.path.version,
                    files: vec![Arc::clone(file)],
                });
            }
            LogFileKind::MultiPartCheckpoint { parts: count, .. } => {
                parts
                    .entry((file.path.version, count))
                    .or_default()
                    .push(Arc::clone(file));
            }
            _ => {}
        }
    }
    for ((version, count), files) in parts {
        if u32::try_from(files.len()) == Ok(count) {
            found.push(CheckpointFiles { version, files });
        }
    }
    // For one version, the single-file checkpoint comes first: it cannot mix parts of two writers.
    found.sort_by(|left, right| {
        right
            .version
            .cmp(&left.version)
            .then(left.files.len().cmp(&right.files.len()))
    });
    found
}

impl LogSegment {
    /// Verifies that the checkpoint, if any, and the listed commits make up the version.
    ///
    /// Fails with `CorruptLog` with the version of a missing commit.
    pub fn try_new(listing: &Listing, checkpoint: Option<CheckpointFiles>, version: Version) -> Result<Self> {
        let after = checkpoint.as_ref().map(|checkpoint| checkpoint.version);
        let is_within = |first: Version, last: Version| {
            after.is_none_or(|after| first > after) && first <= last && last <= version
        };
        let commits: Vec<Arc<LogFile>> = listing
            .commits()
            .filter(|file| is_within(file.path.version, file.path.version))
            .cloned()
            .collect();
        let mut compactions: Vec<Arc<LogFile>> = listing
            .files
            .iter()
            .filter(|file| matches!(file.path.kind, LogFileKind::Compaction { .. }))
            // A compaction file that is older than its last commit is of another commit, for example of an
            // earlier table at this path. If copying has mixed up the times, reading the commits is only
            // slower.
            .filter(|file| {
                let last = commits
                    .binary_search_by_key(&file.last_version(), |commit| commit.path.version)
                    .ok()
                    .and_then(|index| commits.get(index));
                last.is_none_or(|last| file.modified_ms >= last.modified_ms)
            })
            // A compaction file of a single commit violates the protocol and saves nothing.
            .filter(|file| {
                is_within(file.path.version, file.last_version()) && file.path.version < file.last_version()
            })
            .cloned()
            .collect();
        compactions.sort_by_key(|file| (file.path.version, std::cmp::Reverse(file.last_version())));
        let mut expected = match after {
            Some(after) if after == version => None,
            Some(after) => Some(after.next()?),
            None => Some(Version::ZERO),
        };
        for commit in &commits {
            match expected {
                Some(next) if commit.path.version == next => {
                    expected = if next == version { None } else { Some(next.next()?) };
                }
                _ => break,
            }
        }
        if let Some(missing) = expected {
            return Err(missing_commit(missing, version));
        }
        Ok(Self {
            version,
            checkpoint,
            commits,
            compactions,
            checksum: checksum_of(listing, version),
        })
    }

    /// Returns the files to read, oldest first: commits, or compaction files that cover some of them.
    ///
    /// Protocol: *Log Compaction Files*.
    #[must_use]
    pub fn lines(&self, compactions: Compactions) -> Vec<Arc<LogFile>> {
        if compactions == Compactions::Ignored || self.compactions.is_empty() {
            return self.commits.clone();
        }
        let mut files = Vec::with_capacity(self.commits.len());
        let mut covered: Option<Version> = None;
        for commit in &self.commits {
            let version = commit.path.version;
            if covered.is_some_and(|covered| version <= covered) {
                continue;
            }
            match self.compactions.iter().find(|file| file.path.version == version) {
                Some(compaction) => {
                    covered = Some(compaction.last_version());
                    files.push(Arc::clone(compaction));
                }
                None => files.push(Arc::clone(commit)),
            }
        }
        files
    }
}

/// Returns the version checksum of a version if the listing contains one.
#[must_use]
pub fn checksum_of(listing: &Listing, version: Version) -> Option<Arc<LogFile>> {
    let is_its =
        |file: &&Arc<LogFile>| file.path.kind == LogFileKind::VersionChecksum && file.path.version == version;
    listing.files.iter().find(is_its).cloned()
}

fn missing_commit(missing: Version, version: Version) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("commit {missing} is missing, but version {version} requires it"),
    )
    .with("path", LogPath::commit(missing))
    .with("version", missing)
    .hint("restore the file from a backup of the table; no other commit can replace it")
}

/// Returns the newest version of a listing, by commits and complete checkpoints.
#[must_use]
pub fn newest_version(listing: &Listing) -> Option<Version> {
    let commit = listing.commits().next_back().map(|file| file.path.version);
    let checkpoint = listing
        .files
        .iter()
        .filter(|file| {
            matches!(
                file.path.kind,
                LogFileKind::ClassicCheckpoint
                    | LogFileKind::MultiPartCheckpoint { .. }
                    | LogFileKind::UuidCheckpoint { .. }
            )
        })
        .map(|file| file.path.version)
        .max();
    commit.max(checkpoint)
}

/// Returns the range of readable versions: from the oldest checkpoint or commit 0 to the newest version.
#[must_use]
pub fn version_range(listing: &Listing) -> Option<(Version, Version)> {
    let newest = newest_version(listing)?;
    let oldest_commit = listing.commits().next().map(|file| file.path.version);
    let oldest = match oldest_commit {
        Some(version) if version == Version::ZERO => version,
        _ => complete_checkpoints(listing, None)
            .last()
            .map(|checkpoint| checkpoint.version)
            .or(oldest_commit)?,
    };
    Some((oldest, newest))
}

/// Returns the error for a version that cannot be read, with the available range.
#[must_use]
pub fn version_not_found(listing: &Listing, version: Version) -> Error {
    let range = version_range(listing);
    let available = match range {
        Some((oldest, newest)) if oldest == newest => format!("; available: {newest}"),
        Some((oldest, newest)) => format!("; available: {oldest}–{newest}"),
        None => String::new(),
    };
    let message = format!("Version {version} does not exist{available}");
    let error = Error::new(ErrorKind::VersionNotFound, message).with("version", version);
    match range {
        Some((oldest, newest)) => error.with("oldest", oldest).with("newest", newest).hint(format!(
            "open a version from {oldest} to {newest}, or omit the version to open the newest one"
        )),
        None => error,
    }
}

/// Returns the error for a location without a table.
#[must_use]
pub fn not_a_table(listing: &Listing, uri: &str) -> Error {
    let (why, hint) = if listing.any {
        (
            "its _delta_log contains no commit and no checkpoint",
            "restore the log from a backup of the table",
        )
    } else {
        (
            "it has no _delta_log",
            "check the path; make a table of a folder of Parquet files with Table.convert(uri)",
        )
    };
    let hint = match parent_table(uri) {
        Some(parent) => format!("did you mean the parent folder {parent}?"),
        None => hint.to_owned(),
    };
    Error::new(
        ErrorKind::TableNotFound,
        format!("there is no Delta table: {why}"),
    )
    .with("path", uri)
    .with("log", LOG_FOLDER)
    .hint(hint)
}

/// Returns the folder that may be the table if the URI is that of its log, a partition or a data file.
fn parent_table(uri: &str) -> Option<&str> {
    let is_part = |name: &str| name == LOG_FOLDER || name.contains('=') || name.ends_with(".parquet");
    let mut folder = uri.trim_end_matches('/');
    while let Some((parent, _)) = folder.rsplit_once('/').filter(|(_, name)| is_part(name)) {
        folder = parent;
    }
    (folder.len() < uri.trim_end_matches('/').len()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_part_of_a_table_is_suggested() {
        for (uri, expected) in [
            ("file:///a/t/_delta_log/", Some("file:///a/t")),
            ("s3://b/t/p=1/q=2/", Some("s3://b/t")),
            ("s3://b/t/p=1/part-0.parquet/", Some("s3://b/t")),
            ("file:///a/t/", None),
            ("_delta_log", None),
        ] {
            assert_eq!(parent_table(uri), expected, "{uri}");
        }
    }

    fn listing(names: &[&str]) -> Listing {
        let mut files: Vec<Arc<LogFile>> = names
            .iter()
            .filter_map(|name| {
                let path = LogPath::parse(name)?;
                Some(Arc::new(LogFile {
                    path,
                    name: (*name).to_owned(),
                    size: 1,
                    modified_ms: 0,
                    e_tag: None,
                }))
            })
            .collect();
        files.sort_by(|left, right| left.path.cmp(&right.path));
        Listing { files, any: true }
    }

    fn commit(version: i64) -> String {
        format!("{version:020}.json")
    }

    fn segment(names: &[&str], version: i64) -> Result<LogSegment> {
        let version = Version::try_new(version)?;
        let listing = listing(names);
        LogSegment::try_new(
            &listing,
            complete_checkpoints(&listing, Some(version)).into_iter().next(),
            version,
        )
    }

    /// protocol: checkpoints.1, checkpoints.2
    #[test]
    fn the_newest_complete_checkpoint_that_is_not_too_new_is_taken() -> Result<()> {
        let commits: Vec<String> = (0..5).map(commit).collect();
        let mut names: Vec<&str> = commits.iter().map(String::as_str).collect();
        names.extend([
            "00000000000000000001.checkpoint.parquet",
            "00000000000000000003.checkpoint.parquet",
            "00000000000000000004.checkpoint.0000000001.0000000002.parquet",
        ]);
        let at = |version| -> Result<(Option<i64>, usize)> {
            let segment = segment(&names, version)?;
            Ok((
                segment.checkpoint.map(|checkpoint| checkpoint.version.as_i64()),
                segment.commits.len(),
            ))
        };
        assert_eq!(at(4)?, (Some(3), 1));
        assert_eq!(at(3)?, (Some(3), 0));
        assert_eq!(at(2)?, (Some(1), 1));
        assert_eq!(at(0)?, (None, 1));
        Ok(())
    }

    #[test]
    fn a_gap_is_never_stepped_over() {
        for (names, version, missing) in [
            (vec![0, 2], 2, 1),
            (vec![1, 2], 2, 0),
            (vec![0, 1], 2, 2),
            (vec![], 0, 0),
        ] {
            let names: Vec<String> = names.into_iter().map(commit).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let error = segment(&names, version).err();
            assert_eq!(
                error.as_ref().map(Error::kind),
                Some(ErrorKind::CorruptLog),
                "{names:?}"
            );
            let text = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains(&format!("commit {missing} is missing")), "{text}");
        }
    }

    /// protocol: checkpoints.8
    #[test]
    fn a_multi_part_checkpoint_counts_only_when_whole() {
        let names = [
            "00000000000000000004.checkpoint.0000000001.0000000002.parquet",
            "00000000000000000004.checkpoint.0000000002.0000000003.parquet",
        ];
        assert!(complete_checkpoints(&listing(&names), None).is_empty());
        let whole = [
            names[0],
            "00000000000000000004.checkpoint.0000000002.0000000002.parquet",
        ];
        assert_eq!(complete_checkpoints(&listing(&whole), None).len(), 1);
    }
}
