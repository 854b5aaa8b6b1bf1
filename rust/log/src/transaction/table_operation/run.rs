//! Runs an operation on a table: plans it against a version, commits, and after a conflict plans it again against the
//! newest version. A new plan may reuse output files whose inputs are unchanged.

use std::collections::HashSet;
use std::future::Future;

use deltaic_protocol::{Error, ErrorKind, Result};

use super::planned::Planned;
use super::previous_attempt::PreviousAttempt;
use crate::snapshot::Snapshot;
use crate::transaction::committed::Committed;
use crate::transaction::options::CommitOptions;
use crate::transaction::proposal::key_of;
use deltaic_storage::clock::{Deadline, now_ms, pause_at_random};

/// Limits on the attempts of an operation.
#[derive(Clone, Copy, Debug)]
pub struct RunPolicy {
    /// Maximum number of attempts.
    pub max_attempts: usize,
    /// No attempt is started and no version is proposed after this deadline; `None` means no deadline.
    pub deadline: Option<Deadline>,
}

/// The maximum number of times that a change of rows is planned because of conflicts.
const MAX_PLANS: usize = 10;

impl RunPolicy {
    /// The policy of changes of rows: they are planned again after conflicts, unless `row_level` is off.
    #[must_use]
    pub fn of_rows(options: &CommitOptions) -> Self {
        Self {
            max_attempts: if options.row_level { MAX_PLANS } else { 1 },
            deadline: options.deadline,
        }
    }

    /// Whether an operation may be planned again after attempt number `attempts` failed with `error`: only after a
    /// commit conflict. After other errors, a retry would fail again or the outcome of the commit is unknown.
    /// `AddedTwice` is not retried: the winning commit that added the same file may be this commit itself.
    #[must_use]
    pub fn allows_after(&self, attempts: usize, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::CommitConflict(_))
            && error.is_retryable()
            && attempts < self.max_attempts
            && !self.deadline.is_some_and(Deadline::has_passed)
    }
}

/// An operation on a table, which can be planned any number of times.
pub trait TableOperation: Send {
    /// Plans the operation against a version; `None` if there is nothing to do. `previous` is the attempt whose commit
    /// conflicted.
    fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> impl Future<Output = Result<Option<Planned<'a>>>> + Send;

    /// Whether the operation may be planned again after this conflict, if the policy allows it.
    fn may_plan_again(&self, _conflict: &Error) -> bool {
        true
    }
}

/// Runs an operation until it commits or fails: after a conflict, refreshes the table and plans the operation again.
/// Returns a skipped commit if there is nothing to do.
///
/// Resolved conflicts are listed in [`Committed::conflicts_resolved`]. Files of an attempt that conflicted are deleted
/// unless the next plan reuses them; those of the last attempt unless a version may reference them. Must be called in a
/// Tokio runtime.
///
/// # Errors
///
/// The last conflict, if no further attempt is allowed or the table has no newer version; `CommitUnknown` without a
/// retry, since the commit may have succeeded; any error of planning.
pub async fn run(
    snapshot: Snapshot,
    policy: RunPolicy,
    operation: &mut impl TableOperation,
) -> Result<Committed> {
    let mut snapshot = snapshot;
    let mut previous: Option<PreviousAttempt> = None;
    let mut resolved = Vec::new();
    let mut attempts = 0;
    loop {
        let planned = operation.plan(&snapshot, previous.as_ref()).await;
        if let Some(previous) = &previous {
            match &planned {
                Ok(Some(planned)) => {
                    let proposal = &planned.transaction.proposal;
                    let adds = proposal.adds.iter().map(|add| add.path.as_str());
                    let paths = adds.chain(proposal.cdc.iter().map(|cdc| cdc.path.as_str()));
                    planned.files.take_over(&previous.files, paths).await;
                }
                Ok(None) | Err(_) => previous.files.delete().await,
            }
        }
        let Some(mut planned) = planned? else {
            let time_ms = snapshot.file_time_ms().unwrap_or_else(now_ms);
            return Ok(Committed {
                conflicts_resolved: resolved,
                ..Committed::skipped(snapshot.version(), time_ms)
            });
        };
        let outputs = std::mem::take(&mut planned.outputs);
        let transaction = &mut planned.transaction;
        transaction.options.deadline = transaction.options.deadline.or(policy.deadline);
        let mut touched: HashSet<String> = transaction.read.files().map(str::to_owned).collect();
        let removes = transaction.proposal.removes.iter();
        touched.extend(removes.map(|remove| key_of(&remove.path)));
        attempts += 1;
        let (files, committed) = planned.attempt().await;
        let error = match committed {
            Err(error) if policy.allows_after(attempts, &error) && operation.may_plan_again(&error) => error,
            mut committed => {
                files.settle(&committed).await;
                if let Ok(committed) = &mut committed {
                    resolved.append(&mut committed.conflicts_resolved);
                    committed.conflicts_resolved = resolved;
                }
                return committed;
            }
        };
        files.end_commit();
        pause_at_random(attempts).await;
        let newest = match snapshot.refresh().await {
            Ok(newest) if newest.version() > snapshot.version() => newest,
            refreshed => {
                files.delete().await;
                return Err(refreshed.err().unwrap_or(error));
            }
        };
        resolved.push(format!(
            "{}; planned again at version {}",
            error.what(),
            newest.version()
        ));
        let versions = [&snapshot, &newest];
        previous = Some(PreviousAttempt::new(
            attempts,
            error,
            (outputs, files),
            &touched,
            versions,
        ));
        snapshot = newest;
    }
}
