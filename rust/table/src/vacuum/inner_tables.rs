//! Finds other tables in folders of this one, without a listing of all files.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltaic_protocol::Result;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_storage::{TableLocation, in_parallel, store_error};
use futures::StreamExt;

use super::found::FileToDelete;

const REQUESTS_IN_FLIGHT: usize = 32;

/// The folders below the root that contain some of these files and a log: one request for each folder.
///
/// # Errors
///
/// `StorageError` if a folder cannot be listed.
pub(super) async fn inner_tables_of(
    location: &Arc<TableLocation>,
    files: &[FileToDelete],
) -> Result<BTreeSet<String>> {
    let mut folders: BTreeSet<&str> = BTreeSet::new();
    for file in files {
        let mut path = file.path.as_str();
        while let Some((folder, _)) = path.rsplit_once('/') {
            // Those above it are known too.
            if !folders.insert(folder) {
                break;
            }
            path = folder;
        }
    }
    let checks = folders
        .into_iter()
        .map(|folder| with_log(Arc::clone(location), folder.to_owned()));
    let found = in_parallel(checks, location.at_once(REQUESTS_IN_FLIGHT)).await?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the folder if it contains a log.
async fn with_log(location: Arc<TableLocation>, folder: String) -> Result<Option<String>> {
    let log = location.below(&format!("{folder}/{LOG_FOLDER}"))?;
    match location.store().list(Some(&log)).next().await {
        None => Ok(None),
        Some(Ok(_)) => Ok(Some(folder)),
        Some(Err(error)) => Err(store_error(&error, location.uri())),
    }
}
