//! Writes log compaction files: the reconciled actions of a range of commits in one file.
//!
//! Protocol: *Log Compaction Files*, *Action Reconciliation*. A compaction file only saves requests: the
//! commits remain, and only ranges of published commits are compacted.

mod policy;
mod range;
mod reconciled;

pub use policy::range_due;
pub use range::{Compacted, compact};

pub use deltaic_storage::new_file::Created;
