//! Reads the store's clock, which determines the modification times of the log's files.

use deltaic_protocol::Result;
use deltaic_protocol::log_path::LOG_FOLDER;
use object_store::{ObjectStoreExt, PutPayload};

use deltaic_storage::clock::new_id;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

/// The store's time in milliseconds since the epoch: the modification time of a temporary file written for this
/// purpose.
///
/// # Errors
///
/// `StorageError`.
pub async fn store_time_ms(location: &TableLocation) -> Result<i64> {
    let relative = format!("{LOG_FOLDER}/_probe-{}", new_id());
    let path = location.below(&relative)?;
    let put = location.store().put(&path, PutPayload::from_static(b"now")).await;
    put.map_err(|error| store_error(&error, &relative))?;
    let written = written_at_ms(location, &relative).await;
    // Readers ignore the name; a later cleanup deletes the file if this does not.
    let _ = location.store().delete(&path).await;
    written
}

/// The modification time of a file by the store's clock, in milliseconds since the epoch.
///
/// # Errors
///
/// `StorageError`.
pub(crate) async fn written_at_ms(location: &TableLocation, relative: &str) -> Result<i64> {
    let found = location.store().head(&location.below(relative)?).await;
    let found = found.map_err(|error| store_error(&error, relative))?;
    Ok(found.last_modified.timestamp_millis())
}
