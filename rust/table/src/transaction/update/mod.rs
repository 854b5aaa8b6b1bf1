//! Stages new values for columns of the rows that match a predicate.
//!
//! Files with deletion vectors keep their other rows: the matching rows are deleted as by a deletion, and their new
//! versions are written to new files. Other files are read once and rewritten, with their rows in the same order. Updated
//! rows keep their row ids; their row commit version is that of the update.
//!
//! Protocol: *Add File and Remove File*, *Add CDC File*, *Row Tracking*.

mod assignments;
mod fields;
mod files;
mod rewritten;

pub use assignments::Assignment;
pub(super) use assignments::{Assignments, bound_to_columns, ensure_no_identity, unfit, unknown};
pub(super) use fields::{path_in, to_columns};

use deltaic_log::progress::Stage;
use deltaic_log::transaction::OperationDetails;
use deltaic_protocol::Result;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_storage::clock::now_ms;

use self::files::Update;
use super::TableTransaction;
use super::delete::{DeleteSummary, Deletion};
use super::delete_plan::{DeletePlan, RewrittenFile};
use super::written_before::{RowsToWrite, WrittenFiles};

/// What a transaction updated, for the metrics of its commit.
#[derive(Clone, Debug, Default)]
pub(super) struct Updated {
    rows: u64,
    files: usize,
    bytes: i64,
    change_files: usize,
    rewrite_ms: i64,
}

impl TableTransaction {
    /// Stages new values for columns of the rows for which a predicate is true, of all rows without one. Values are
    /// computed from the row before the update. After a failure nothing of the call is staged.
    ///
    /// # Errors
    ///
    /// Those of [`TableTransaction::delete`]; `ValueError` for an unknown column; `InvalidPredicate` with the position if
    /// an expression fails for a row; `SchemaMismatch` if a value does not fit its column; `ConstraintViolation` if a new
    /// row violates a constraint.
    pub async fn update(
        &mut self,
        assignments: &[Assignment],
        predicate: Option<&Predicate>,
    ) -> Result<DeleteSummary> {
        let savepoint = self.savepoint();
        let updated = self.update_where(assignments, predicate).await;
        if updated.is_err() {
            self.roll_back(savepoint);
        }
        updated
    }

    async fn update_where(
        &mut self,
        assignments: &[Assignment],
        predicate: Option<&Predicate>,
    ) -> Result<DeleteSummary> {
        let snapshot = self.snapshot.clone();
        ensure_removable(snapshot.configuration())
            .and_then(|()| ensure_appendable(snapshot.configuration()))
            .map_err(|error| self.located(error))?;
        if self.is_done() {
            return Ok(DeleteSummary::default());
        }
        self.ensure_takes_files()?;
        let empty_text = self.options.empty_partition_text;
        let mut update = Update::try_new(&snapshot, assignments, empty_text)?;
        update.limit_memory(self.options.memory);
        let plan = self.plan_delete(predicate).await?;
        let summary = plan.summary();
        if plan.is_empty() {
            return Ok(summary);
        }
        let started = now_ms();
        let rows = RowsToWrite::of_plan(&plan);
        let files = match self.written_before(&rows) {
            Some(files) => files,
            None => self.write_updated(update, &plan).await?,
        };
        self.record_written(rows, &files);
        let updated = self.updated.get_or_insert_with(Updated::default);
        updated.rows += files.written.rows.saturating_sub(files.copied);
        updated.files += files.written.adds.len();
        let sizes = files.written.adds.iter().map(|add| add.size);
        updated.bytes = sizes.fold(updated.bytes, i64::saturating_add);
        updated.change_files += files.changes.len();
        updated.rewrite_ms += now_ms() - started;
        self.proposal.adds.extend(files.written.adds);
        self.proposal.cdc.extend(files.changes);
        self.proposal.keeps_row_ids = true;
        let counts = Deletion {
            copied_rows: files.copied,
            ..Deletion::default()
        };
        self.stage_removal(plan, counts).await?;
        Ok(summary)
    }

    /// Writes the new versions of rows, and copies of the other rows of rewritten files.
    async fn write_updated(&self, mut update: Update, plan: &DeletePlan) -> Result<WrittenFiles> {
        let progress = &self.options.progress;
        let copied = plan.rewritten.iter().map(RewrittenFile::copied_rows);
        let rows = copied.fold(plan.deleted_rows.unwrap_or(0), u64::saturating_add);
        progress.begin(Stage::Rows, rows);
        match update.write(plan, progress).await {
            Ok(files) => {
                update.stage_files(self);
                Ok(files)
            }
            Err(error) => {
                update.abort().await;
                Err(error)
            }
        }
    }

    /// The parameters and metrics of an update, named as by Spark.
    pub(super) fn update_details(&self) -> Option<OperationDetails> {
        let updated = self.updated.as_ref()?;
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let mut details = self.deletion.as_ref()?.details();
        details.metrics.retain(|(name, _)| *name != "numDeletedRows");
        for (name, more) in [
            ("numAddedFiles", count(updated.files)),
            ("numAddedBytes", updated.bytes),
            ("numAddedChangeFiles", count(updated.change_files)),
            ("rewriteTimeMs", updated.rewrite_ms),
            ("executionTimeMs", updated.rewrite_ms),
        ] {
            let metric = details.metrics.iter_mut().find(|(known, _)| *known == name);
            if let Some((_, value)) = metric {
                *value = value.saturating_add(more);
            }
        }
        let rows = i64::try_from(updated.rows).unwrap_or(i64::MAX);
        details.metrics.push(("numUpdatedRows", rows));
        Some(details)
    }
}
