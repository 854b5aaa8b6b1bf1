//! Streams of record batches from many files, read concurrently and returned in order.

pub(crate) mod across_files;
pub(crate) mod amount;
pub(crate) mod batch_stream;
pub(crate) mod count;
pub(crate) mod guard;
pub(crate) mod open;
pub(crate) mod queue;
pub(crate) mod read_unit;

use arrow_array::RecordBatch;
use deltaic_protocol::Result;
use futures::stream::BoxStream;

/// A stream of record batches.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;
