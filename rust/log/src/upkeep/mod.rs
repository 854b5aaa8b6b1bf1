//! What is done to a log behind a commit of ours: its version's checksum, and now and then a checkpoint, a compaction file
//! and a cleanup.
//!
//! The commit is made by then. Nothing here may turn that success into an error: what fails is told as text, and the next
//! commit's upkeep, or that of the next checkpoint, makes up for it unless the log is damaged.
//!
//! Protocol: *Version Checksum File*, *State Validation: Writer Requirements*, *Checkpoints*, *Log Compaction Files*,
//! *Metadata Cleanup*.

mod outcome;
mod policy;
mod run;
mod sound;

pub use outcome::Upkept;
pub use policy::UpkeepPolicy;
pub use run::{OwnCommit, keep_up};
