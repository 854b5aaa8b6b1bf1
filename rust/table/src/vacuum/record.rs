//! Records the start and the end of a vacuum as commits without file actions.

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, OperationDetails, Planned, PreviousAttempt, RunPolicy,
    TableOperation, Transaction, run,
};
use deltaic_protocol::features::{Maintenance, ensure_maintainable};
use deltaic_protocol::{Result, TableConfiguration};

use super::delete::Deleted;
use super::plan::Plan;
use super::retention::Retention;

/// A commit that records an operation.
pub(super) struct Record<'o> {
    operation: Operation,
    details: OperationDetails,
    options: &'o CommitOptions,
}

impl<'o> Record<'o> {
    /// The start of a vacuum.
    pub(super) fn start(
        plan: &Plan,
        retention: Retention,
        is_checked: bool,
        options: &'o CommitOptions,
    ) -> Self {
        let mut parameters = vec![
            ("retentionCheckEnabled", is_checked.to_string()),
            ("defaultRetentionMillis", retention.default_ms.to_string()),
        ];
        parameters.extend(
            retention
                .specified_ms
                .map(|ms| ("specifiedRetentionMillis", ms.to_string())),
        );
        let metrics = vec![
            ("numFilesToDelete", metric(plan.files.len())),
            (
                "sizeOfDataToDelete",
                i64::try_from(plan.bytes()).unwrap_or(i64::MAX),
            ),
        ];
        Self {
            operation: Operation::VacuumStart,
            details: OperationDetails { parameters, metrics },
            options,
        }
    }

    /// The end of a vacuum.
    pub(super) fn end(plan: &Plan, deleted: &Deleted, options: &'o CommitOptions) -> Self {
        let details = if deleted.failure.is_some() {
            OperationDetails {
                parameters: vec![("status", "FAILED".to_owned())],
                metrics: Vec::new(),
            }
        } else {
            OperationDetails {
                parameters: vec![("status", "COMPLETED".to_owned())],
                metrics: vec![
                    ("numDeletedFiles", metric(deleted.files)),
                    ("numVacuumedDirectories", metric(plan.examined_folders)),
                ],
            }
        };
        Self {
            operation: Operation::VacuumEnd,
            details,
            options,
        }
    }

    /// Commits the record after the newest version.
    pub(super) async fn commit(mut self, snapshot: &Snapshot) -> Result<Committed> {
        let policy = RunPolicy {
            max_attempts: self.options.max_attempts.max(1),
            deadline: self.options.deadline,
        };
        Box::pin(run(snapshot.clone(), policy, &mut self)).await
    }
}

impl TableOperation for Record<'_> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        if let Some(previous) = previous.filter(|previous| !previous.is_same_table()) {
            return Err(previous.conflict().clone());
        }
        let mut transaction = Transaction::try_new(snapshot, self.operation, ensure_vacuumable)?;
        transaction.details = self.details.clone();
        transaction.options = self.options.clone();
        Ok(Some(Planned::without_files(transaction)))
    }
}

/// The support check of a vacuum.
pub(super) fn ensure_vacuumable(table: &TableConfiguration) -> Result<()> {
    ensure_maintainable(table, Maintenance::Vacuum)
}

fn metric(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
