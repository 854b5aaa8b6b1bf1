//! Commits everything that is staged, or nothing.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    Committed, DecidedBy, Operation, OperationDetails, Planned, StagedFiles, SupportCheck, Transaction,
    Vectors, describe,
};
use deltaic_protocol::Result;
use deltaic_protocol::features::{
    ensure_appendable, ensure_changeable, ensure_removable, ensure_vectors_writable,
};

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
    pub(super) async fn plan_commit<'a>(&mut self, snapshot: &'a Snapshot) -> Result<Option<Planned<'a>>> {
        let completed = self.complete_feed().await;
        completed.map_err(|error| self.located(error))?;
        self.planned(snapshot)
    }

    /// Takes everything that is staged as the plan of a commit on the version that was read.
    pub(super) fn planned<'a>(&mut self, snapshot: &'a Snapshot) -> Result<Option<Planned<'a>>> {
        if self.proposal.is_empty() && self.options.app_transaction.is_none() {
            return Ok(None);
        }
        self.same_rows.ensure().map_err(|error| self.located(error))?;
        let ((operation, details), support_check) = (self.describe(), self.support_check());
        let outputs = Vec::from_iter(self.output());
        let mut transaction = Transaction::try_new(snapshot, operation, support_check)?;
        transaction.details = details;
        transaction.read = self.read.clone();
        transaction.proposal = std::mem::take(&mut self.proposal);
        transaction.proposal.operation = operation;
        transaction.proposal.decided_by = self.decided_by();
        // Appended rows may be copies whose row ids are lost; those of a merge are new.
        let inserted = self.merged.as_ref().map_or(0, |merged| merged.inserted_files);
        transaction.proposal.keeps_row_ids &= self.appended.files == inserted;
        transaction.options = self.options.clone();
        // The commit decides about the files: the transaction must not delete them any more.
        let none = Arc::new(StagedFiles::new(snapshot.location()));
        Ok(Some(Planned {
            transaction,
            outputs,
            files: std::mem::replace(&mut self.files, none),
            vectors: Some(Arc::clone(&self.vectors) as Arc<dyn Vectors>),
        }))
    }

    /// Returns the support check for the staged changes.
    fn support_check(&self) -> SupportCheck {
        let mut removes = self.proposal.removes.iter();
        if !self.altered.is_empty() && !self.has_files() {
            return ensure_changeable;
        }
        let copies_rows = self
            .deletion
            .as_ref()
            .is_some_and(|deletion| deletion.added_files > 0);
        let writes_rows = self.updated.is_some() || self.merged.is_some();
        let adds_files = self.appended.files > 0 || copies_rows || writes_rows;
        let removes_rows = removes.any(|remove| remove.data_change);
        match (self.vectors_added > 0, removes_rows, adds_files) {
            (true, _, false) => ensure_vectors_writable,
            (true, _, true) => |table| {
                ensure_appendable(table)?;
                ensure_vectors_writable(table)
            },
            (false, true, false) => ensure_removable,
            (false, true, true) => |table| {
                ensure_appendable(table)?;
                ensure_removable(table)
            },
            (false, false, _) => ensure_appendable,
        }
    }

    /// Returns by what the removed rows were selected: if rows of the table were read, other rows may have been
    /// decisive.
    fn decided_by(&self) -> DecidedBy {
        if self.has_read_rows {
            DecidedBy::Table
        } else {
            DecidedBy::Row
        }
    }

    /// Returns the operation, its parameters and its metrics for `commitInfo`. A transaction that only alters the table
    /// records these changes.
    fn describe(&self) -> (Operation, OperationDetails) {
        if !self.altered.is_empty() && !self.has_files() {
            return describe(&self.altered);
        }
        if let (Operation::Delete, Some(deletion), 0) =
            (self.proposal.operation, &self.deletion, self.appended.files)
        {
            return (Operation::Delete, deletion.details());
        }
        if let (Operation::Update, Some(details)) = (self.proposal.operation, self.update_details()) {
            return (Operation::Update, details);
        }
        if let (Operation::Merge, Some(merged)) = (self.proposal.operation, &self.merged) {
            return (Operation::Merge, merged.details());
        }
        if let (operation @ (Operation::Optimize | Operation::Reorg), Some(optimized)) =
            (self.proposal.operation, &self.optimized)
        {
            return (operation, optimized.details());
        }
        let removes = &self.proposal.removes;
        let metrics = self.written_metrics();
        let partition_columns =
            serde_json::Value::from(self.configuration().metadata().partition_columns.clone());
        let mut parameters = match (self.proposal.operation, &self.overwritten, removes.is_empty()) {
            (Operation::Write, Some(_), _) => vec![("mode", "Overwrite".to_owned())],
            (Operation::Write, None, true) => vec![("mode", "Append".to_owned())],
            _ => Vec::new(),
        };
        if self.proposal.operation == Operation::Write {
            parameters.push(("partitionBy", partition_columns.to_string()));
        }
        let predicate = self.overwritten.iter().flatten();
        parameters.extend(predicate.map(|predicate| ("predicate", predicate.clone())));
        let details = OperationDetails { parameters, metrics };
        (self.proposal.operation, details)
    }

    /// The metrics of written rows, named as by Spark. Those of an overwrite count the rows that it copied, too.
    fn written_metrics(&self) -> Vec<(&'static str, i64)> {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (appended, removes) = (&self.appended, &self.proposal.removes);
        let deletion = self.deletion.as_ref().filter(|_| self.overwritten.is_some());
        let (files, rows, bytes) = deletion.map_or((0, 0, 0), |deletion| {
            (deletion.added_files, deletion.copied_rows, deletion.added_bytes)
        });
        let mut metrics = vec![
            ("numFiles", count(appended.files.saturating_add(files))),
            ("numOutputRows", long(appended.rows.saturating_add(rows))),
            ("numOutputBytes", appended.bytes.saturating_add(bytes)),
        ];
        let vectors = usize::try_from(self.vectors_added).unwrap_or(usize::MAX);
        if !removes.is_empty() || self.overwritten.is_some() {
            metrics.push(("numRemovedFiles", count(removes.len().saturating_sub(vectors))));
        }
        if self.overwritten.is_some() {
            let sizes = removes.iter().filter_map(|remove| remove.size);
            let removed = sizes.fold(0, i64::saturating_add);
            metrics.push((
                "numRemovedBytes",
                deletion.map_or(removed, |deletion| deletion.removed_bytes),
            ));
        }
        if let (Some(Some(_)), Some(deletion)) = (&self.overwritten, deletion) {
            metrics.push(("numCopiedRows", long(rows)));
            metrics.push(("numAddedChangeFiles", count(self.proposal.cdc.len())));
            metrics.extend(deletion.deleted_rows.map(|rows| ("numDeletedRows", long(rows))));
        } else if self.deleted_rows > 0 {
            metrics.push(("numDeletedRows", long(self.deleted_rows)));
        }
        if self.vectors_added > 0 {
            metrics.push(("numDeletionVectorsAdded", long(self.vectors_added)));
        }
        metrics
    }
}
