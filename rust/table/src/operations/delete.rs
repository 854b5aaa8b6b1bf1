//! Deletes the rows that match a predicate.
//!
//! Protocol: *Add File and Remove File*, *Deletion Vectors*, *Add CDC File*.

use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::{CommitOptions, Operation};
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::clock::now_ms;

use super::verb::Verb;
use crate::rows::decisions::SelectedRows;
use crate::rows::plan::delete_plan::DeletePlan;
use crate::rows::row_changes::RowChanges;
use crate::transaction::metrics::Count;
use crate::transaction::{DryRun, TableTransaction};

/// Deletes the rows for which a predicate is true. Files without remaining rows are removed. In other files the rows are
/// deleted by deletion vectors if the table has them enabled; otherwise the remaining rows are copied to new files. Rows
/// staged by the same transaction are not deleted.
///
/// # Errors
///
/// `ConstraintViolation` if the table is append-only; `InvalidPredicate`; `UnsupportedFeature`; `ValueError` if one of
/// the files is already staged; `CorruptData`.
#[derive(Clone, Debug, Default)]
pub struct Delete {
    /// The rows; all of them without one.
    pub predicate: Option<Predicate>,
}

/// What deleting rows does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteSummary {
    /// The number of rows that are deleted; `None` if the log does not have the number of rows of a removed file.
    pub rows: Option<u64>,
    /// The number of files of which no row remains.
    pub removed_files: usize,
    /// The number of files that get a deletion vector.
    pub changed_files: usize,
    /// The number of files whose other rows are copied to new files.
    pub rewritten_files: usize,
    /// The size of the rewritten files in bytes.
    pub rewritten_bytes: i64,
}

impl DeleteSummary {
    pub(super) fn of(plan: &DeletePlan) -> Self {
        let sizes = plan.rewritten.iter().map(|file| file.add.size);
        Self {
            rows: plan.deleted_rows,
            removed_files: plan.removed.len(),
            changed_files: plan.changed.len(),
            rewritten_files: plan.rewritten.len(),
            rewritten_bytes: sizes.fold(0, i64::saturating_add),
        }
    }
}

impl Verb for Delete {
    type Staged = DeleteSummary;

    fn operation(&self) -> Operation {
        Operation::Delete
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        ensure_removable(table)
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<DeleteSummary> {
        transaction.ensure_takes_files()?;
        let plan = transaction.plan_delete(self.predicate.as_ref()).await?;
        let summary = DeleteSummary::of(&plan);
        if !plan.is_empty() {
            transaction.stage_deletion(plan).await?;
        }
        Ok(summary)
    }

    /// Finds the rows, without copying the others.
    async fn preview(&self, snapshot: &Snapshot, _options: CommitOptions) -> Result<DryRun> {
        ensure_removable(snapshot.configuration())?;
        let plan = DeletePlan::try_new(snapshot, self.predicate.as_ref(), &Progress::default()).await?;
        if !plan.rewritten.is_empty() {
            ensure_appendable(snapshot.configuration())?;
        }
        let summary = DeleteSummary::of(&plan);
        Ok(DryRun {
            rows: summary.rows,
            removed_files: summary.removed_files,
            changed_files: summary.changed_files,
            rewritten_files: summary.rewritten_files,
            rewritten_bytes: summary.rewritten_bytes,
            ..DryRun::default()
        })
    }
}

impl TableTransaction {
    /// Finds the rows of a predicate, records that they were read, and plans their deletion.
    pub(super) async fn plan_delete(&mut self, predicate: Option<&Predicate>) -> Result<DeletePlan> {
        let snapshot = self.snapshot.clone();
        let started = now_ms();
        let plan = DeletePlan::try_new(&snapshot, predicate, &self.options.progress).await;
        let plan = plan.map_err(|error| self.located(error))?;
        self.staged.ensure_once(plan.paths())?;
        match predicate {
            Some(predicate) => {
                let bound = predicate.bind(snapshot.schema())?;
                self.staged.read.read_where(Some(&bound));
                // A file without matching rows has no effect on the result.
                self.staged.read.read_files(plan.paths());
            }
            None => self.staged.read.read_whole_table(),
        }
        let described = &mut self.staged.described;
        described.record(Operation::Delete);
        described.predicates.extend(predicate.map(ToString::to_string));
        described
            .metrics
            .add_known(Count::SelectedRows, plan.deleted_rows);
        described.metrics.add(Count::ScanTime, now_ms() - started);
        Ok(plan)
    }

    /// Copies the other rows of rewritten files and stages a plan. The deleted rows are recorded as changes: at once if
    /// files are rewritten, otherwise at the commit if that has change data files.
    async fn stage_deletion(&mut self, plan: DeletePlan) -> Result<()> {
        let started = now_ms();
        if !plan.rewritten.is_empty() {
            ensure_appendable(self.snapshot.configuration()).map_err(|error| self.located(error))?;
            let (changes, selected) = (RowChanges::deletion(&self.snapshot)?, SelectedRows::of(&plan));
            let recorded = if self.has_feed()? { plan.deleted_rows } else { None };
            self.begin_rewriting(&plan, recorded.unwrap_or(0));
            let memory = self.options.memory;
            self.rewrite_rows(&plan, &changes, &selected, memory).await?;
        } else if self.has_feed()? {
            self.staged.unrecorded.deleted.extend(plan.deleted());
        }
        let metrics = &mut self.staged.described.metrics;
        metrics.add(Count::RewriteTime, now_ms() - started);
        self.stage_removal(plan).await
    }
}
