//! Transactions: propose a commit, check winning commits for conflicts, propose again.

mod alter;
mod attempts;
mod commit;
mod commit_info;
mod conflict;
mod conflict_cause;
mod contains_commit;
mod create;
mod definition;
mod dropped_feature;
mod gap;
mod isolation;
#[cfg(test)]
mod model;
mod new_contents;
mod new_table;
mod operation;
mod options;
mod owner_process;
mod proposal;
mod read_set;
mod rebase;
mod replace;
mod row_level;
#[cfg(test)]
mod samples;
mod staged_files;
mod table_operation;
mod winning_commit;

pub use alter::{Proved, RowVerifier, Staging, alter, describe, stage, stage_changes};
pub use commit::{Transaction, United, Vectors, already_done};
pub use commit_info::UserInfo;
pub use conflict::{Attempt, Granularity, SupportCheck, check};
pub use conflict_cause::ConflictCause;
pub use create::{create, create_with_files, create_with_written_files};
pub use isolation::{IsolationLevel, is_blind_append};
pub use new_contents::NewContents;
pub use new_table::{IfExists, NewTable};
pub use operation::{Operation, OperationDetails};
pub use options::{CommitOptions, EmptyPartitionText};
pub use owner_process::OwnerProcess;
pub use proposal::{DecidedBy, Proposal};
pub use read_set::ReadSet;
pub use rebase::{Base, assign_row_ids, rebase, stamp_in_commit_timestamp};
pub use row_level::{SharedFile, UnitedVector, follow, unite};
pub use staged_files::StagedFiles;
pub use table_operation::{Output, Planned, PreviousAttempt, RunPolicy, TableOperation, run};
pub use winning_commit::{WinningCommit, WinningFile};

use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};
use object_store::ObjectStoreExt;

use crate::post_commit::PostCommit;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

/// A successful commit.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The committed version.
    pub version: Version,
    /// Modification time of the commit file, in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// Its `commitInfo` as JSON text; `None` if nothing was committed.
    pub commit_info: Option<String>,
    /// Human-readable descriptions of the winning commits after which this commit was rebased or planned again.
    pub conflicts_resolved: Vec<String>,
    /// Whether nothing was committed because the table already records the application transaction.
    pub skipped: bool,
    /// Whether a version may reference the files written for the commit: true unless it was skipped.
    pub keeps_files: bool,
    /// Warnings about the commit itself, one sentence each: it succeeded but may not be durable.
    pub warnings: Vec<String>,
    /// Result of post-commit maintenance; failures there never fail the commit.
    pub post_commit: PostCommit,
}

impl Committed {
    /// Nothing was committed: the table already records the application transaction.
    fn skipped(version: Version, timestamp_ms: i64) -> Self {
        Self {
            version,
            timestamp_ms,
            commit_info: None,
            conflicts_resolved: Vec::new(),
            skipped: true,
            keeps_files: false,
            warnings: Vec::new(),
            post_commit: PostCommit::default(),
        }
    }
}

/// Timestamp of a commit that just succeeded. If the store request fails, this is the time of the attempt: the commit
/// exists either way.
async fn time_of(location: &TableLocation, version: Version, attempted_ms: i64) -> i64 {
    modified_ms(location, version).await.unwrap_or(attempted_ms)
}

/// Modification time of a commit file, in milliseconds since the epoch.
async fn modified_ms(location: &TableLocation, version: Version) -> Result<i64> {
    let path = LogPath::commit(version);
    let found = location.store().head(&location.below(&path)?).await;
    match found {
        Ok(found) => Ok(found.last_modified.timestamp_millis()),
        Err(object_store::Error::NotFound { .. }) => {
            Err(gap::cleaned_up(version, "the commit file was deleted"))
        }
        Err(error) => Err(store_error(&error, &path).with("version", version)),
    }
}
