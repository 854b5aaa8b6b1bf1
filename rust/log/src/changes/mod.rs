//! The changes of each version of a range: added and removed files, and change data files.
//!
//! Protocol: *Change Data Files*, *Reader Requirements for AddCDCFile*.

mod changed_file;
pub(crate) mod commit;
mod commit_changes;
mod live_paths;
mod range;
mod removed_values;

use std::sync::Arc;

use deltaic_protocol::{Result, TableConfiguration, Version};

pub use self::changed_file::{ChangedFile, Live, LiveFiles, PartitionValues};
pub use self::commit_changes::{ChangesFrom, CommitChanges};

use self::range::Range;
use crate::listing::Listing;
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::location::TableLocation;

/// The changes of the versions of a range.
#[derive(Clone, Debug)]
pub struct ChangeLog {
    /// The versions, oldest first.
    pub commits: Vec<CommitChanges>,
    /// The snapshot of the last version.
    pub end: Snapshot,
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
