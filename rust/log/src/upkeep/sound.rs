//! Whether the version behind a commit is one to build on.

use deltaic_protocol::{Error, ErrorKind, Result};

use crate::checksum::ensure_counted;
use crate::snapshot::{Agreement, Snapshot};

/// Proves that no checksum speaks against what a version was made out of. What is written out of a version that is not what
/// it should be would agree with the damage: the last word against it would be overwritten, and a cleanup would delete what
/// is true.
///
/// Protocol: *State Validation*.
///
/// # Errors
///
/// `CorruptLog` where a checksum says something else than the log.
pub(super) async fn ensure_sound(made: &Snapshot) -> Result<()> {
    match (made.agreement(), made.checkpoint()) {
        (Agreement::Agrees, _) | (Agreement::Unasked, None) => Ok(()),
        // The commits are read as they are; a checkpoint is somebody's work, and mostly has a checksum beside it.
        (Agreement::Unasked, Some(checkpoint)) => ensure_counted(made.location(), checkpoint).await,
        (Agreement::Disagrees, _) => Err(Error::new(
            ErrorKind::CorruptLog,
            "the version that it was made of is not what its version checksum says",
        )
        .with("table", made.location().uri())
        .with("version", made.version())
        .hint("see what table.check() says of the log")),
    }
}
