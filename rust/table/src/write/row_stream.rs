//! The rows that a caller provides, batch by batch.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};

/// Reads the rows of a source again, from the first.
pub type ReadAgain = Box<dyn FnOnce() -> BoxFuture<'static, Result<RowStream>> + Send>;

/// Rows that are to be written.
pub struct RowStream {
    schema: SchemaRef,
    /// `None` if they can be read once.
    again: Option<ReadAgain>,
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
            again: None,
            batches: batches.boxed(),
        }
    }

    /// The same rows, which can be read again.
    #[must_use]
    pub fn with_again(mut self, again: ReadAgain) -> Self {
        self.again = Some(again);
        self
    }

    /// How they are read again; `None` if they can be read once.
    pub(crate) fn take_again(&mut self) -> Option<ReadAgain> {
        self.again.take()
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
