//! Writing version checksums: in full out of a snapshot, or commit by commit out of the one before.
//!
//! Protocol: *Version Checksum File*, *State Validation: Writer Requirements*. A checksum is a help. None is better than a
//! wrong one, one that is there stays, and failing to write one harms nobody: the commit is made long before.

mod of_checkpoint;
mod of_commit;
mod of_snapshot;
mod write;

pub(crate) use of_checkpoint::ensure_counted;
pub use of_commit::{FilesBefore, checksum_after};
pub use of_snapshot::{checksum_of, sound_checksum_of};
pub use write::{keep_checksum, write_checksum};

pub use crate::new_file::Made;
