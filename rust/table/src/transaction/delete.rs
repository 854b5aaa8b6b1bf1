//! Stages the deletion of the rows that match a predicate.
//!
//! Protocol: *Add File and Remove File*, *Deletion Vectors*, *Add CDC File*.

use deltaic_log::transaction::OperationDetails;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Remove;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_storage::clock::now_ms;

use super::TableTransaction;
use super::copy_rows::copy_rows;
use super::delete_plan::DeletePlan;
use super::written_before::{RowsToWrite, WrittenFiles};

/// What a transaction deleted by predicates, for the metrics of its commit.
#[derive(Clone, Debug, Default)]
pub(super) struct Deletion {
    /// The predicates, as SQL.
    pub(super) predicates: Vec<String>,
    /// Files removed with all of their rows, and files that were rewritten.
    pub(super) removed_files: usize,
    pub(super) removed_bytes: i64,
    /// Those of them that were rewritten.
    pub(super) rewritten_files: usize,
    pub(super) rewritten_bytes: i64,
    /// The files with the copied rows.
    pub(super) added_files: usize,
    pub(super) added_bytes: i64,
    pub(super) copied_rows: u64,
    /// Change data files.
    pub(super) change_files: usize,
    /// The number of deleted rows; `None` if the log does not have it.
    pub(super) deleted_rows: Option<u64>,
    pub(super) vectors_added: u64,
    pub(super) vectors_removed: u64,
    pub(super) vectors_updated: u64,
    pub(super) scan_ms: i64,
    pub(super) rewrite_ms: i64,
}

impl Deletion {
    /// The parameters and metrics of the commit, named as by Spark.
    pub(super) fn details(&self) -> OperationDetails {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let mut metrics = vec![
            ("numRemovedFiles", count(self.removed_files)),
            ("numRemovedBytes", self.removed_bytes),
            ("numAddedFiles", count(self.added_files)),
            ("numAddedBytes", self.added_bytes),
            ("numCopiedRows", long(self.copied_rows)),
            ("numAddedChangeFiles", count(self.change_files)),
            ("numDeletionVectorsAdded", long(self.vectors_added)),
            ("numDeletionVectorsRemoved", long(self.vectors_removed)),
            ("numDeletionVectorsUpdated", long(self.vectors_updated)),
            ("scanTimeMs", self.scan_ms),
            ("rewriteTimeMs", self.rewrite_ms),
            ("executionTimeMs", self.scan_ms.saturating_add(self.rewrite_ms)),
        ];
        metrics.extend(self.deleted_rows.map(|rows| ("numDeletedRows", long(rows))));
        let predicates = serde_json::Value::from(self.predicates.clone());
        OperationDetails {
            parameters: vec![("predicate", predicates.to_string())],
            metrics,
        }
    }
}

/// What deleting rows would do, or did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteSummary {
    /// The number of rows that are deleted; `None` if the log does not have the number of rows of a removed file.
    pub rows: Option<u64>,
    /// The number of files of which no row remains.
    pub removed_files: usize,
    /// The number of files that get a deletion vector.
    pub changed_files: usize,
    /// The number of files whose other rows are copied to new files, and their size in bytes.
    pub rewritten_files: usize,
    /// The size of the rewritten files in bytes.
    pub rewritten_bytes: i64,
}

impl DeletePlan {
    pub(super) fn summary(&self) -> DeleteSummary {
        let sizes = self.rewritten.iter().map(|file| file.add.size);
        DeleteSummary {
            rows: self.deleted_rows,
            removed_files: self.removed.len(),
            changed_files: self.changed.len(),
            rewritten_files: self.rewritten.len(),
            rewritten_bytes: sizes.fold(0, i64::saturating_add),
        }
    }
}

impl TableTransaction {
    /// Stages the deletion of the rows for which a predicate is true; of all rows without one. Files without remaining
    /// rows are removed. In other files the rows are deleted by deletion vectors if the table has them enabled; otherwise
    /// the remaining rows are copied to new files. Rows staged by the same transaction are not deleted. After a failure
    /// nothing of the call is staged.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` if the table is append-only; `InvalidPredicate`; `UnsupportedFeature`; `ValueError` if one of
    /// the files is already staged; `CorruptData`; `StorageError`.
    pub async fn delete(&mut self, predicate: Option<&Predicate>) -> Result<DeleteSummary> {
        let savepoint = self.savepoint();
        let deleted = self.delete_where(predicate).await;
        if deleted.is_err() {
            self.roll_back(savepoint);
        }
        deleted
    }

    /// The same, as a part of another verb.
    pub(super) async fn delete_where(&mut self, predicate: Option<&Predicate>) -> Result<DeleteSummary> {
        ensure_removable(self.snapshot.configuration()).map_err(|error| self.located(error))?;
        if self.is_done() {
            return Ok(DeleteSummary::default());
        }
        self.ensure_takes_files()?;
        let plan = self.plan_delete(predicate).await?;
        let summary = plan.summary();
        if !plan.is_empty() {
            self.stage_deletion(plan).await?;
        }
        Ok(summary)
    }

    /// Finds the rows of a predicate, records that they were read, and plans their deletion.
    pub(super) async fn plan_delete(&mut self, predicate: Option<&Predicate>) -> Result<DeletePlan> {
        let snapshot = self.snapshot.clone();
        let started = now_ms();
        let plan = DeletePlan::try_new(&snapshot, predicate, &self.options.progress).await;
        let plan = plan.map_err(|error| self.located(error))?;
        self.ensure_staged_once(plan.paths())?;
        match predicate {
            Some(predicate) => {
                let bound = predicate.bind(snapshot.schema())?;
                self.read.read_where(Some(&bound));
                // A file without matching rows has no effect on the result.
                self.read.read_files(plan.paths());
            }
            None => self.read.read_whole_table(),
        }
        let deletion = self.deletion.get_or_insert_with(|| Deletion {
            deleted_rows: Some(0),
            ..Deletion::default()
        });
        deletion.predicates.extend(predicate.map(ToString::to_string));
        deletion.scan_ms += now_ms() - started;
        let total = deletion.deleted_rows.zip(plan.deleted_rows);
        deletion.deleted_rows = total.map(|(sum, rows)| sum.saturating_add(rows));
        Ok(plan)
    }

    /// Copies the other rows of rewritten files and stages a plan. The deleted rows are recorded as changes: at once if
    /// files are rewritten, otherwise at the commit if that has change data files.
    async fn stage_deletion(&mut self, plan: DeletePlan) -> Result<()> {
        let started = now_ms();
        let mut counts = Deletion::default();
        if !plan.rewritten.is_empty() {
            let snapshot = &self.snapshot;
            ensure_appendable(snapshot.configuration()).map_err(|error| self.located(error))?;
            let rows = RowsToWrite::of_plan(&plan);
            let copied = match self.written_before(&rows) {
                Some(files) => files,
                None => self.write_other_rows(&plan).await?,
            };
            self.record_written(rows, &copied);
            counts.added_files = copied.written.adds.len();
            let sizes = copied.written.adds.iter().map(|add| add.size);
            counts.added_bytes = sizes.fold(0, i64::saturating_add);
            counts.copied_rows = copied.copied;
            counts.change_files = copied.changes.len();
            self.proposal.adds.extend(copied.written.adds);
            self.proposal.cdc.extend(copied.changes);
            self.proposal.keeps_row_ids = true;
        } else if self.has_feed()? {
            self.unrecorded.deleted.extend(plan.deleted());
        }
        counts.rewrite_ms = now_ms() - started;
        self.stage_removal(plan, counts).await
    }

    /// Copies the other rows of rewritten files. Readers of a version with change data files use no other file of it, so
    /// that these have all deleted rows.
    async fn write_other_rows(&self, plan: &DeletePlan) -> Result<WrittenFiles> {
        let (snapshot, options) = (&self.snapshot, &self.options);
        let written = copy_rows(snapshot, &plan.rewritten, &self.files, options).await?;
        let changes = match self.has_feed()? {
            true => self.write_deleted(&plan.deleted()).await?,
            false => Vec::new(),
        };
        Ok(WrittenFiles {
            copied: written.rows,
            written,
            changes,
        })
    }

    /// Stages what a plan removes, and adds to the metrics: `counts` has what was written already.
    pub(super) async fn stage_removal(&mut self, plan: DeletePlan, mut counts: Deletion) -> Result<()> {
        let started = now_ms();
        let summary = plan.summary();
        let now = now_ms();
        let removed = plan.removed.iter().map(|file| &file.add);
        for add in removed.chain(plan.rewritten.iter().map(|file| &file.add)) {
            counts.removed_files += 1;
            counts.removed_bytes = counts.removed_bytes.saturating_add(add.size);
            counts.vectors_removed += u64::from(add.deletion_vector.is_some());
            self.proposal.removes.push(Remove::of(add, now));
        }
        for file in &plan.changed {
            let replaced = u64::from(file.add.deletion_vector.is_some());
            counts.vectors_removed += replaced;
            counts.vectors_updated += replaced;
            counts.vectors_added += 1;
        }
        self.stage_vectors(plan.changed).await?;
        if let Some(deletion) = &mut self.deletion {
            deletion.removed_files += counts.removed_files;
            deletion.removed_bytes = deletion.removed_bytes.saturating_add(counts.removed_bytes);
            deletion.rewritten_files += summary.rewritten_files;
            deletion.rewritten_bytes = deletion.rewritten_bytes.saturating_add(summary.rewritten_bytes);
            deletion.added_files += counts.added_files;
            deletion.added_bytes = deletion.added_bytes.saturating_add(counts.added_bytes);
            deletion.copied_rows += counts.copied_rows;
            deletion.change_files += counts.change_files;
            deletion.vectors_added += counts.vectors_added;
            deletion.vectors_removed += counts.vectors_removed;
            deletion.vectors_updated += counts.vectors_updated;
            deletion.rewrite_ms += counts.rewrite_ms + now_ms() - started;
        }
        Ok(())
    }
}
