//! Writes version checksums: computed from a snapshot, or incrementally from the previous checksum.
//!
//! Protocol: *Version Checksum File*, *State Validation: Writer Requirements*. A checksum is optional: a
//! missing one is better than a wrong one, an existing one is never replaced, and a failure to write one does
//! not affect the commit.

mod of_checkpoint;
mod of_commit;
mod of_snapshot;
mod write;

pub(crate) use of_checkpoint::ensure_counted;
pub use of_commit::{FilesBefore, checksum_after};
pub use of_snapshot::{checksum_of, sound_checksum_of};
pub use write::{write_checksum, write_missing_checksum};

pub use deltaic_storage::new_file::Created;
