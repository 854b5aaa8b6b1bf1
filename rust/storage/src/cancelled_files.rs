//! Deletes the files of a cancelled operation, which cannot wait for the store.

use std::path::Path as FilePath;
use std::sync::Arc;

use object_store::ObjectStoreExt;
use object_store::path::Path;
use tokio::runtime::Handle;

use crate::clock::pause;
use crate::location::TableLocation;

/// Deletes files without waiting for the store: at once on a local disk, elsewhere in the background. They are deleted
/// once more later, because a request in progress may still create one. A file that cannot be deleted remains.
#[expect(
    clippy::disallowed_methods,
    reason = "the caller cannot wait for the store, and the process may end"
)]
pub fn delete_without_waiting(location: &Arc<TableLocation>, files: Vec<Path>) {
    if location.file_system().is_some() {
        for path in &files {
            let _ = std::fs::remove_file(FilePath::new("/").join(path.as_ref()));
        }
    }
    let Ok(runtime) = Handle::try_current() else {
        return;
    };
    let location = Arc::clone(location);
    runtime.spawn(async move {
        for is_last in [false, true] {
            for path in &files {
                let _ = location.store().delete(path).await;
            }
            if !is_last {
                // Until then, requests in progress have ended.
                pause(5).await;
            }
        }
    });
}
