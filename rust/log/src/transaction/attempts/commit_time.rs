//! The time of a commit file.

use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;
use object_store::ObjectStoreExt;

use super::gap::cleaned_up;

/// Timestamp of a commit that just succeeded. If the store request fails, this is the time of the attempt: the commit
/// exists either way.
pub(super) async fn time_of(location: &TableLocation, version: Version, attempted_ms: i64) -> i64 {
    modified_ms(location, version).await.unwrap_or(attempted_ms)
}

/// Modification time of a commit file, in milliseconds since the epoch.
pub(super) async fn modified_ms(location: &TableLocation, version: Version) -> Result<i64> {
    let path = LogPath::commit(version);
    let found = location.store().head(&location.below(&path)?).await;
    match found {
        Ok(found) => Ok(found.last_modified.timestamp_millis()),
        Err(object_store::Error::NotFound { .. }) => Err(cleaned_up(version, "the commit file was deleted")),
        Err(error) => Err(store_error(&error, &path).with("version", version)),
    }
}
