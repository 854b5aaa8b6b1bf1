//! Writes what a merge changes in rows of the table: new versions, copies of the other rows of rewritten files, and
//! changes.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray, UInt32Array, new_null_array};
use arrow_schema::SchemaRef;
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::take_record_batch;
use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::{CommitOptions, StagedFiles};
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::TARGET;
use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::schema::StructType;
use deltaic_storage::unused_memory::release_unused;
use futures::TryStreamExt;

use super::bound_merge::{BoundAction, BoundMerge};
use super::matching::{Decision, Matching};
use super::sides::{failed, joined};
use super::source::SourceRows;
use super::spill::{PlannedFiles, SpilledDecisions};
use crate::read::stream_to_write;
use crate::rows::assignments::{Assignments, unfit};
use crate::rows::change_data::{ChangeWriter, to_cdc};
use crate::rows::plan_parts::PlanPart;
use crate::rows::select::Places;
use crate::rows::written::WrittenFiles;
use crate::scan::{Rows, Scan, ScanOptions, ScanTask};
use crate::write::{FileContents, TableWriter, WritePlan};

/// The files that a merge writes for rows of the table.
pub(super) struct MergedRows {
    scan: Scan,
    /// The columns of the table, and the row ids if rows have them.
    read: SchemaRef,
    /// Whether each of these is read; others are NULL, because no new version needs them.
    is_read: Vec<bool>,
    /// The number of columns of the table.
    columns: usize,
    copies: WritePlan,
    /// For each clause, how it makes new versions of rows; `None` if it deletes them.
    updates: Vec<Option<NewVersions>>,
    writer: TableWriter,
    changes: Option<[ChangeWriter; 3]>,
}

/// What happens to the rows of the table.
pub(super) enum Changes<'a> {
    InMemory(&'a Matching<'a>, &'a SourceRows),
    Spilled(&'a SpilledDecisions<'a>),
}

/// How a clause makes new versions of rows.
struct NewVersions {
    assignments: Assignments,
    plan: WritePlan,
}

impl MergedRows {
    /// Prepares writing. Without `copies`, no file is rewritten.
    ///
    /// # Errors
    ///
    /// Those of [`WritePlan::try_new`] and [`Assignments::try_new`].
    pub(super) fn try_new(
        merge: &BoundMerge,
        snapshot: &Snapshot,
        options: &CommitOptions,
        (copies, has_feed): (bool, bool),
    ) -> Result<Self> {
        let table = snapshot.configuration();
        let row_columns = match RowTracking::of(table)? {
            RowTracking::Enabled(columns) => Some(columns),
            _ => None,
        };
        let updated = FileContents::UpdatedRows(row_columns.clone());
        let copied = FileContents::CopiedRows(row_columns);
        let own = updated.own_columns();
        let columns = snapshot.schema().fields.len();
        let mut schema = StructType::clone(snapshot.schema());
        let clauses = merge.matched.iter().chain(&merge.not_matched_by_source);
        let empty_text = options.empty_partition_text;
        let updates = clauses.map(|clause| match &clause.action {
            BoundAction::Update(values) => {
                let assignments = Assignments::try_new(snapshot, values.clone(), &schema, &own)?;
                let mut plan = WritePlan::try_new(table, &assignments.written, updated.clone())?;
                plan.expect_new_rows(empty_text);
                Ok(Some(NewVersions { assignments, plan }))
            }
            BoundAction::Insert(_) | BoundAction::Delete => Ok(None),
        });
        let updates: Vec<Option<NewVersions>> = updates.collect::<Result<_>>()?;
        let is_needed = |column: &str| {
            let mut updates = updates.iter().flatten();
            copies || has_feed || updates.any(|update| update.assignments.needs(TARGET, column))
        };
        let mut is_read: Vec<bool> = schema.names().map(is_needed).collect();
        let scan = Scan::try_new(
            snapshot.clone(),
            ScanOptions {
                columns: Some(names_of(&schema, &is_read)),
                row_ids: !own.is_empty(),
                positions: true,
                ..ScanOptions::default()
            },
        )?;
        for (field, is_read) in schema.fields.iter_mut().zip(&is_read) {
            field.nullable |= !is_read;
        }
        schema.fields.extend(own.iter().cloned());
        is_read.resize(schema.fields.len(), true);
        let read = Arc::new(schema.to_arrow()?);
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
            is_read,
            columns,
            copies,
            updates,
            writer,
            changes,
        })
    }

    /// Reads and writes the rows that a part of the plan of a merge changes, and the other rows of rewritten files.
    ///
    /// # Errors
    ///
    /// Those of a scan, of evaluating new values, and of [`TableWriter`].
    pub(super) async fn write(
        &mut self,
        changes: &Changes<'_>,
        part: &PlanPart<'_>,
        progress: &Progress,
    ) -> Result<WrittenFiles> {
        let mut files = WrittenFiles::default();
        match changes {
            Changes::InMemory(matching, source) => {
                let tasks = self.tasks(matching, part)?;
                files.copied = self.write_tasks(tasks, matching, source, progress).await?;
            }
            Changes::Spilled(decisions) => {
                let planned = PlannedFiles::of(part, self.changes.is_some());
                for bucket in 0..decisions.buckets().len() {
                    files.copied += self.write_bucket(decisions, bucket, &planned, progress).await?;
                    release_unused();
                }
            }
        }
        files.written = self.writer.finish().await?;
        for writer in self.changes.iter_mut().flatten() {
            files.changes.extend(to_cdc(writer.finish().await?));
        }
        Ok(files)
    }

    /// Writes the changed and copied rows of a bucket. Returns the number of copied rows.
    async fn write_bucket(
        &mut self,
        decisions: &SpilledDecisions<'_>,
        bucket: usize,
        planned: &PlannedFiles<'_>,
        progress: &Progress,
    ) -> Result<u64> {
        let (source, of_files) = decisions.read(bucket)?;
        let matching = Matching::of_decisions(decisions.merge(), &source, of_files);
        let ranges = decisions.buckets().ranges(bucket);
        let tasks = planned.tasks(&self.scan, &matching, &ranges)?;
        self.write_tasks(tasks, &matching, &source, progress).await
    }

    /// Writes the changed and copied rows of tasks. Returns the number of copied rows.
    async fn write_tasks(
        &mut self,
        tasks: Vec<ScanTask>,
        matching: &Matching<'_>,
        source: &SourceRows,
        progress: &Progress,
    ) -> Result<u64> {
        let mut copied = 0;
        let mut batches = stream_to_write(tasks);
        while let Some(batch) = batches.try_next().await? {
            if batch.num_rows() > 0 {
                copied += self.write_batch(&batch, matching, source).await?;
                progress.advance(batch.num_rows());
            }
        }
        Ok(copied)
    }

    /// The rows to read: of rewritten files all, of others those that are updated, and those whose deletion is recorded.
    fn tasks(&self, matching: &Matching<'_>, part: &PlanPart<'_>) -> Result<Vec<ScanTask>> {
        let has_feed = self.changes.is_some();
        let mut tasks = Vec::new();
        let of_changed = |add: &Add| -> Result<Option<ScanTask>> {
            let rows = matching.changed(&add.path, |action| {
                has_feed || matches!(action, BoundAction::Update(_))
            })?;
            Ok((!rows.is_empty()).then(|| self.scan.task_of_rows(add, Rows::Only(Arc::new(rows)))))
        };
        for add in part.without_rewritten() {
            tasks.extend(of_changed(add)?);
        }
        tasks.extend(part.rewritten.iter().map(|file| {
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
        let places = Places::of(batch)?;
        let (path, positions) = (places.path, places.positions());
        let decisions = matching.decisions.get(path).map_or(&[][..], Vec::as_slice);
        let rows = self.with_all_columns(batch)?;
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
        if let Some(merged) = self.in_order(&rows, &clause_of, versions)? {
            for piece in self.writer.pieces(&merged) {
                self.writer.write_completed(&piece).await?;
            }
        }
        Ok(copied)
    }

    /// The rows of a batch with all columns; those that are not read are NULL.
    fn with_all_columns(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut read = batch.columns().iter();
        let columns = self
            .read
            .fields()
            .iter()
            .zip(&self.is_read)
            .map(|(field, is_read)| {
                let column = if *is_read { read.next().cloned() } else { None };
                column.unwrap_or_else(|| new_null_array(field.data_type(), batch.num_rows()))
            });
        RecordBatch::try_new(Arc::clone(&self.read), columns.collect()).map_err(|error| unfit(&error))
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

    /// Joins copies and new versions in the order of the file, without deleted rows. Returns `None` if there are none.
    fn in_order(
        &self,
        rows: &RecordBatch,
        clause_of: &[Option<usize>],
        versions: Vec<Option<RecordBatch>>,
    ) -> Result<Option<RecordBatch>> {
        let mut parts = Vec::new();
        let copies = clause_of.iter().any(Option::is_none);
        if copies {
            parts.push(self.copies.completed_copies(rows)?);
        }
        let mut place_of = vec![None; versions.len()];
        for (version, place) in versions.into_iter().zip(&mut place_of) {
            if let Some(version) = version {
                *place = Some(parts.len());
                parts.push(version);
            }
        }
        if parts.len() < 2 && !copies {
            return Ok(parts.pop());
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
        let joined = interleave_record_batch(&parts, &order).map_err(|error| failed(&error))?;
        Ok(Some(joined).filter(|joined| joined.num_rows() > 0))
    }

    pub(super) async fn abort(&mut self) {
        self.writer.abort().await;
        for writer in self.changes.iter_mut().flatten() {
            writer.abort().await;
        }
    }

    /// Adds the files that were written to those of the transaction.
    pub(super) fn stage_files(self, staged: &StagedFiles) {
        staged.append(&self.writer.into_files());
        for writer in self.changes.into_iter().flatten() {
            staged.append(&writer.into_files());
        }
    }
}

/// The names of the columns that are read.
fn names_of(schema: &StructType, is_read: &[bool]) -> Vec<String> {
    let columns = schema.names().zip(is_read);
    let read = columns.filter(|(_, is_read)| **is_read);
    read.map(|(name, _)| name.to_owned()).collect()
}

fn as_structs(rows: &RecordBatch) -> Result<ArrayRef> {
    let fields = rows.schema_ref().fields().clone();
    let structs = StructArray::try_new_with_length(fields, rows.columns().to_vec(), None, rows.num_rows());
    Ok(Arc::new(structs.map_err(|error| failed(&error))?))
}
