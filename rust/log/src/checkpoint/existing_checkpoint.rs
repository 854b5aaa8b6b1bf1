//! Finds an existing readable checkpoint of a version.

use std::sync::Arc;

use deltaic_protocol::log_path::{LOG_FOLDER, LogFileKind};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::options::CheckpointName;
use crate::decode::checkpoint::Checkpoint;
use crate::listing::Listing;
use crate::segment::{CheckpointFiles, complete_checkpoints};
use crate::snapshot::Snapshot;

/// Checkpoint of the version in the listing.
pub(super) enum Existing {
    /// A readable checkpoint exists.
    Checkpoint(Arc<Checkpoint>),
    /// No checkpoint exists, and one may be written.
    Nothing,
}

/// Looks for a checkpoint of the snapshot's version, and verifies that one may be written if there is none.
///
/// Protocol: *Checkpoints*: only after the version's commit has been written, which for a catalog-managed
/// table means published.
///
/// # Errors
///
/// `VersionNotFound` if the commit is not in `_delta_log`; `CorruptLog` if an unreadable checkpoint has the
/// name of the new one; errors of the store.
pub(super) async fn find_existing(
    snapshot: &Snapshot,
    name: CheckpointName,
    is_classic: bool,
) -> Result<Existing> {
    let (location, version) = (snapshot.location(), snapshot.version());
    let listing = Listing::from(location, version).await?;
    let found = complete_checkpoints(&listing, Some(version));
    let mut in_the_way = None;
    for files in found.iter().filter(|files| files.version == version) {
        if name == CheckpointName::Classic && !has_classic_name(files) {
            continue;
        }
        if let Some(own) = snapshot.checkpoint()
            && own.files.version == version
            && own
                .files
                .files
                .iter()
                .map(|file| &file.name)
                .eq(files.files.iter().map(|file| &file.name))
        {
            return Ok(Existing::Checkpoint(Arc::clone(own)));
        }
        match Checkpoint::read(location, files, snapshot.max_line_bytes()).await {
            Ok(checkpoint) => return Ok(Existing::Checkpoint(Arc::new(checkpoint))),
            Err(error) if error.kind() == ErrorKind::StorageError => return Err(error),
            // A damaged checkpoint counts as missing.
            Err(error) if has_classic_name(files) => in_the_way = Some(error),
            Err(_) => {}
        }
    }
    if let Some(error) = in_the_way.filter(|_| is_classic) {
        return Err(Error::new(
            ErrorKind::CorruptLog,
            format!("an unreadable checkpoint already exists at this path: {error}"),
        )
        .with(
            "path",
            format!("{LOG_FOLDER}/{}.checkpoint.parquet", version.file_stem()),
        )
        .hint("move it away; the commits contain the same actions"));
    }
    if listing.commits().any(|commit| commit.path.version == version) {
        return Ok(Existing::Nothing);
    }
    Err(Error::new(
        ErrorKind::VersionNotFound,
        "the commit of the version is not in _delta_log, so no checkpoint of this version may be written",
    )
    .hint(
        "publish the commits of a catalog-managed table first; after a concurrent cleanup, reopen the table",
    ))
}

fn has_classic_name(files: &CheckpointFiles) -> bool {
    files
        .files
        .iter()
        .all(|file| file.path.kind == LogFileKind::ClassicCheckpoint)
}
