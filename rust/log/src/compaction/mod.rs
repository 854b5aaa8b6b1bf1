//! Writing log compaction files: what a range of commits says, reconciled, in one file.
//!
//! Protocol: *Log Compaction Files*, *Action Reconciliation*. A compaction file saves requests and nothing else: the
//! commits stay, and none but a range whose commits are all published is compacted.

mod policy;
mod range;
mod reconciled;

pub use policy::range_due;
pub use range::{Compacted, compact};

pub use crate::new_file::Made;
