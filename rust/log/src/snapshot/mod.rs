//! A table at one version.

mod agreement;
mod assemble;
mod checksum;
mod deletion_vectors;
mod files;
mod files_batch;
mod follow;
mod live;
mod load;
mod newer_checkpoint;
mod prune;
mod refresh;
mod reopened;
mod request;
mod state;
mod statistics;
mod tombstones;
mod version_file;

pub(crate) use agreement::Agreement;
pub(crate) use checksum::read_checksum;
pub use files_batch::{Files, FilesBatch};
pub use load::exists;
pub use prune::{PruneReport, Pruning};
pub use request::LoadOptions;
pub use state::Snapshot;
pub use statistics::WithStatistics;
pub(crate) use version_file::VersionFile;
