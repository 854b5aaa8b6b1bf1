//! The parts of a merge that does not fit in memory, in temporary files.

mod buckets;
mod decisions;
mod join;
mod keys;
mod write_rows;

pub(super) use buckets::Buckets;
pub(super) use decisions::SpilledDecisions;
pub(super) use join::{Inserts, Join};
pub(super) use keys::KeyParts;
