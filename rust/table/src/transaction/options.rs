//! How a transaction behaves.

use deltaic_log::clock::Deadline;
use deltaic_log::transaction::{AlterOptions, IsolationLevel, UserInfo};
use deltaic_log::upkeep::UpkeepPolicy;
use deltaic_protocol::{Error, ErrorKind, Result};

/// The operations that a transaction of files can call itself, in delta-spark's words.
const OPERATIONS: &[&str] = &[
    "WRITE",
    "STREAMING UPDATE",
    "DELETE",
    "UPDATE",
    "MERGE",
    "TRUNCATE",
    "OPTIMIZE",
    "RESTORE",
];

/// How a transaction behaves.
#[derive(Clone, Debug)]
pub struct TransactionOptions {
    /// What it calls itself; [`TransactionOptions::operation`] proves a name.
    pub operation: &'static str,
    /// What the user adds to the `commitInfo`.
    pub user: UserInfo,
    /// How many proposals may be lost to other writers.
    pub max_attempts: usize,
    /// When no further version is tried; ten minutes after the commit began if none.
    pub deadline: Option<Deadline>,
    /// The isolation level instead of the table's.
    pub isolation: Option<IsolationLevel>,
    /// Whether two commits that delete different rows of one file both win; else files are what they may not share.
    pub row_level: bool,
    /// An application, and how far it comes: nothing is done where it is as far already.
    pub app_transaction: Option<(String, i64)>,
    /// What is done for the log behind the commit.
    pub upkeep: UpkeepPolicy,
}

impl Default for TransactionOptions {
    fn default() -> Self {
        Self {
            operation: "WRITE",
            user: UserInfo::default(),
            max_attempts: 1000,
            deadline: None,
            isolation: None,
            row_level: true,
            app_transaction: None,
            upkeep: UpkeepPolicy::default(),
        }
    }
}

impl TransactionOptions {
    /// The same for changes of the table itself, which are made anew where rows would be united.
    #[must_use]
    pub fn to_alter(self) -> AlterOptions {
        AlterOptions {
            user: self.user,
            max_attempts: self.max_attempts,
            app_transaction: self.app_transaction,
            isolation: self.isolation,
            deadline: self.deadline,
            upkeep: self.upkeep,
            again: self.row_level,
        }
    }

    /// The operation of a name.
    ///
    /// Errors: `ValueError` for one that no transaction of files is; names have a meaning where winners are judged.
    pub fn operation(name: &str) -> Result<&'static str> {
        let found = OPERATIONS.iter().find(|known| **known == name);
        found.copied().ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("operation may not be {name:?}"),
            )
            .hint(format!("it is one of {}", OPERATIONS.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_one_of_those_that_are_known() {
        assert_eq!(TransactionOptions::operation("DELETE").ok(), Some("DELETE"));
        for name in ["", "write", "REPLACE TABLE", "ROW TRACKING BACKFILL"] {
            let error = TransactionOptions::operation(name).expect_err("it has a meaning of its own");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}
