//! Files that were written and that no commit names go again.

use deltaic_log::TableLocation;
use object_store::ObjectStoreExt;

/// Removes files below the table's root, once it is proved that nothing names them. What cannot be removed is no part of
/// the table and harms nothing.
pub(crate) async fn give_up(location: &TableLocation, files: impl IntoIterator<Item = String>) {
    for relative in files {
        if let Ok(path) = location.below(&relative) {
            let _ = location.store().delete(&path).await;
        }
    }
}
