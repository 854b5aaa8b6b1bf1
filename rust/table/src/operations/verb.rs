//! What a verb is: a value with its inputs, which states what a table must allow and stages its changes.

use std::future::Future;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Operation, RunPolicy};
use deltaic_protocol::{Error, Result, TableConfiguration};

use crate::transaction::attempts::EarlierAttempt;
use crate::transaction::{DryRun, TableTransaction};

/// A change of a table. It is staged in a transaction, with others, or run in a commit of its own: see
/// [`run`](super::run::run). Its description says which errors staging has, besides `CorruptLog` and `StorageError`.
pub trait Verb: Sync {
    /// What staging returns; its default means that there is nothing to do.
    type Staged: Default + Send;

    /// The operation that the history records for a commit of its own.
    fn operation(&self) -> Operation;

    /// Verifies the arguments, as far as the table does not matter.
    ///
    /// # Errors
    ///
    /// `ValueError`.
    fn ensure_valid(&self) -> Result<()> {
        Ok(())
    }

    /// Verifies what the protocol and the properties of a table must allow, before anything is read.
    ///
    /// # Errors
    ///
    /// `UnsupportedFeature`, `ConstraintViolation` if the table is append-only.
    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()>;

    /// Stages the changes. After a failure what was staged is undone, unless `stages_at_once`.
    fn stage(&self, transaction: &mut TableTransaction) -> impl Future<Output = Result<Self::Staged>> + Send;

    /// Whether nothing is staged before the last step that may fail, so that nothing has to be undone.
    fn stages_at_once(&self) -> bool {
        false
    }

    /// How often the verb is planned on a table: again after conflicts, unless row-level concurrency is off.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the table's metadata is invalid.
    fn policy(&self, _snapshot: &Snapshot, options: &CommitOptions) -> Result<RunPolicy> {
        Ok(RunPolicy::of_rows(options))
    }

    /// Verifies that the verb can be staged on the newest version after an attempt that conflicted, before anything else.
    ///
    /// # Errors
    ///
    /// The conflict.
    fn ensure_staged_again(&self, _snapshot: &Snapshot, _earlier: &EarlierAttempt) -> Result<()> {
        Ok(())
    }

    /// Whether the verb may be planned again after this conflict of its commit.
    fn may_plan_again(&self, _conflict: &Error) -> bool {
        true
    }

    /// What the verb would do: it is staged without writing. Rows are validated and encoded.
    fn preview(
        &self,
        snapshot: &Snapshot,
        options: CommitOptions,
    ) -> impl Future<Output = Result<DryRun>> + Send {
        async move {
            let snapshot = snapshot.without_writes();
            let mut transaction = TableTransaction::try_new(snapshot, self.operation(), options)?;
            let staged = transaction.apply(self).await;
            let preview = transaction.preview();
            staged.and(preview)
        }
    }
}

impl TableTransaction {
    /// Stages a verb. After a failure nothing of it is staged. Nothing is read or staged if the `app_transaction` was
    /// already committed.
    ///
    /// # Errors
    ///
    /// Those of the verb; `ValueError` if a staged change of the table cannot share a commit with files.
    pub async fn apply<V: Verb + ?Sized>(&mut self, verb: &V) -> Result<V::Staged> {
        verb.ensure_valid()?;
        verb.ensure_supported(self.snapshot.configuration())
            .map_err(|error| self.located(error))?;
        if self.is_done() {
            return Ok(V::Staged::default());
        }
        let savepoint = (!verb.stages_at_once()).then(|| self.staged.clone());
        self.staged.begin_verb(verb.operation());
        let staged = verb.stage(self).await;
        if let (Err(_), Some(savepoint)) = (&staged, savepoint) {
            self.staged = savepoint;
        }
        staged
    }
}
