//! The options that every writing verb takes, as they cross the border.

use std::time::Duration;

use deltaic_log::clock::Deadline;
use deltaic_log::transaction::{IsolationLevel, UserInfo};
use deltaic_protocol::Result;
use deltaic_table::transaction::TransactionOptions;
use pyo3::prelude::*;

use crate::upkeep::policy;

/// A mapping from names to values, which Python has proved.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CommitOptions {
    pub(crate) commit_info: Option<String>,
    pub(crate) app_transaction: Option<(String, i64)>,
    pub(crate) max_attempts: usize,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) isolation: Option<String>,
    pub(crate) row_level: bool,
    pub(crate) upkeep: bool,
}

impl CommitOptions {
    pub(crate) fn parse(self, operation: &str) -> Result<TransactionOptions> {
        let isolation = self.isolation.as_deref().map(IsolationLevel::parse);
        let after = |millis| Deadline::after(Duration::from_millis(millis));
        Ok(TransactionOptions {
            operation: TransactionOptions::operation(operation)?,
            user: UserInfo::parse(self.commit_info.as_deref())?,
            max_attempts: self.max_attempts,
            deadline: self.deadline_ms.map(after),
            isolation: isolation.transpose()?,
            row_level: self.row_level,
            app_transaction: self.app_transaction,
            upkeep: policy(self.upkeep),
        })
    }
}
