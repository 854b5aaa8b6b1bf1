//! The files that an update writes.

use arrow_array::RecordBatch;
use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::{EmptyPartitionText, StagedFiles};
use deltaic_protocol::Result;
use deltaic_protocol::properties::boolean;
use deltaic_protocol::row_tracking::{MaterializedColumns, RowTracking};
use deltaic_storage::memory_budget::MemoryBudget;
use futures::TryStreamExt;

use super::assigned_fields::to_columns;
use super::assignments::{Assignment, Assignments, bound_to_columns, unfit};
use super::change_data::{ChangeWriter, rows_to_delete, to_cdc};
use super::delete_plan::RewrittenFile;
use super::plan_parts::PlanPart;
use super::rewritten::{RewrittenRows, with_updated};
use crate::rows::written::WrittenFiles;
use crate::scan::{Scan, ScanOptions};
use crate::write::{FileContents, TableWriter};

/// The files that an update writes: the new versions of rows, and the changes if the table records them.
pub(crate) struct UpdatedRows {
    /// How rows are read: with their row ids if they have any.
    options: ScanOptions,
    scan: Scan,
    row_columns: Option<MaterializedColumns>,
    assignments: Assignments,
    rows: TableWriter,
    /// The columns of the table in the rows that are written.
    stored: Vec<usize>,
    /// For each column that is written, whether updated rows keep their values.
    is_kept: Vec<bool>,
    changes: Option<[ChangeWriter; 2]>,
}

impl UpdatedRows {
    pub(crate) fn try_new(
        snapshot: &Snapshot,
        assignments: &[Assignment],
        empty_text: EmptyPartitionText,
    ) -> Result<Self> {
        let table = snapshot.configuration();
        let columns = match RowTracking::of(table)? {
            RowTracking::Enabled(columns) => Some(columns),
            _ => None,
        };
        let contents = FileContents::UpdatedRows(columns.clone());
        let own = contents.own_columns();
        let options = ScanOptions {
            row_ids: !own.is_empty(),
            ..ScanOptions::default()
        };
        let scan = Scan::try_new(snapshot.clone(), options.clone())?;
        let assignments = to_columns(snapshot.schema(), assignments, None)?;
        let values = bound_to_columns(
            snapshot,
            &assignments,
            |value| value.bind(snapshot.schema()),
            |value, field| value.assigned_to(&field.name, &field.data_type),
        )?;
        let assignments = Assignments::try_new(snapshot, values, scan.schema(), &own)?;
        let mut rows = TableWriter::of_contents(snapshot, table, &assignments.written, contents)?;
        rows.expect_new_rows(empty_text);
        let stored = rows.completed_schema().fields().len().saturating_sub(own.len());
        let stored: Vec<usize> = (0..stored).collect();
        let written = rows.completed_schema().fields().iter();
        let is_kept = |name: &str| assignments.keeps(name) && rows.stores_as_given(name);
        let is_kept = written.map(|field| is_kept(field.name())).collect();
        let has_feed = boolean(snapshot.metadata(), "delta.enableChangeDataFeed")?;
        let changes = match has_feed {
            true => {
                let before = assignments.table_schema();
                let after = rows
                    .completed_schema()
                    .project(&stored)
                    .map_err(|error| unfit(&error))?;
                Some([
                    ChangeWriter::try_new(snapshot, table, &before, "update_preimage")?,
                    ChangeWriter::of_new_rows(snapshot, &after, "update_postimage", empty_text)?,
                ])
            }
            false => None,
        };
        Ok(Self {
            options,
            scan,
            row_columns: columns,
            assignments,
            rows,
            stored,
            is_kept,
            changes,
        })
    }

    pub(crate) fn limit_memory(&mut self, memory: MemoryBudget) {
        let writers = if self.changes.is_some() { 3 } else { 1 };
        self.rows.limit_memory(memory.divided(writers));
        for writer in self.changes.iter_mut().flatten() {
            writer.limit_memory(memory.divided(writers));
        }
    }

    /// Reads the rows of a part of a plan and writes their new versions, with the other rows of rewritten files.
    pub(crate) async fn write(&mut self, plan: &PlanPart<'_>, progress: &Progress) -> Result<WrittenFiles> {
        let mut batches = rows_to_delete(&self.scan, &plan.deleted_without_rewriting());
        while let Some(before) = batches.try_next().await? {
            if before.num_rows() == 0 {
                continue;
            }
            let after = self.update(&before).await?;
            self.write_rows(&after).await?;
            progress.advance(before.num_rows());
        }
        let copied = match plan.rewritten.is_empty() {
            true => 0,
            false => self.rewrite(&plan.rewritten, progress).await?,
        };
        let written = self.rows.finish().await?;
        let mut changes = Vec::new();
        for writer in self.changes.iter_mut().flatten() {
            changes.extend(to_cdc(writer.finish().await?));
        }
        Ok(WrittenFiles {
            written,
            copied,
            changes,
        })
    }

    /// Writes the rows of files, updated and copied. Returns the number of copied rows.
    async fn rewrite(&mut self, files: &[&RewrittenFile], progress: &Progress) -> Result<u64> {
        let snapshot = &self.scan.snapshot;
        let scan = Scan::try_new(
            snapshot.clone(),
            ScanOptions {
                positions: true,
                ..self.options.clone()
            },
        )?;
        let contents = FileContents::CopiedRows(self.row_columns.clone());
        let rows = RewrittenRows::try_new(snapshot, files, &self.assignments.read, contents)?;
        let mut batches = RewrittenRows::read(&scan, files);
        let mut copied = 0;
        while let Some(batch) = batches.try_next().await? {
            if batch.num_rows() == 0 {
                continue;
            }
            let (before, copies, is_updated) = rows.divide(&batch)?;
            copied += (batch.num_rows() - before.num_rows()) as u64;
            if before.num_rows() == 0 {
                self.write_rows(&copies).await?;
            } else {
                let after = self.update(&before).await?;
                let merged = with_updated(&copies, &after, &is_updated, &self.is_kept)?;
                self.write_rows(&merged).await?;
            }
            progress.advance(batch.num_rows());
        }
        Ok(copied)
    }

    /// Returns the new versions of rows as they are written, and records the changes.
    async fn update(&mut self, before: &RecordBatch) -> Result<RecordBatch> {
        let after = self.assignments.apply(before, before)?;
        let after = self.rows.completed(&after)?;
        if let Some([preimages, postimages]) = &mut self.changes {
            preimages.write(&self.assignments.of_table(before)?).await?;
            let stored = after.project(&self.stored).map_err(|error| unfit(&error))?;
            postimages.write(&stored).await?;
        }
        Ok(after)
    }

    async fn write_rows(&mut self, rows: &RecordBatch) -> Result<()> {
        for piece in self.rows.pieces(rows) {
            self.rows.write_completed(&piece).await?;
        }
        Ok(())
    }

    pub(crate) async fn abort(&mut self) {
        self.rows.abort().await;
        for writer in self.changes.iter_mut().flatten() {
            writer.abort().await;
        }
    }

    /// Adds the files that were written to those of the transaction.
    pub(crate) fn stage_files(self, staged: &StagedFiles) {
        staged.append(&self.rows.into_files());
        for writer in self.changes.into_iter().flatten() {
            staged.append(&writer.into_files());
        }
    }
}
