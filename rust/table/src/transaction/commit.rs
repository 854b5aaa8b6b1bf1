//! Commits everything that is staged, or nothing.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{Committed, DecidedBy, Planned, StagedFiles, Transaction, Vectors};
use deltaic_protocol::Result;

use super::TableTransaction;

impl TableTransaction {
    /// Commits the staged changes, once; returns `None` if there are none. After a failure the table is unchanged and
    /// the written files are deleted, unless the outcome is unknown or another commit added a file of this one: then
    /// they may be live.
    ///
    /// # Errors
    ///
    /// Those of [`Transaction::commit`]; `ConstraintViolation` if added and removed files with
    /// `dataChange=false` have different numbers of rows; `ValueError` in a child of `fork`.
    pub async fn commit(&mut self) -> Result<Option<Committed>> {
        self.files.owner().ensure_current()?;
        if let Some(done) = self.done.take() {
            self.abandon().await;
            return Ok(Some(done));
        }
        let snapshot = self.snapshot.clone();
        match self.plan_commit(&snapshot).await {
            Ok(Some(planned)) => {
                let (committed, are_kept) = planned.commit().await;
                self.keeps_files = are_kept;
                committed.map(Some)
            }
            Ok(None) => Ok(None),
            Err(error) => {
                self.abandon().await;
                Err(error)
            }
        }
    }

    /// Abandons the transaction: nothing was committed, and the written files are deleted. In a child of `fork` nothing
    /// is deleted: the files belong to its parent.
    pub async fn abandon(&mut self) {
        self.files.delete().await;
    }

    /// Writes the change data files that are still missing, and plans the commit of everything that is staged; returns
    /// `None` if nothing is.
    async fn plan_commit<'a>(&mut self, snapshot: &'a Snapshot) -> Result<Option<Planned<'a>>> {
        let completed = self.complete_feed().await;
        completed.map_err(|error| self.located(error))?;
        self.planned(snapshot)
    }

    /// The same after staging, which may have failed; then the transaction is abandoned.
    pub(crate) async fn plan_or_abandon<'a>(
        &mut self,
        staged: Result<()>,
        snapshot: &'a Snapshot,
    ) -> Result<Option<Planned<'a>>> {
        let planned = match staged {
            Ok(()) => self.plan_commit(snapshot).await,
            Err(error) => Err(error),
        };
        if planned.is_err() {
            self.abandon().await;
        }
        planned
    }

    /// Takes everything that is staged as the plan of a commit on the version that was read.
    pub(crate) fn planned<'a>(&mut self, snapshot: &'a Snapshot) -> Result<Option<Planned<'a>>> {
        if self.staged.proposal.is_empty() && self.options.app_transaction.is_none() {
            return Ok(None);
        }
        self.staged
            .same_rows
            .ensure()
            .map_err(|error| self.located(error))?;
        let (operation, details) = self.describe();
        let staged = &mut self.staged;
        let mut transaction = Transaction::try_new(snapshot, operation, staged.requirement.support_check())?;
        transaction.details = details;
        transaction.read = staged.read.clone();
        transaction.proposal = std::mem::take(&mut staged.proposal);
        transaction.proposal.operation = operation;
        // If rows of the table were read, other rows may have determined which rows are removed.
        transaction.proposal.decided_by = match staged.has_read_rows {
            true => DecidedBy::Table,
            false => DecidedBy::Row,
        };
        transaction.proposal.keeps_row_ids &= !staged.may_copy_rows;
        transaction.options = self.options.clone();
        // The commit decides about the files: the transaction must not delete them any more.
        let none = Arc::new(StagedFiles::new(snapshot.location()));
        Ok(Some(Planned {
            transaction,
            outputs: std::mem::take(&mut self.attempts.now.outputs),
            files: std::mem::replace(&mut self.files, none),
            vectors: Some(Arc::clone(&self.vectors) as Arc<dyn Vectors>),
        }))
    }
}
