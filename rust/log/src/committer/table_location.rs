//! The committer of a table location, by the capabilities of its store.

use std::sync::Arc;

use ::object_store::Error as StoreError;
use bytes::Bytes;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

use super::contract::{BoxedFuture, Committer};
use super::disk::Disk;
use super::outcome::Outcome;
use super::{file_system, object_store};

impl Committer for TableLocation {
    fn prepare(&self) -> BoxedFuture<'_, Option<String>> {
        match self.file_system() {
            Some(root) => Box::pin(file_system::prepare(root, Arc::new(Disk))),
            None => Box::pin(async { Ok(None) }),
        }
    }

    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        match self.file_system() {
            Some(root) => Box::pin(file_system::propose(root, Arc::new(Disk), version, commit)),
            None => Box::pin(object_store::propose(self, version, commit)),
        }
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        Box::pin(published(self, version))
    }
}

/// Returns the commit of a version in `_delta_log`.
async fn published(location: &TableLocation, version: Version) -> Result<Option<Bytes>> {
    let relative = LogPath::commit(version);
    match location.read(&relative).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(store_error(&error, &relative).with("version", version)),
    }
}
