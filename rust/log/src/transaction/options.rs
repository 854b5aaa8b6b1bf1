//! Commit options. Every operation passes them to its commit unchanged.

use std::sync::Arc;

use deltaic_protocol::actions::Txn;

use super::{IsolationLevel, UserInfo};
use crate::post_commit::PostCommitPolicy;
use crate::progress::Progress;
use deltaic_storage::clock::Deadline;
use deltaic_storage::memory_budget::MemoryBudget;

/// Options of a commit.
///
/// ```
/// use deltaic_log::transaction::CommitOptions;
/// let options = CommitOptions { app_transaction: Some(("nightly".to_owned(), 7)), ..CommitOptions::default() };
/// assert!(options.row_level && options.max_attempts == 1000);
/// ```
#[derive(Clone, Debug)]
pub struct CommitOptions {
    /// The user's entries for the `commitInfo`.
    pub user: UserInfo,
    /// An application id and the version that this commit records for it. If the table already records that version or
    /// a later one, nothing is committed.
    pub app_transaction: Option<(String, i64)>,
    /// Maximum number of proposals that are lost to other writers.
    pub max_attempts: usize,
    /// No further version is proposed after this deadline. Default: ten minutes after the commit began.
    pub deadline: Option<Deadline>,
    /// Overrides the table's isolation level.
    pub isolation: Option<IsolationLevel>,
    /// Whether two commits that delete different rows of one file both succeed, and whether table changes are planned
    /// again after another writer changed the table. If false, both are conflicts.
    pub row_level: bool,
    /// Post-commit maintenance.
    pub post_commit: PostCommitPolicy,
    /// What happens to empty text in partition columns of new rows.
    pub empty_partition_text: EmptyPartitionText,
    /// The memory for rows in progress.
    pub memory: MemoryBudget,
    /// What the operation has done so far.
    pub progress: Arc<Progress>,
}

/// What happens to empty text in partition columns of new rows, which every reader reads back as NULL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyPartitionText {
    /// It is an error.
    #[default]
    Error,
    /// It becomes NULL, as in Spark.
    Null,
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self {
            user: UserInfo::default(),
            app_transaction: None,
            max_attempts: 1000,
            deadline: None,
            isolation: None,
            row_level: true,
            post_commit: PostCommitPolicy::default(),
            empty_partition_text: EmptyPartitionText::default(),
            memory: MemoryBudget::default(),
            progress: Arc::default(),
        }
    }
}

impl CommitOptions {
    /// Returns the `txn` action of the application transaction, if set.
    pub(super) fn txn(&self, now_ms: i64) -> Option<Txn> {
        self.app_transaction.clone().map(|(app_id, version)| Txn {
            app_id,
            version,
            last_updated: Some(now_ms),
        })
    }
}
