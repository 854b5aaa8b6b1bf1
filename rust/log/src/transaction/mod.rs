//! A change of a table: propose, check what a winner did, propose again.

mod alter;
mod attempts;
mod commit;
mod commit_info;
mod conflict;
mod create;
mod evidence;
mod gap;
mod isolation;
#[cfg(test)]
mod model;
mod operation;
mod options;
mod proposal;
mod read_set;
mod rebase;
mod replace;
mod rerun;
mod row_level;
#[cfg(test)]
mod samples;
mod winner;

pub use alter::{Proved, RowProof, Staging, alter, describe, form_of, stage, stage_changes, staged_form};
pub use commit::{Transaction, United, Vectors, already_done};
pub use commit_info::UserInfo;
pub use conflict::{Attempt, Conflict, Gate, Granularity, check};
pub use create::{IfExists, NewTable, create};
pub use isolation::{IsolationLevel, is_blind_append};
pub use operation::{Operation, OperationDetails};
pub use options::CommitOptions;
pub use proposal::{DecidedBy, Proposal};
pub use read_set::ReadSet;
pub use rebase::{Base, hand_out_row_ids, rebase, stamp_in_commit_timestamp};
pub use rerun::{Earlier, Output, Planned, RerunPolicy, Rerunnable, rerun};
pub use row_level::{SharedFile, UnitedVector, follow, unite};
pub use winner::{Winner, WinnerFile};

use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};
use object_store::ObjectStoreExt;

use crate::location::TableLocation;
use crate::store_error::store_error;
use crate::upkeep::Upkept;

/// A commit that was made.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The version it made.
    pub version: Version,
    /// When, in milliseconds since the epoch: the time of the commit's file.
    pub timestamp_ms: i64,
    /// Its `commitInfo` as JSON text; none where nothing was committed.
    pub commit_info: Option<String>,
    /// What a retry met on the way, for people.
    pub conflicts_resolved: Vec<String>,
    /// Whether nothing was committed, because the version says already that it is done.
    pub skipped: bool,
    /// Whether a version may name the files that were written for the commit: always, unless it was skipped.
    pub keeps_files: bool,
    /// What is wrong with the commit itself, in a sentence each: it is made, and may not be durable.
    pub warnings: Vec<String>,
    /// What was done for the log behind it. Whatever failed of that, the commit stands.
    pub upkept: Upkept,
}

impl Committed {
    /// Nothing was done: a version tells that it is done already.
    fn skipped(version: Version, timestamp_ms: i64) -> Self {
        Self {
            version,
            timestamp_ms,
            commit_info: None,
            conflicts_resolved: Vec::new(),
            skipped: true,
            keeps_files: false,
            warnings: Vec::new(),
            upkept: Upkept::default(),
        }
    }
}

/// The time of a commit that was just made. It is made whatever the store answers now, so a failure leaves the time
/// of the attempt.
async fn time_of(location: &TableLocation, version: Version, attempted_ms: i64) -> i64 {
    modified_ms(location, version).await.unwrap_or(attempted_ms)
}

/// When the file of a commit was written, in milliseconds since the epoch.
async fn modified_ms(location: &TableLocation, version: Version) -> Result<i64> {
    let path = LogPath::commit(version);
    let found = location.store().head(&location.below(&path)?).await;
    match found {
        Ok(found) => Ok(found.last_modified.timestamp_millis()),
        Err(object_store::Error::NotFound { .. }) => Err(gap::cleaned_up(version, "its file was deleted")),
        Err(error) => Err(store_error(&error, &path).with("version", version)),
    }
}
