//! What each version of a range changed: the files that came and went, and those that hold the changed rows.
//!
//! Protocol: *Change Data Files*, *Reader Requirements for AddCDCFile*.

mod commit;
mod live_paths;
mod removed_values;

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::{Cdc, Metadata, Protocol};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::{StreamExt, TryStreamExt};

use self::commit::{Commit, FileAction, read_commit};
use self::live_paths::LivePaths;
use self::removed_values::{fill_values, lacks_values, partition_names};
use crate::history::{
    adjusted_file_times, in_commit_timestamp, in_commit_timestamps, is_in_commit, read_table_state,
};
use crate::listing::{Listing, LogFile};
use crate::location::TableLocation;
use crate::segment::{newest_version, not_a_table, version_not_found};
use crate::snapshot::{LoadOptions, Snapshot};

/// How many commits are read side by side.
const COMMITS_IN_FLIGHT: usize = 16;

/// Partition values as the log has them, by the log's names.
pub type PartitionValues = BTreeMap<String, Option<String>>;

/// A file that came or went with its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// As the log has it.
    pub path: String,
    /// The partition values.
    pub partition_values: PartitionValues,
    /// Bytes, where the log says.
    pub size: Option<i64>,
    /// The rows that the file has no more.
    pub deletion_vector: Option<Descriptor>,
    /// The row id of its first row.
    pub base_row_id: Option<i64>,
    /// The version that brought it.
    pub default_row_commit_version: Option<i64>,
    /// What was live at its path before the commit and after it, where that was asked for.
    pub standing: Option<Standing>,
}

/// What is live at a path before and after a commit; none where nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Before.
    pub before: Option<Live>,
    /// After.
    pub after: Option<Live>,
}

/// A live file by its deletion vector.
pub type Live = Option<Descriptor>;

/// What one version changed.
#[derive(Clone, Debug)]
pub struct CommitChanges {
    /// The version.
    pub version: Version,
    /// When it was committed, in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// Files that came with rows that are new to the table.
    pub adds: Vec<ChangedFile>,
    /// Files that went with rows that the table has no more.
    pub removes: Vec<ChangedFile>,
    /// Files of the changed rows, which stand for all that the version changed.
    pub cdc: Vec<Cdc>,
    /// What the table was before, which files that went were written for.
    pub before: TableForm,
    /// What the table is as of the version.
    pub after: TableForm,
}

/// What a table says about itself.
#[derive(Clone, Debug)]
pub struct TableForm {
    /// The protocol.
    pub protocol: Arc<Protocol>,
    /// The metadata.
    pub metadata: Arc<Metadata>,
}

impl TableForm {
    /// Whether both are the same one.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.protocol, &other.protocol) && Arc::ptr_eq(&self.metadata, &other.metadata)
    }
}

/// What the versions of a range changed.
#[derive(Clone, Debug)]
pub struct ChangeLog {
    /// The versions, the oldest first.
    pub commits: Vec<CommitChanges>,
    /// The table at the last of them.
    pub end: Snapshot,
}

/// What tells the changes of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldBy {
    /// What its commit says.
    Commit,
    /// What is live before it and after it: of a file that came and was there, nothing changed.
    Standing,
}

/// Reads what the versions from `first` to `last` changed, both among them; to the newest without a last one. Must be
/// called inside a runtime.
///
/// Errors: `VersionNotFound` with the range where a commit is not, or no longer, in the log; `InvalidArgument` where the
/// first is behind the last.
pub async fn read_changes(
    location: &Arc<TableLocation>,
    first: Version,
    last: Option<Version>,
    told_by: ToldBy,
    options: LoadOptions,
) -> Result<ChangeLog> {
    let listing = Listing::whole(location).await?;
    let newest = newest_version(&listing).ok_or_else(|| not_a_table(&listing, location.uri()))?;
    let last = last.unwrap_or(newest);
    if first > newest {
        return Err(version_not_found(&listing, first).with("table", location.uri()));
    }
    if first > last {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("changes from version {first} to {last}: the first is behind the last"),
        ));
    }
    let files: Vec<Arc<LogFile>> = listing
        .commits()
        .filter(|file| file.path.version >= first && file.path.version <= last)
        .cloned()
        .collect();
    ensure_whole(&listing, &files, first, last).map_err(|error| error.with("table", location.uri()))?;
    let times = in_commit_timestamps(location, &listing, newest, options).await?;
    let file_times = adjusted_file_times(&listing);
    let end = Snapshot::load(Arc::clone(location), Some(last), options);
    let base = form_before(location, &listing, first, options);
    let reads: Vec<_> = files
        .into_iter()
        .map(|file| read_commit(location, file, options.max_line_bytes))
        .collect();
    let commits = futures::stream::iter(reads)
        .buffered(COMMITS_IN_FLIGHT)
        .try_collect::<Vec<Commit>>();
    let (end, base, commits) = futures::try_join!(end, base, commits)?;
    let (mut form, is_before) = base;
    // Files that went are read as the table was before they did.
    if let Some(commit) = commits.first().filter(|_| !is_before && first > Version::ZERO)
        && (commit.actions.metadata.is_some() || commit.actions.protocol.is_some())
        && commit
            .actions
            .files
            .iter()
            .any(|action| !action.came && action.changes_data)
    {
        return Err(Error::new(
            ErrorKind::VersionNotFound,
            format!("what the table was before version {first}, which changed it, is no longer in the log"),
        )
        .with("table", location.uri())
        .with("version", first)
        .hint("ask for changes from the version after it on"));
    }
    let mut formed = Vec::with_capacity(commits.len());
    let mut any_lacks = false;
    for mut commit in commits {
        let mut after = form.clone();
        if let Some(newer) = commit.actions.protocol.take() {
            after.protocol = Arc::new(newer);
        }
        if let Some(newer) = commit.actions.metadata.take() {
            after.metadata = Arc::new(newer);
        }
        // The first commit of a table has nothing before it.
        let before = match commit.version {
            Version::ZERO => after.clone(),
            _ => form,
        };
        let names = partition_names(&before)?;
        any_lacks |= commit
            .actions
            .files
            .iter()
            .any(|action| lacks_values(action, &names));
        form = after.clone();
        formed.push((commit, before, after, names));
    }
    let mut live = if any_lacks || told_by == ToldBy::Standing {
        LivePaths::before(location, first, options).await?
    } else {
        None
    };
    let mut changes = Vec::with_capacity(formed.len());
    for (commit, before, after, names) in formed {
        let (version, mut actions) = (commit.version, commit.actions);
        fill_values(&mut actions.files, &names, live.as_ref(), version)
            .map_err(|error| error.with("table", location.uri()))?;
        if let Some(live) = &mut live {
            live.pass(&mut actions.files);
        }
        let timestamp_ms = if is_in_commit(&times, version) {
            in_commit_timestamp(actions.commit_info.as_deref(), version)?
        } else {
            file_times.get(&version).copied().unwrap_or(commit.modified_ms)
        };
        let changing = actions.files.into_iter().filter(|action| action.changes_data);
        let (adds, removes): (Vec<FileAction>, Vec<FileAction>) = changing.partition(|action| action.came);
        let file = |mut action: FileAction| {
            if told_by == ToldBy::Commit {
                action.file.standing = None;
            }
            action.file
        };
        changes.push(CommitChanges {
            version,
            timestamp_ms,
            adds: adds.into_iter().map(file).collect(),
            removes: removes.into_iter().map(file).collect(),
            cdc: actions.cdc,
            before,
            after,
        });
    }
    Ok(ChangeLog {
        commits: changes,
        end,
    })
}

/// What the table was before a version, and that it is that; where the log before it is gone, what it is as of the
/// version.
async fn form_before(
    location: &Arc<TableLocation>,
    listing: &Listing,
    first: Version,
    options: LoadOptions,
) -> Result<(TableForm, bool)> {
    let before = Version::try_new(first.as_i64().saturating_sub(1)).unwrap_or(first);
    let mut found = None;
    for version in [before, first] {
        match read_table_state(location, listing, version, options).await {
            Ok(Some(form)) => {
                found = Some((form, version == before));
                break;
            }
            Ok(None) => {}
            // What was cleaned up is a gap. A store that fails tells nothing about the log.
            Err(error) if error.kind() == ErrorKind::CorruptLog => {}
            Err(error) => return Err(error),
        }
    }
    let ((protocol, metadata), is_before) = found.ok_or_else(|| {
        Error::new(
            ErrorKind::CorruptLog,
            format!("what the table was at version {first} cannot be told: the log before it is not whole"),
        )
        .with("table", location.uri())
        .with("version", first)
        .hint("ask for changes from a later version")
    })?;
    Ok((TableForm { protocol, metadata }, is_before))
}

/// Proves that the commits of a range are all there.
fn ensure_whole(listing: &Listing, files: &[Arc<LogFile>], first: Version, last: Version) -> Result<()> {
    let mut expected = first.as_i64();
    for file in files {
        if file.path.version.as_i64() != expected {
            break;
        }
        expected = expected.saturating_add(1);
    }
    if expected > last.as_i64() {
        return Ok(());
    }
    let missing = Version::try_new(expected)?;
    let mut there: Vec<Version> = listing.commits().map(|file| file.path.version).collect();
    there.reverse();
    let Some(newest) = there.first().copied() else {
        return Err(gone(missing));
    };
    let unbroken = there.iter().zip(0i64..);
    let oldest = unbroken
        .take_while(|(version, back)| version.as_i64().saturating_add(*back) == newest.as_i64())
        .last()
        .map_or(newest, |(version, _)| *version);
    Err(gone(missing)
        .with("oldest", oldest)
        .with("newest", newest)
        .hint(format!("changes can be read from version {oldest} to {newest}")))
}

fn gone(version: Version) -> Error {
    Error::new(
        ErrorKind::VersionNotFound,
        format!("the commit of version {version} is not in the log, so what it changed cannot be told"),
    )
    .with("version", version)
}
