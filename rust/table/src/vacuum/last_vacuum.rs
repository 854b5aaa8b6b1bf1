//! The file `_delta_log/_last_vacuum_info`: up to which commit all removed files are deleted. Clients only use it to
//! vacuum by the log.

use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Result, Version};
use deltaic_storage::{TableLocation, store_error};
use object_store::{ObjectStoreExt, PutPayload};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LastVacuumInfo {
    latest_commit_version_outside_of_retention_window: Option<i64>,
}

fn path() -> String {
    format!("{LOG_FOLDER}/_last_vacuum_info")
}

/// The newest commit whose removed files are deleted; `None` if it is unknown.
///
/// # Errors
///
/// `StorageError`.
pub(super) async fn last_vacuum(location: &TableLocation) -> Result<Option<Version>> {
    let bytes = match location.read(&path()).await {
        Ok(bytes) => bytes,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(store_error(&error, &path())),
    };
    // A damaged file is no information.
    let info: Option<LastVacuumInfo> = serde_json::from_slice(&bytes).ok();
    let version = info.and_then(|info| info.latest_commit_version_outside_of_retention_window);
    Ok(version.and_then(|version| Version::try_new(version).ok()))
}

/// Records the newest commit whose removed files are deleted, unless a newer one is recorded.
///
/// # Errors
///
/// `StorageError`.
pub(super) async fn record_last_vacuum(location: &TableLocation, version: Version) -> Result<()> {
    if last_vacuum(location).await?.is_some_and(|known| known >= version) {
        return Ok(());
    }
    let text = format!(
        "{{\"latestCommitVersionOutsideOfRetentionWindow\":{}}}\n",
        version.as_i64()
    );
    let put = location
        .store()
        .put(&location.below(&path())?, PutPayload::from(text.into_bytes()))
        .await;
    put.map(|_| ()).map_err(|error| store_error(&error, &path()))
}
