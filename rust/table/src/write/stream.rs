//! Writes the rows of a stream to data files.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::table_writer::{TableWriter, Written};

/// Writes the rows of a stream; the files are not yet committed.
pub(crate) async fn write_stream(
    writer: &mut TableWriter,
    mut batches: Box<dyn RecordBatchReader + Send>,
) -> Result<Written> {
    // The source may block, and may itself wait for this runtime, as a scan of another table does.
    while let Some(batch) = tokio::task::block_in_place(|| batches.next()) {
        let batch: RecordBatch = batch.map_err(broken_off)?;
        writer.write(&batch).await?;
    }
    writer.finish().await
}

/// Returns the source's error unchanged if it is one of deltaic's.
fn broken_off(error: ArrowError) -> Error {
    if let ArrowError::ExternalError(cause) = &error
        && let Some(cause) = cause.downcast_ref::<Error>()
    {
        return cause.clone();
    }
    Error::new(
        ErrorKind::InvalidArgument,
        format!("the producer of the data failed: {error}"),
    )
}
