//! Which files cannot hold a row that a predicate matches.

mod partition;

pub use partition::partition_mask;
