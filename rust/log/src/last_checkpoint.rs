//! `_last_checkpoint`: a hint where to start. It is never trusted: what it leads to must prove itself.
//!
//! Protocol: *Last Checkpoint File*, *Last Checkpoint File Schema*.

use deltaic_protocol::Version;
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};
use serde::Deserialize;

use crate::location::TableLocation;

#[derive(Deserialize)]
struct LastCheckpoint {
    version: i64,
}

/// The version that the hint names; none where there is no hint or it cannot be read.
pub async fn read_last_checkpoint(location: &TableLocation) -> Option<Version> {
    let bytes = location.read(&format!("{LOG_FOLDER}/{LAST_CHECKPOINT}")).await.ok()?;
    let hint: LastCheckpoint = serde_json::from_slice(&bytes).ok()?;
    Version::try_new(hint.version).ok()
}
