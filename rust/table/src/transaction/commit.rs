//! Commits everything that is staged, or nothing.

use deltaic_log::transaction::{
    Committed, DecidedBy, Gate, Operation, OperationDetails, Transaction, describe,
};
use deltaic_protocol::Result;
use deltaic_protocol::features::{
    ensure_appendable, ensure_changeable, ensure_removable, ensure_vectors_writable,
};

use super::TableTransaction;
use crate::write::names_no_file;

impl TableTransaction {
    /// Commits the staged changes, once; returns `None` if there are none. After a failure the table is unchanged and
    /// the written files are deleted, unless the outcome is unknown or another commit added a file of this one: then
    /// they may be live.
    ///
    /// Errors: those of [`Transaction::commit`]; `ConstraintViolation` if added and removed files with
    /// `dataChange=false` have different numbers of rows; `ValueError` in a child of `fork`.
    pub async fn commit(&mut self) -> Result<Option<Committed>> {
        self.owner.ensure_current()?;
        if let Some(done) = self.done.take() {
            self.abandon().await;
            return Ok(Some(done));
        }
        if self.proposal.is_empty() && self.options.app_transaction.is_none() {
            return Ok(None);
        }
        let committed = match self.same_rows.ensure() {
            Ok(()) => self.attempt().await,
            Err(error) => Err(self.located(error)),
        };
        self.keeps_files = !names_no_file(&committed);
        match &committed {
            _ if !self.keeps_files => self.abandon().await,
            Ok(committed) if !committed.skipped => {
                self.appended.keep();
                self.vectors.settle().await;
            }
            _ => {
                self.appended.keep();
                self.vectors.keep();
            }
        }
        committed.map(Some)
    }

    /// Abandons the transaction: nothing was committed, and the written files are deleted. In a child of `fork` nothing
    /// is deleted: the files belong to its parent.
    pub async fn abandon(&mut self) {
        self.appended.abort(self.snapshot.location()).await;
        self.vectors.abort().await;
    }

    async fn attempt(&mut self) -> Result<Committed> {
        let snapshot = self.snapshot.clone();
        let ((operation, details), gate) = (self.describe(), self.gate());
        let mut transaction = Transaction::try_new(&snapshot, operation, gate)?;
        transaction.details = details;
        transaction.read = self.read.clone();
        transaction.proposal = std::mem::take(&mut self.proposal);
        transaction.proposal.operation = operation;
        transaction.proposal.decided_by = self.decided_by();
        transaction.options = self.options.clone();
        transaction.vectors = Some(&self.vectors);
        transaction.commit().await
    }

    /// Returns the support check for the staged changes.
    fn gate(&self) -> Gate {
        let mut removes = self.proposal.removes.iter();
        if !self.altered.is_empty() && !self.has_files() {
            return ensure_changeable;
        }
        let adds_files = self.appended.files > 0;
        let removes_rows = removes.any(|remove| remove.data_change);
        match (self.vectors_added > 0, removes_rows, adds_files) {
            (true, _, false) => ensure_vectors_writable,
            (true, _, true) => |protocol, metadata, schema| {
                ensure_appendable(protocol, metadata, schema)?;
                ensure_vectors_writable(protocol, metadata, schema)
            },
            (false, true, false) => ensure_removable,
            (false, true, true) => |protocol, metadata, schema| {
                ensure_appendable(protocol, metadata, schema)?;
                ensure_removable(protocol, metadata, schema)
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
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (appended, removes) = (&self.appended, &self.proposal.removes);
        let mut metrics = vec![
            ("numFiles", count(appended.files)),
            ("numOutputRows", long(appended.rows)),
            ("numOutputBytes", appended.bytes),
        ];
        let vectors = usize::try_from(self.vectors_added).unwrap_or(usize::MAX);
        if !removes.is_empty() {
            metrics.push(("numRemovedFiles", count(removes.len().saturating_sub(vectors))));
        }
        if self.deleted_rows > 0 {
            metrics.push(("numDeletedRows", long(self.deleted_rows)));
            metrics.push(("numDeletionVectorsAdded", long(self.vectors_added)));
        }
        let partition_columns = serde_json::Value::from(self.snapshot.metadata().partition_columns.clone());
        let parameters = match (self.proposal.operation, removes.is_empty()) {
            (Operation::Write, true) => vec![
                ("mode", "Append".to_owned()),
                ("partitionBy", partition_columns.to_string()),
            ],
            (Operation::Write, false) => vec![("partitionBy", partition_columns.to_string())],
            _ => Vec::new(),
        };
        let details = OperationDetails { parameters, metrics };
        (self.proposal.operation, details)
    }
}
