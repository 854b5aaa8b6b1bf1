//! Reads the batches of a stream that are to be written.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use deltaic_protocol::{Error, ErrorKind, Result};

/// Returns the next batch; `None` at the end.
pub(crate) fn next_batch(batches: &mut (dyn RecordBatchReader + Send)) -> Result<Option<RecordBatch>> {
    // The source may block, and may itself wait for this runtime, as a scan of another table does.
    tokio::task::block_in_place(|| batches.next())
        .transpose()
        .map_err(broken_off)
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
