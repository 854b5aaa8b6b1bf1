//! The commit options of every write operation, converted at the boundary.

use std::sync::Arc;
use std::time::Duration;

use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::transaction::{EmptyPartitionText, IsolationLevel, UserInfo};
use deltaic_protocol::Result;
use deltaic_storage::clock::Deadline;
use deltaic_storage::memory_budget::MemoryBudget;
use pyo3::prelude::*;

use crate::calls::progress::{Functions, Reporter};

/// A mapping from option names to values, validated by Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CommitOptions {
    commit_info: Option<String>,
    app_transaction: Option<(String, i64)>,
    max_attempts: usize,
    deadline_ms: Option<u64>,
    isolation: Option<String>,
    row_level: bool,
    upkeep: bool,
    empty_text_is_null: bool,
    memory: Option<usize>,
    /// The functions that get the progress.
    progress: Option<Functions>,
}

impl CommitOptions {
    /// Returns the options, and who gets the progress.
    pub(crate) fn parse(self) -> Result<(deltaic_log::transaction::CommitOptions, Option<Reporter>)> {
        let progress = Arc::default();
        let reporter = self.progress.map(|function| Reporter::new(function, &progress));
        let isolation = self.isolation.as_deref().map(IsolationLevel::parse);
        let after = |millis| Deadline::after(Duration::from_millis(millis));
        let options = deltaic_log::transaction::CommitOptions {
            user: UserInfo::parse(self.commit_info.as_deref())?,
            app_transaction: self.app_transaction,
            max_attempts: self.max_attempts,
            deadline: self.deadline_ms.map(after),
            isolation: isolation.transpose()?,
            row_level: self.row_level,
            post_commit: match self.upkeep {
                true => PostCommitPolicy::default(),
                false => PostCommitPolicy::none(),
            },
            empty_partition_text: match self.empty_text_is_null {
                true => EmptyPartitionText::Null,
                false => EmptyPartitionText::Error,
            },
            memory: self.memory.map_or_else(MemoryBudget::default, MemoryBudget::of),
            progress,
        };
        Ok((options, reporter))
    }
}
