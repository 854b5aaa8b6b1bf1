//! Comparison of a checkpoint with the checksum of its version.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::ObjectStoreExt;

use crate::decode::checkpoint::Checkpoint;
use crate::listing::LogFile;
use crate::snapshot::read_checksum;
use deltaic_storage::location::TableLocation;

/// Verifies the number of files and bytes of a checkpoint against the checksum of its version, if there is a
/// readable one: a checkpoint that lacks files is still readable, so the loss would remain undetected.
///
/// # Errors
///
/// `CorruptLog` with the checkpoint's `path` if the numbers differ.
pub(crate) async fn ensure_counted(location: &Arc<TableLocation>, checkpoint: &Checkpoint) -> Result<()> {
    let version = checkpoint.files.version;
    let path = location.below(&format!("{LOG_FOLDER}/{}.crc", version.file_stem()))?;
    let Ok(there) = location.store().head(&path).await else {
        return Ok(());
    };
    let file = LogFile::checksum(version, there.size);
    let Ok(Some(checksum)) = read_checksum(location, Some(&file)).await else {
        return Ok(());
    };
    let (mut files, mut bytes) = (0i64, 0i64);
    for batch in &checkpoint.adds {
        let sizes = batch.batch.column_by_name("size");
        let sizes = sizes.and_then(|sizes| sizes.as_primitive_opt::<Int64Type>());
        let sizes = sizes.into_iter().flat_map(|sizes| sizes.iter().flatten());
        bytes = sizes.fold(bytes, i64::saturating_add);
        files = files.saturating_add(i64::try_from(batch.len()).unwrap_or(i64::MAX));
    }
    if (files, bytes) == (checksum.num_files, checksum.table_size_bytes) {
        return Ok(());
    }
    let (its_files, its_bytes) = (checksum.num_files, checksum.table_size_bytes);
    let message = format!(
        "the checkpoint of version {version} contains {files} files of {bytes} bytes, but the version checksum \
         counts {its_files} of {its_bytes}"
    );
    let path = checkpoint.files.files.first().map(|file| file.relative());
    Err(Error::new(ErrorKind::CorruptLog, message)
        .with("path", path.unwrap_or_else(|| LOG_FOLDER.to_owned()))
        .with("version", version)
        .hint("run table.check(); the commits before the checkpoint, if they still exist, are authoritative"))
}
