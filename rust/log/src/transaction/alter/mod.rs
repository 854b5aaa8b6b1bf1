//! Changes the configuration of a table, and computes the changes again after a concurrent commit.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Domain Metadata*.

mod clustering_statistics;
mod describe;
mod stage;
mod verify_rows;

pub use describe::describe;
pub use stage::{Staging, stage_changes};
pub use verify_rows::{Proved, RowVerifier};

use deltaic_protocol::change::TableChange;
use deltaic_protocol::features::ensure_changeable;
use deltaic_protocol::{Error, ErrorKind, Result};

use self::verify_rows::{ensure_provable, fulfil};
use super::attempts::default_deadline;
use super::table_operation::{Planned, PreviousAttempt, RunPolicy, TableOperation, run};
use super::{CommitOptions, Committed, Transaction};
use crate::snapshot::Snapshot;

/// Applies all changes to a table in order and in one commit, or none of them. Commits nothing if they have no effect.
///
/// Preconditions on existing files are checked or established first; those on row values are checked by `rows`. A
/// change depends on the version to which it is applied. If another commit changes the table concurrently, the changes
/// are computed again for the new version, and any of them may then be invalid.
///
/// # Errors
///
/// As [`change`](deltaic_protocol::change::change); `UnsupportedFeature` if a precondition on files can be neither
/// checked nor established; `ConstraintViolation` if rows violate a new constraint; `CommitConflict` if the attempts
/// are exhausted or the changes must not be computed again; `CommitUnknown` if the outcome could not be determined.
pub async fn alter(
    snapshot: &Snapshot,
    changes: &[TableChange],
    options: &CommitOptions,
    rows: Option<&dyn RowVerifier>,
) -> Result<Committed> {
    ensure_provable(changes)?;
    let policy = RunPolicy {
        max_attempts: options.max_attempts.max(1),
        deadline: Some(options.deadline.unwrap_or_else(default_deadline)),
    };
    let mut operation = Alter {
        changes,
        options: CommitOptions {
            deadline: policy.deadline,
            ..options.clone()
        },
        rows,
    };
    run(snapshot.clone(), policy, &mut operation).await
}

/// Changes of a table's configuration as an operation.
struct Alter<'c> {
    changes: &'c [TableChange],
    options: CommitOptions,
    rows: Option<&'c dyn RowVerifier>,
}

impl TableOperation for Alter<'_> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        if let Some(previous) = previous.filter(|previous| !previous.is_same_table()) {
            return Err(previous.conflict().clone());
        }
        let (operation, details) = describe(self.changes);
        let mut transaction = Transaction::try_new(snapshot, operation, ensure_changeable)?;
        transaction.details = details;
        transaction.options = self.options.clone();
        // Each conflict is one lost proposal.
        let lost = previous.map_or(0, PreviousAttempt::attempts);
        transaction.options.max_attempts = self.options.max_attempts.saturating_sub(lost).max(1);
        let mut staging = Staging {
            snapshot,
            read: &mut transaction.read,
            proposal: &mut transaction.proposal,
        };
        let preconditions =
            stage_changes(&mut staging, self.changes).map_err(|error| snapshot.located(error))?;
        if staging.proposal.is_empty() && self.options.app_transaction.is_none() {
            return Ok(None);
        }
        let fulfilled = fulfil(&mut staging, &preconditions, self.rows).await;
        fulfilled.map_err(|error| snapshot.located(error))?;
        Ok(Some(Planned::without_files(transaction)))
    }

    fn may_plan_again(&self, conflict: &Error) -> bool {
        self.options.row_level && is_of_configuration(conflict)
    }
}

/// Stages changes in a transaction, and checks or establishes their preconditions on the files of the read version, not
/// on files that the transaction itself adds.
///
/// # Errors
///
/// As [`alter`], except for errors of the commit.
pub async fn stage(
    staging: &mut Staging<'_>,
    changes: &[TableChange],
    rows: Option<&dyn RowVerifier>,
) -> Result<()> {
    ensure_provable(changes)?;
    let preconditions = stage_changes(staging, changes)?;
    fulfil(staging, &preconditions, rows).await
}

/// Whether a change of the configuration may be planned again after a conflict. Not after a conflict on an application
/// id: the application may be running twice, which requires user action.
pub(super) fn is_of_configuration(error: &Error) -> bool {
    let is_of_application = error.context().iter().any(|(key, _)| *key == "app_id");
    matches!(error.kind(), ErrorKind::CommitConflict(kind) if kind != deltaic_protocol::Conflict::ConcurrentWrite)
        && !is_of_application
}
