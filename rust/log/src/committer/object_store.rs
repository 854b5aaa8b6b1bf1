//! Commits on an object store: a conditional put.

use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};
use object_store::{ObjectStore, PutMode, PutOptions};

use super::Outcome;
use crate::location::TableLocation;
use crate::store_error::store_error;

/// Proposes a commit. An answer that is lost or unclear is `Unknown`: the put may have landed.
pub(super) async fn propose(location: &TableLocation, version: Version, commit: Vec<u8>) -> Result<Outcome> {
    let relative = LogPath::commit(version);
    let path = location.below(&relative)?;
    let options = PutOptions {
        mode: PutMode::Create,
        ..PutOptions::default()
    };
    match location.store().put_opts(&path, commit.into(), options).await {
        Ok(_) => Ok(Outcome::Committed(version)),
        Err(object_store::Error::AlreadyExists { .. }) => Ok(Outcome::Lost(version)),
        Err(
            error @ (object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. }
            | object_store::Error::NotSupported { .. }
            | object_store::Error::NotImplemented { .. }),
        ) => Err(store_error(&error, &relative).with("version", version)),
        Err(_) => Ok(Outcome::Unknown(version)),
    }
}
