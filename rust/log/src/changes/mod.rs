//! What each version of a range changed: the files that came and went, and those that hold the changed rows.
//!
//! Protocol: *Change Data Files*, *Reader Requirements for AddCDCFile*.

mod commit;
mod live_paths;
mod range;
mod removed_values;

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::{Cdc, Metadata, Protocol};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::{Result, Version};

use self::range::Range;
use crate::listing::Listing;
use crate::location::TableLocation;
use crate::snapshot::{LoadOptions, Snapshot};

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
    /// `numRecords` of its statistics.
    pub num_records: Option<i64>,
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
    /// When it was committed, in milliseconds since the epoch. Where adds alone are asked for, the time of its file.
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

impl From<&Snapshot> for TableForm {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            protocol: Arc::new(snapshot.protocol().clone()),
            metadata: Arc::new(snapshot.metadata().clone()),
        }
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
    /// The files that came, as its commit says. Of those that went no more than their paths is of interest.
    Adds,
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
    let range = Range::try_new(location, &listing, first, last)?;
    let end = Snapshot::load(Arc::clone(location), Some(range.last), options);
    let commits = range.read(told_by, None, options);
    let (end, commits) = futures::try_join!(end, commits)?;
    Ok(ChangeLog { commits, end })
}

/// Reads the same without the table at the last version. `known` is what the table was before the first version, where
/// the caller knows it: else it is looked up. Must be called inside a runtime.
///
/// Errors: as `read_changes` has them.
pub async fn read_commits(
    location: &Arc<TableLocation>,
    (first, last): (Version, Version),
    told_by: ToldBy,
    known: Option<TableForm>,
    options: LoadOptions,
) -> Result<Vec<CommitChanges>> {
    // Times are told by the whole log, and so is what the table was, unless it is known.
    if told_by == ToldBy::Adds && known.is_some() {
        let listing = Listing::from(location, first).await?;
        if let Ok(range) = Range::try_new(location, &listing, first, Some(last)) {
            return range.read(told_by, known, options).await;
        }
    }
    let listing = Listing::whole(location).await?;
    let range = Range::try_new(location, &listing, first, Some(last))?;
    range.read(told_by, known, options).await
}
