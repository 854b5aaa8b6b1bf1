//! The type of streams of record batches.

use arrow_array::RecordBatch;
use deltaic_protocol::Result;
use futures::stream::BoxStream;

/// A stream of record batches.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;
