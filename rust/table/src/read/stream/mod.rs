//! Streams of record batches from many files, read concurrently and returned in order.

pub(crate) mod across_files;
pub(crate) mod amount;
pub(crate) mod batch_stream;
mod batches;
pub(crate) mod count;
pub(crate) mod guard;
pub(crate) mod open;
pub(crate) mod queue;
pub(crate) mod read_unit;

pub use batches::BatchStream;
