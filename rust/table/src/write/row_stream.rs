//! The rows that a caller provides, batch by batch.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};

/// Rows that are to be written. They are read once.
pub struct RowStream {
    schema: SchemaRef,
    batches: BoxStream<'static, std::result::Result<RecordBatch, ArrowError>>,
}

impl RowStream {
    /// Rows of a schema, whose batches arrive without blocking a thread of the runtime.
    pub fn new<S>(schema: SchemaRef, batches: S) -> Self
    where
        S: Stream<Item = std::result::Result<RecordBatch, ArrowError>> + Send + 'static,
    {
        Self {
            schema,
            batches: batches.boxed(),
        }
    }

    /// The schema of all batches.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the next batch; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.batches.next().await.transpose().map_err(of_producer)
    }
}

/// A reader may block, and may itself wait for the runtime, as a scan of another table does.
impl<R: RecordBatchReader + Send + ?Sized + 'static> From<Box<R>> for RowStream {
    fn from(mut reader: Box<R>) -> Self {
        let schema = reader.schema();
        let next = move || tokio::task::block_in_place(|| reader.next());
        Self::new(schema, stream::iter(std::iter::from_fn(next)))
    }
}

/// The error of a producer of rows, unchanged if it is one of deltaic's.
#[must_use]
pub fn of_producer(error: ArrowError) -> Error {
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
