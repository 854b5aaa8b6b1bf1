//! Writes checksum files.

use deltaic_protocol::checksum::VersionChecksum;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Error, Result, Version};

use super::checksum_of;
use crate::snapshot::Snapshot;
use deltaic_storage::location::TableLocation;
use deltaic_storage::new_file::{Created, make};

/// Writes the checksum of a committed version; an existing checksum remains unchanged.
///
/// # Errors
///
/// `InvalidArgument` if the checksum lacks required fields; `StorageError`. Neither affects the table.
pub async fn write_checksum(
    location: &TableLocation,
    version: Version,
    checksum: &VersionChecksum,
) -> Result<Created> {
    let located = |error: Error| error.with("table", location.uri()).with("version", version);
    let text = checksum.to_text().map_err(located)?;
    let relative = format!("{LOG_FOLDER}/{}.crc", version.file_stem());
    make(location, &relative, text.into_bytes())
        .await
        .map_err(located)
}

/// Ensures that a snapshot's version has a checksum: computes and writes it if the listing of the log shows
/// none.
///
/// # Errors
///
/// Those of [`checksum_of`] and [`write_checksum`].
pub async fn write_missing_checksum(snapshot: &Snapshot, now_ms: i64) -> Result<Created> {
    if snapshot.segment().checksum.is_some() {
        return Ok(Created::Before);
    }
    let checksum = checksum_of(snapshot, now_ms).await?;
    write_checksum(snapshot.location(), snapshot.version(), &checksum).await
}
