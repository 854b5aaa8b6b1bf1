//! Writes what a merge changes in rows of the table: new versions, copies of the other rows of rewritten files, and
//! changes.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray, UInt32Array};
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::take_record_batch;
use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::CommitOptions;
use deltaic_protocol::Result;
use deltaic_protocol::actions::{Add, Cdc};
use deltaic_protocol::row_tracking::RowTracking;
use futures::TryStreamExt;

use super::clauses::{BoundAction, BoundMerge};
use super::matching::{Decision, Matching};
use super::source::{SourceRows, failed, joined};
use crate::read::stream_tasks;
use crate::scan::{Rows, Scan, ScanOptions, ScanTask};
use crate::transaction::TableTransaction;
use crate::transaction::change_data::{ChangeWriter, to_cdc};
use crate::transaction::delete_plan::DeletePlan;
use crate::transaction::matching_rows::positions_of;
use crate::transaction::update::{Assignments, unfit};
use crate::write::{FileContents, TableWriter, WritePlan, Written};

/// The files that a merge writes for rows of the table.
pub(super) struct MergedRows {
    scan: Scan,
    /// The columns of the table, and the row ids if rows have them.
    read: arrow_schema::SchemaRef,
    /// The number of columns of the table.
    columns: usize,
    copies: WritePlan,
    /// For each clause, how it makes new versions of rows; `None` if it deletes them.
    updates: Vec<Option<NewVersions>>,
    writer: TableWriter,
    changes: Option<[ChangeWriter; 3]>,
}

/// How a clause makes new versions of rows.
struct NewVersions {
    assignments: Assignments,
    plan: WritePlan,
}

/// What was written.
#[derive(Default)]
pub(super) struct RowsWritten {
    pub(super) rows: Written,
    pub(super) copied: u64,
    pub(super) changes: Vec<Cdc>,
}

impl MergedRows {
    /// Prepares writing.
    ///
    /// # Errors
    ///
    /// Those of [`WritePlan::try_new`] and [`Assignments::try_new`].
    pub(super) fn try_new(
        merge: &BoundMerge,
        snapshot: &Snapshot,
        allowed_roots: &[String],
        options: &CommitOptions,
        has_feed: bool,
    ) -> Result<Self> {
        let table = snapshot.configuration();
        let row_columns = match RowTracking::of(table)? {
            RowTracking::Enabled(columns) => Some(columns),
            _ => None,
        };
        let updated = FileContents::UpdatedRows(row_columns.clone());
        let copied = FileContents::CopiedRows(row_columns);
        let own = updated.own_columns();
        let scan = Scan::try_new(
            snapshot.clone(),
            ScanOptions {
                row_ids: !own.is_empty(),
                positions: true,
                allowed_roots: allowed_roots.to_vec(),
                ..ScanOptions::default()
            },
        )?;
        let columns = snapshot.schema().fields.len();
        let mut schema = scan.schema().clone();
        schema.fields.truncate(columns);
        schema.fields.extend(own.iter().cloned());
        let read = Arc::new(schema.to_arrow()?);
        let clauses = merge.matched.iter().chain(&merge.not_matched_by_source);
        let empty_text = options.empty_partition_text;
        let updates = clauses.map(|clause| match &clause.action {
            BoundAction::Update(values) => {
                let assignments = Assignments::try_new(snapshot, values.clone(), scan.schema(), &own)?;
                let mut plan = WritePlan::try_new(table, &assignments.written, updated.clone())?;
                plan.expect_new_rows(empty_text);
                Ok(Some(NewVersions { assignments, plan }))
            }
            BoundAction::Insert(_) | BoundAction::Delete => Ok(None),
        });
        let updates: Vec<Option<NewVersions>> = updates.collect::<Result<_>>()?;
        let copies = WritePlan::try_new(table, &read, copied.clone())?;
        let mut writer = TableWriter::of_contents(snapshot, table, &read, copied)?;
        let memory = options.memory.divided(if has_feed { 4 } else { 1 });
        writer.limit_memory(memory);
        let changes = match has_feed {
            true => {
                let of_table: Vec<usize> = (0..columns).collect();
                let before = read.project(&of_table).map_err(|error| unfit(&error))?;
                let stored = writer.completed_schema().fields().len() - own.len();
                let of_table: Vec<usize> = (0..stored).collect();
                let after = writer
                    .completed_schema()
                    .project(&of_table)
                    .map_err(|error| unfit(&error))?;
                let mut changes = [
                    ChangeWriter::try_new(snapshot, table, &before, "update_preimage")?,
                    ChangeWriter::of_new_rows(snapshot, &after, "update_postimage", empty_text)?,
                    ChangeWriter::try_new(snapshot, table, &before, "delete")?,
                ];
                changes.iter_mut().for_each(|writer| writer.limit_memory(memory));
                Some(changes)
            }
            false => None,
        };
        Ok(Self {
            scan,
            read,
            columns,
            copies,
            updates,
            writer,
            changes,
        })
    }

    /// Reads and writes the rows that the plan of a merge changes, and the other rows of rewritten files.
    ///
    /// # Errors
    ///
    /// Those of a scan, of evaluating new values, and of [`TableWriter`].
    pub(super) async fn write(
        &mut self,
        matching: &Matching<'_>,
        source: &SourceRows,
        plan: &DeletePlan,
        progress: &Progress,
    ) -> Result<RowsWritten> {
        let mut written = RowsWritten::default();
        let tasks = self.tasks(matching, plan)?;
        let mut batches = stream_tasks(tasks);
        while let Some(batch) = batches.try_next().await? {
            if batch.num_rows() > 0 {
                written.copied += self.write_batch(&batch, matching, source).await?;
                progress.advance(batch.num_rows());
            }
        }
        written.rows = self.writer.finish().await?;
        for writer in self.changes.iter_mut().flatten() {
            written.changes.extend(to_cdc(writer.finish().await?));
        }
        Ok(written)
    }

    /// The rows to read: of rewritten files all, of others those that are updated, and those whose deletion is recorded.
    fn tasks(&self, matching: &Matching<'_>, plan: &DeletePlan) -> Result<Vec<ScanTask>> {
        let has_feed = self.changes.is_some();
        let mut tasks = Vec::new();
        let of_changed = |add: &Add| -> Result<Option<ScanTask>> {
            let rows = matching.changed(&add.path, |action| {
                has_feed || matches!(action, BoundAction::Update(_))
            })?;
            Ok((!rows.is_empty()).then(|| self.scan.task_of_rows(add, Rows::Only(Arc::new(rows)))))
        };
        for add in plan.without_rewritten() {
            tasks.extend(of_changed(add)?);
        }
        tasks.extend(plan.rewritten.iter().map(|file| {
            let rows = Rows::Without(Arc::new(file.deleted_before()));
            self.scan.task_of_rows(&file.add, rows)
        }));
        Ok(tasks)
    }

    /// Writes the rows of a batch of one file. Returns the number of rows that are copied.
    async fn write_batch(
        &mut self,
        batch: &RecordBatch,
        matching: &Matching<'_>,
        source: &SourceRows,
    ) -> Result<u64> {
        let (path, positions) = positions_of(batch)?;
        let decisions = matching.decisions.get(path).map_or(&[][..], Vec::as_slice);
        let columns = batch.columns().iter().take(self.read.fields().len());
        let rows = RecordBatch::try_new(Arc::clone(&self.read), columns.cloned().collect());
        let rows = rows.map_err(|error| unfit(&error))?;
        // For each row, the clause that applies to it; and for each clause, its rows.
        let mut clause_of: Vec<Option<usize>> = Vec::with_capacity(rows.num_rows());
        let mut of_clause: Vec<Vec<(u32, Decision)>> = vec![Vec::new(); self.updates.len()];
        for (row, position) in (0u32..).zip(positions) {
            let found = decisions.binary_search_by_key(&position, |decision| decision.position);
            let decision = found.ok().and_then(|index| decisions.get(index)).copied();
            clause_of.push(decision.map(|decision| decision.clause));
            if let Some(decision) = decision
                && let Some(rows) = of_clause.get_mut(decision.clause)
            {
                rows.push((row, decision));
            }
        }
        let mut versions = Vec::with_capacity(of_clause.len());
        for (clause, changed) in of_clause.iter().enumerate() {
            versions.push(self.new_versions(clause, &rows, changed, source).await?);
        }
        let copied = clause_of.iter().filter(|clause| clause.is_none()).count() as u64;
        let merged = self.in_order(&rows, &clause_of, &versions)?;
        if merged.num_rows() > 0 {
            for piece in self.writer.pieces(&merged) {
                self.writer.write_completed(&piece).await?;
            }
        }
        Ok(copied)
    }

    /// Makes the new versions of rows to which a clause applies, and records the changes. Returns `None` if there are none,
    /// or if the rows are deleted.
    async fn new_versions(
        &mut self,
        clause: usize,
        rows: &RecordBatch,
        changed: &[(u32, Decision)],
        source: &SourceRows,
    ) -> Result<Option<RecordBatch>> {
        if changed.is_empty() {
            return Ok(None);
        }
        let indices = UInt32Array::from_iter_values(changed.iter().map(|(row, _)| *row));
        let before = take_record_batch(rows, &indices).map_err(|error| unfit(&error))?;
        let of_table: Vec<usize> = (0..self.columns).collect();
        let own = before.project(&of_table).map_err(|error| unfit(&error))?;
        let Some(update) = self.updates.get(clause).and_then(Option::as_ref) else {
            if let Some([_, _, deletes]) = &mut self.changes {
                deletes.write(&own).await?;
            }
            return Ok(None);
        };
        let sources: Option<Vec<u32>> = changed.iter().map(|(_, decision)| decision.source).collect();
        let of_source = match sources {
            Some(sources) => source.take(&sources)?,
            None => source.nulls(changed.len()),
        };
        let over = joined(as_structs(&own)?, of_source)?;
        let after = update.assignments.apply(&before, &over)?;
        let after = update.plan.completed_updates(&after)?;
        if let Some([preimages, postimages, _]) = &mut self.changes {
            preimages.write(&own).await?;
            let stored = after.num_columns() - (before.num_columns() - self.columns);
            let stored: Vec<usize> = (0..stored).collect();
            let stored = after.project(&stored).map_err(|error| unfit(&error))?;
            postimages.write(&stored).await?;
        }
        Ok(Some(after))
    }

    /// Joins copies and new versions in the order of the file, without deleted rows.
    fn in_order(
        &self,
        rows: &RecordBatch,
        clause_of: &[Option<usize>],
        versions: &[Option<RecordBatch>],
    ) -> Result<RecordBatch> {
        let mut parts = vec![self.copies.completed_copies(rows)?];
        let mut place_of = vec![None; versions.len()];
        for (clause, version) in versions.iter().enumerate() {
            if let (Some(version), Some(place)) = (version, place_of.get_mut(clause)) {
                *place = Some(parts.len());
                parts.push(version.clone());
            }
        }
        let mut next = vec![0; parts.len()];
        let mut order = Vec::with_capacity(clause_of.len());
        for (row, clause) in clause_of.iter().enumerate() {
            let Some(clause) = clause else {
                order.push((0, row));
                continue;
            };
            if let Some(part) = place_of.get(*clause).copied().flatten()
                && let Some(next) = next.get_mut(part)
            {
                order.push((part, *next));
                *next += 1;
            }
        }
        let parts: Vec<&RecordBatch> = parts.iter().collect();
        interleave_record_batch(&parts, &order).map_err(|error| failed(&error))
    }

    pub(super) async fn abort(&mut self) {
        self.writer.abort().await;
        for writer in self.changes.iter_mut().flatten() {
            writer.abort().await;
        }
    }

    /// Adds the files that were written to those of the transaction.
    pub(super) fn stage_files(self, transaction: &TableTransaction) {
        transaction.files.append(&self.writer.into_files());
        for writer in self.changes.into_iter().flatten() {
            transaction.files.append(&writer.into_files());
        }
    }
}

fn as_structs(rows: &RecordBatch) -> Result<ArrayRef> {
    let fields = rows.schema_ref().fields().clone();
    let structs = StructArray::try_new_with_length(fields, rows.columns().to_vec(), None, rows.num_rows());
    Ok(Arc::new(structs.map_err(|error| failed(&error))?))
}
