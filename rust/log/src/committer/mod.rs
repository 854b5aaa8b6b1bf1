//! Making a commit: exactly one writer wins a version, and what is acknowledged is durable.

mod file_system;
mod object_store;
mod probe;

use deltaic_protocol::{Result, Version};

pub use self::probe::probe;

use crate::location::TableLocation;

/// What became of a proposed commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is the version.
    Committed(Version),
    /// The version was taken already.
    Lost(Version),
    /// No answer came that tells; the version has to be read.
    Unknown(Version),
}

/// Proposes the bytes of a commit as a version. An error means that nothing was committed.
///
/// Protocol: *Delta Log Entries*, *Creation of New Log Entries*.
pub async fn propose(location: &TableLocation, version: Version, commit: Vec<u8>) -> Result<Outcome> {
    match location.file_system() {
        Some(root) => file_system::propose(root, version, commit).await,
        None => object_store::propose(location, version, commit).await,
    }
}

/// Makes the log's folder of a new table, where the store has folders.
pub async fn prepare(location: &TableLocation) -> Result<()> {
    match location.file_system() {
        Some(root) => file_system::prepare(root).await,
        None => Ok(()),
    }
}
