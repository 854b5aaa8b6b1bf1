//! Post-commit maintenance: the version checksum and, when due, a checkpoint, a compaction file and a cleanup.
//!
//! The commit has succeeded by then, and no failure here may turn that into an error: failures are reported as text,
//! and maintenance of a later commit or checkpoint retries them unless the log is damaged.
//!
//! Protocol: *Version Checksum File*, *State Validation: Writer Requirements*, *Checkpoints*, *Log Compaction Files*,
//! *Metadata Cleanup*.

mod checksum_agreement;
mod outcome;
mod policy;
mod run;

pub use outcome::PostCommit;
pub use policy::PostCommitPolicy;
pub use run::{OwnCommit, run_post_commit};
