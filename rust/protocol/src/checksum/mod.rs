//! Version checksums, with which readers validate the state of a version.
//!
//! Protocol: *Version Checksum File*, *Version Checksum File Schema*, *State Validation*. The file is
//! optional: a table is readable without it, or if it is unusable.

mod commit;
mod corrupt;
mod file_count;
mod histogram;
mod parse;
mod state;
mod tally;
mod text;
mod validation;
mod version_checksum;
mod whole;

pub use commit::{Before, CommitSummary, FileChange};
pub use file_count::FileCount;
pub use histogram::{DeletedRecordCountsHistogram, FileSizeHistogram};
pub use state::{FileSummary, ForEachFile, StateSummary};
pub use validation::Disagreement;
pub use version_checksum::VersionChecksum;

#[cfg(test)]
mod tests;
