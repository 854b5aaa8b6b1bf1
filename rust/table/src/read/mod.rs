//! From scan tasks to record batches.

mod conform;
mod count;
mod open;
mod stream;

pub use count::count;
pub use stream::{BatchStream, stream_scan, stream_task};
