//! From scan tasks to record batches.

mod conform;
mod open;
mod stream;

pub use stream::{BatchStream, stream_scan, stream_task};
