//! Changing what a table says of itself: the verb, which is done anew where another commit came between.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Domain Metadata*.

mod describe;
mod prove;
mod stage;
mod statistics_there;

pub use describe::describe;
pub use prove::{Proved, RowProof};
pub use stage::{Staging, form_of, stage_changes, staged_form};

use deltaic_protocol::change::TableChange;
use deltaic_protocol::error::ContextValue;
use deltaic_protocol::features::ensure_changeable;
use deltaic_protocol::{Error, ErrorKind, Result};

use self::prove::{ensure_provable, fulfil};
use super::attempts::default_deadline;
use super::{CommitOptions, Committed, Transaction};
use crate::clock::now_ms;
use crate::snapshot::Snapshot;

/// Changes a table: all changes in their order and in one commit, or none of them. Where they change nothing, nothing is
/// committed.
///
/// What the changes ask of the files that are there is proved or done first; what only the rows can tell is asked of
/// `rows`. A change is a function of the version that it was made for. Where another commit changes the table
/// meanwhile, the changes are made anew for the version that won, and any of them may now be wrong.
///
/// # Errors
///
/// As [`change`](deltaic_protocol::change::change); `UnsupportedFeature` for a change that asks of the files what cannot be
/// done or proved here; `ConstraintViolation` where rows break a new constraint; `CommitConflict` where the winners are as
/// many as there may be or the changes are not to be made anew; `CommitUnknown` where the outcome could not be learnt.
pub async fn alter(
    snapshot: &Snapshot,
    changes: &[TableChange],
    options: &CommitOptions,
    rows: Option<&dyn RowProof>,
) -> Result<Committed> {
    ensure_provable(changes)?;
    let (operation, details) = describe(changes);
    let mut current = snapshot.clone();
    let mut left = options.max_attempts.max(1);
    let deadline = options.deadline.unwrap_or_else(default_deadline);
    let mut resolved = Vec::new();
    loop {
        let behind = current.version();
        let mut transaction = Transaction::try_new(&current, operation, ensure_changeable)?;
        transaction.details = details.clone();
        transaction.options = CommitOptions {
            max_attempts: left,
            deadline: Some(deadline),
            ..options.clone()
        };
        let mut staging = Staging {
            snapshot: &current,
            read: &mut transaction.read,
            proposal: &mut transaction.proposal,
        };
        let duties = stage_changes(&mut staging, changes).map_err(|error| located(error, &current))?;
        if staging.proposal.is_empty() && options.app_transaction.is_none() {
            let now = now_ms();
            return Ok(Committed {
                conflicts_resolved: resolved,
                ..Committed::skipped(behind, current.file_time_ms().unwrap_or(now))
            });
        }
        let fulfilled = fulfil(&mut staging, &duties, rows).await;
        fulfilled.map_err(|error| located(error, &current))?;
        let conflict = match transaction.commit().await {
            Ok(mut committed) => {
                resolved.append(&mut committed.conflicts_resolved);
                committed.conflicts_resolved = resolved;
                return Ok(committed);
            }
            Err(error) if options.row_level && may_be_made_anew(&error) => error,
            Err(error) => return Err(error),
        };
        let id = current.metadata().id.clone();
        current = current.refresh().await?;
        if current.metadata().id != id {
            // What was to be changed is not there any more.
            return Err(conflict);
        }
        // A conflict follows a lost proposal.
        left -= 1;
        if left == 0 || current.version() == behind {
            return Err(conflict);
        }
        resolved.push(format!("{}; the changes were made anew", conflict.what()));
    }
}

/// Makes changes part of a transaction, and proves or does what they ask of the files that are there: of those of the
/// version that was read, and not of what the transaction itself adds.
///
/// # Errors
///
/// As of [`alter`], but for those of the commit.
pub async fn stage(
    staging: &mut Staging<'_>,
    changes: &[TableChange],
    rows: Option<&dyn RowProof>,
) -> Result<()> {
    ensure_provable(changes)?;
    let duties = stage_changes(staging, changes)?;
    fulfil(staging, &duties, rows).await
}

/// Whether a conflict says no more than that the table is another one by now. An application that is at work twice is
/// a matter for people.
pub(super) fn may_be_made_anew(error: &Error) -> bool {
    let is_of_application = error.context().iter().any(|(key, _)| *key == "app_id");
    matches!(error.kind(), ErrorKind::CommitConflict(kind) if kind != deltaic_protocol::Conflict::ConcurrentWrite)
        && !is_of_application
}

fn located(error: Error, snapshot: &Snapshot) -> Error {
    let has = |wanted: &str, error: &Error| -> bool {
        let context: &[(&'static str, ContextValue)] = error.context();
        context.iter().any(|(key, _)| *key == wanted)
    };
    let error = match has("table", &error) {
        true => error,
        false => error.with("table", snapshot.location().uri()),
    };
    match has("version", &error) {
        true => error,
        false => error.with("version", snapshot.version()),
    }
}
