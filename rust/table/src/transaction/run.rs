//! Runs a transaction until it commits: after a conflict its changes are staged again, on the newest version.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, Planned, PreviousAttempt, RunPolicy, TableOperation, run,
};
use deltaic_protocol::Result;
use deltaic_protocol::expr::Predicate;
use tokio::sync::Mutex;

use super::TableTransaction;
use super::update::Assignment;
use super::written_before::{AttemptFiles, RewrittenOnce};

/// The future that stages the changes of a transaction.
pub type Staging = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Stages changes in a transaction on a version.
type Stage<'s> = &'s mut (dyn FnMut(&Snapshot, Arc<Mutex<TableTransaction>>) -> Staging + Send);

/// Runs `stage` in a transaction, and again in a new transaction on the newest version after each conflict, as the
/// policy allows. Returns `None` if the last run staged nothing. Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of `stage` and of [`run`]. Nothing was committed then, unless the error is `CommitUnknown`.
pub async fn run_transaction(
    snapshot: Snapshot,
    operation: Operation,
    options: CommitOptions,
    policy: RunPolicy,
    stage: Stage<'_>,
) -> Result<Option<Committed>> {
    let mut staged = Staged {
        operation,
        options,
        stage,
        is_empty: false,
        written: None,
    };
    let committed = run(snapshot, policy, &mut staged).await?;
    Ok((!staged.is_empty).then_some(committed))
}

/// Deletes the rows for which a predicate is true in one commit, all rows without one; see
/// [`TableTransaction::delete`]. After a conflict the rows are searched again in the newest version. Returns a skipped
/// commit if no row matches.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of [`TableTransaction::delete`] and of [`run`].
pub async fn delete(
    snapshot: &Snapshot,
    predicate: Option<Predicate>,
    options: CommitOptions,
) -> Result<Committed> {
    let request = Arc::new(predicate);
    run_verb(
        snapshot,
        Operation::Delete,
        options,
        &mut move |_, transaction| {
            let request = Arc::clone(&request);
            Box::pin(async move {
                let mut transaction = transaction.lock().await;
                transaction.delete((*request).as_ref()).await.map(drop)
            })
        },
    )
    .await
}

/// Sets columns of the rows for which a predicate is true in one commit, of all rows without one; see
/// [`TableTransaction::update`]. After a conflict the rows are searched again in the newest version. Returns a skipped
/// commit if no row matches.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of [`TableTransaction::update`] and of [`run`].
pub async fn update(
    snapshot: &Snapshot,
    assignments: Vec<Assignment>,
    predicate: Option<Predicate>,
    options: CommitOptions,
) -> Result<Committed> {
    let request = Arc::new((assignments, predicate));
    run_verb(
        snapshot,
        Operation::Update,
        options,
        &mut move |_, transaction| {
            let request = Arc::clone(&request);
            Box::pin(async move {
                let (assignments, predicate) = request.as_ref();
                let mut transaction = transaction.lock().await;
                transaction
                    .update(assignments, predicate.as_ref())
                    .await
                    .map(drop)
            })
        },
    )
    .await
}

/// Runs a verb that can be planned again, unless row-level concurrency is off.
pub(super) async fn run_verb(
    snapshot: &Snapshot,
    operation: Operation,
    options: CommitOptions,
    stage: Stage<'_>,
) -> Result<Committed> {
    let policy = RunPolicy::of_rows(&options);
    let mut staged = Staged {
        operation,
        options,
        stage,
        is_empty: false,
        written: Some(Vec::new()),
    };
    run(snapshot.clone(), policy, &mut staged).await
}

struct Staged<'s> {
    operation: Operation,
    options: CommitOptions,
    stage: Stage<'s>,
    /// Whether the last run staged nothing.
    is_empty: bool,
    /// What the last run wrote; `None` if each run may stage something else.
    written: Option<Vec<RewrittenOnce>>,
}

impl TableOperation for Staged<'_> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        let mut transaction =
            TableTransaction::try_new(snapshot.clone(), self.operation, self.options.clone())?;
        if let Some(written) = &mut self.written
            && previous.is_some_and(PreviousAttempt::is_same_configuration)
        {
            transaction.attempts.earlier = std::mem::take(written);
        }
        let transaction = Arc::new(Mutex::new(transaction));
        let staged = (self.stage)(snapshot, Arc::clone(&transaction)).await;
        let mut transaction = transaction.lock().await;
        let planned = match staged {
            Ok(()) => transaction.plan_commit(snapshot).await,
            Err(error) => Err(error),
        };
        let AttemptFiles { now, .. } = std::mem::take(&mut transaction.attempts);
        if let Some(written) = &mut self.written {
            *written = now;
        }
        if planned.is_err() {
            transaction.abandon().await;
        }
        self.is_empty = matches!(planned, Ok(None));
        planned
    }
}
