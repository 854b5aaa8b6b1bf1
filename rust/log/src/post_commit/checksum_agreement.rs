//! Verifies that no checksum contradicts the committed version, before further files are derived from it.

use deltaic_protocol::{Error, ErrorKind, Result};

use crate::checksum::ensure_counted;
use crate::snapshot::{Agreement, Snapshot};

/// Verifies that no checksum contradicts the version. Files written from a damaged version would agree with the damage:
/// the checksum that contradicts it would be overwritten, and a cleanup would delete the correct files.
///
/// Protocol: *State Validation*.
///
/// # Errors
///
/// `CorruptLog` if a checksum disagrees with the log.
pub(super) async fn ensure_checksum_agrees(made: &Snapshot) -> Result<()> {
    match (made.agreement(), made.checkpoint()) {
        (Agreement::Agrees, _) | (Agreement::Unasked, None) => Ok(()),
        // Commits are authoritative; a checkpoint was derived by another writer, and usually has a checksum.
        (Agreement::Unasked, Some(checkpoint)) => ensure_counted(made.location(), checkpoint).await,
        (Agreement::Disagrees, _) => Err(Error::new(
            ErrorKind::CorruptLog,
            "the version disagrees with its version checksum",
        )
        .with("table", made.location().uri())
        .with("version", made.version())
        .hint("run table.check()")),
    }
}
