//! Deletes uncommitted files.

use deltaic_log::TableLocation;
use deltaic_log::transaction::Committed;
use deltaic_protocol::error::Conflict;
use deltaic_protocol::{ErrorKind, Result};
use object_store::ObjectStoreExt;

use super::OwnerProcess;

/// Deletes files below the table's root that no commit names. A file that cannot be deleted remains as an unreferenced
/// file. In a child of `fork` nothing is deleted: its parent may still commit the files.
pub(crate) async fn give_up(
    location: &TableLocation,
    owner: OwnerProcess,
    files: impl IntoIterator<Item = String>,
) {
    if !owner.is_current() {
        return;
    }
    for relative in files {
        if let Ok(path) = location.below(&relative) {
            let _ = location.store().delete(&path).await;
        }
    }
}

/// Whether the outcome of a commit guarantees that no version names the files written for it.
pub(crate) fn names_no_file(committed: &Result<Committed>) -> bool {
    match committed {
        Ok(committed) => !committed.keeps_files,
        Err(error) => !matches!(
            error.kind(),
            ErrorKind::CommitUnknown | ErrorKind::CommitConflict(Conflict::AddedTwice)
        ),
    }
}
