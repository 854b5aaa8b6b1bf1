//! Runs verbs until they commit: after a conflict they are staged again, on the newest version.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, Planned, PreviousAttempt, RunPolicy, TableOperation,
};
use deltaic_protocol::{Error, Result};
use tokio::sync::Mutex;

use super::verb::Verb;
use crate::transaction::TableTransaction;
use crate::transaction::attempts::{AttemptFiles, EarlierAttempt};

/// Runs a verb in one commit. After a conflict it is planned again for the newest version, unless row-level concurrency
/// is off; files of the earlier attempt that have the same rows are added again. Returns a skipped commit if nothing
/// changes. After a failure the table is unchanged and the written files are deleted, unless the outcome is unknown: then
/// they are kept, because they may be in the table.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of the verb, and of [`deltaic_log::transaction::run`].
pub async fn run(snapshot: &Snapshot, verb: &impl Verb, options: CommitOptions) -> Result<Committed> {
    let policy = verb.policy(snapshot, &options)?;
    let mut running = Running {
        verb,
        options,
        written: AttemptFiles::default(),
    };
    deltaic_log::transaction::run(snapshot.clone(), policy, &mut running).await
}

/// A verb that is planned for one version after another.
struct Running<'v, V> {
    verb: &'v V,
    options: CommitOptions,
    /// What the last attempt wrote.
    written: AttemptFiles,
}

impl<V: Verb> TableOperation for Running<'_, V> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        let operation = self.verb.operation();
        let mut transaction = TableTransaction::try_new(snapshot.clone(), operation, self.options.clone())?;
        let written = std::mem::take(&mut self.written);
        if let Some(previous) = previous {
            let earlier = EarlierAttempt::new(previous, written);
            self.verb.ensure_staged_again(snapshot, &earlier)?;
            transaction.attempts.earlier = Some(earlier);
        }
        let staged = transaction.apply(self.verb).await.map(drop);
        transaction.record_new_rows();
        let planned = transaction.plan_or_abandon(staged, snapshot).await;
        self.written = std::mem::take(&mut transaction.attempts.now);
        planned
    }

    fn may_plan_again(&self, conflict: &Error) -> bool {
        self.verb.may_plan_again(conflict)
    }
}

/// The future that stages the changes of a transaction.
pub type Staging = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Stages changes in a transaction on a version.
type Stage<'s> = &'s mut (dyn FnMut(&Snapshot, Arc<Mutex<TableTransaction>>) -> Staging + Send);

/// Runs `stage` in a transaction, and again in a new transaction on the newest version after each conflict, as the
/// policy allows. Returns `None` if the last run staged nothing. Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of `stage` and of [`deltaic_log::transaction::run`]. Nothing was committed then, unless the error is
/// `CommitUnknown`.
pub async fn run_transaction(
    snapshot: Snapshot,
    operation: Operation,
    options: CommitOptions,
    policy: RunPolicy,
    stage: Stage<'_>,
) -> Result<Option<Committed>> {
    let mut called = Called {
        operation,
        options,
        stage,
        is_empty: false,
    };
    let committed = deltaic_log::transaction::run(snapshot, policy, &mut called).await?;
    Ok((!called.is_empty).then_some(committed))
}

/// A transaction whose changes each call of a function stages.
struct Called<'s> {
    operation: Operation,
    options: CommitOptions,
    stage: Stage<'s>,
    /// Whether the last call staged nothing.
    is_empty: bool,
}

impl TableOperation for Called<'_> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        _previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        let transaction = TableTransaction::try_new(snapshot.clone(), self.operation, self.options.clone())?;
        let transaction = Arc::new(Mutex::new(transaction));
        let staged = (self.stage)(snapshot, Arc::clone(&transaction)).await;
        let planned = transaction.lock().await.plan_or_abandon(staged, snapshot).await;
        self.is_empty = matches!(planned, Ok(None));
        planned
    }
}
