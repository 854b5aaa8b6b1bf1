//! The changes of each version of a range: added and removed files, and change data files.
//!
//! Protocol: *Change Data Files*, *Reader Requirements for AddCDCFile*.

pub(crate) mod commit;
mod live_paths;
mod range;
mod removed_values;

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::Cdc;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::{Result, TableConfiguration, Version};

use self::range::Range;
use crate::listing::Listing;
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::location::TableLocation;

/// Partition values as in the log, by their physical names.
pub type PartitionValues = BTreeMap<String, Option<String>>;

/// A file that was added or removed together with its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path as in the log.
    pub path: String,
    /// The partition values.
    pub partition_values: PartitionValues,
    /// Size in bytes, if the action has it.
    pub size: Option<i64>,
    /// The deletion vector of the file.
    pub deletion_vector: Option<Descriptor>,
    /// The row id of its first row.
    pub base_row_id: Option<i64>,
    /// The version that added it.
    pub default_row_commit_version: Option<i64>,
    /// `numRecords` of its statistics.
    pub num_records: Option<i64>,
    /// The live file at its path before and after the commit, if requested.
    pub live_files: Option<LiveFiles>,
}

/// The live file at a path before and after a commit; `None` if there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFiles {
    /// Before the commit.
    pub before: Option<Live>,
    /// After the commit.
    pub after: Option<Live>,
}

/// A live file, identified by its deletion vector.
pub type Live = Option<Descriptor>;

/// The changes of one version.
#[derive(Clone, Debug)]
pub struct CommitChanges {
    /// The version.
    pub version: Version,
    /// Commit time in milliseconds since the epoch. If only adds are requested, the modification time of the
    /// commit file.
    pub timestamp_ms: i64,
    /// Added files with rows that are new to the table.
    pub adds: Vec<ChangedFile>,
    /// Files that were removed together with their rows.
    pub removes: Vec<ChangedFile>,
    /// Change data files; if there are any, they contain all changes of the version.
    pub cdc: Vec<Cdc>,
    /// The table configuration before the version, with which removed files were written; without domains.
    pub before: TableConfiguration,
    /// The table configuration as of the version; without domains.
    pub after: TableConfiguration,
}

/// The changes of the versions of a range.
#[derive(Clone, Debug)]
pub struct ChangeLog {
    /// The versions, oldest first.
    pub commits: Vec<CommitChanges>,
    /// The snapshot of the last version.
    pub end: Snapshot,
}

/// How much of the log the changes of a version are derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangesFrom {
    /// The actions of its commit.
    Commit,
    /// The live files before and after it: re-adding a live file changes nothing.
    LiveFiles,
    /// The adds of its commit. Of removed files only the paths are needed.
    Adds,
}

/// Reads the changes of the versions from `first` to `last`, both inclusive; without `last` up to the newest
/// version. Must be called inside a runtime.
///
/// # Errors
///
/// `VersionNotFound` with the available range if a commit is not in the log; `InvalidArgument`
/// if `first` is greater than `last`.
pub async fn read_changes(
    location: &Arc<TableLocation>,
    first: Version,
    last: Option<Version>,
    changes_from: ChangesFrom,
    options: LoadOptions,
) -> Result<ChangeLog> {
    let listing = Listing::whole(location).await?;
    let range = Range::try_new(location, &listing, first, last)?;
    let end = Snapshot::load(Arc::clone(location), Some(range.last), options);
    let commits = range.read(changes_from, None, options);
    let (end, commits) = futures::try_join!(end, commits)?;
    Ok(ChangeLog { commits, end })
}

/// Reads the changes without the snapshot of the last version. `known` is the table configuration before the
/// first version, if the caller knows it; otherwise it is read. Must be called inside a runtime.
///
/// # Errors
///
/// Those of [`read_changes`].
pub async fn read_commits(
    location: &Arc<TableLocation>,
    (first, last): (Version, Version),
    changes_from: ChangesFrom,
    known: Option<TableConfiguration>,
    options: LoadOptions,
) -> Result<Vec<CommitChanges>> {
    // Commit times and the previous configuration, unless it is known, require a listing of the whole log.
    if changes_from == ChangesFrom::Adds && known.is_some() {
        let listing = Listing::from(location, first).await?;
        if let Ok(range) = Range::try_new(location, &listing, first, Some(last)) {
            return range.read(changes_from, known, options).await;
        }
    }
    let listing = Listing::whole(location).await?;
    let range = Range::try_new(location, &listing, first, Some(last))?;
    range.read(changes_from, known, options).await
}
