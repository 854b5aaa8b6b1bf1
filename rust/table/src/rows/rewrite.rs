//! Rewrites rows of live files: writes the new versions of rows that change, copies of the other rows of rewritten files,
//! and the changes if the table records them.
//!
//! Rows are written in the order of their files. They keep their row ids; the row commit version of a new version is that
//! of the commit.
//!
//! Protocol: *Add File and Remove File*, *Add CDC File*, *Row Tracking*.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, UInt32Array, new_null_array};
use arrow_schema::SchemaRef;
use arrow_select::take::take_record_batch;
use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::StagedFiles;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::schema::StructType;
use deltaic_storage::memory_budget::MemoryBudget;
use futures::TryStreamExt;

use super::assignments::unfit;
use super::decisions::{ClauseRows, Decisions, DividedRows};
use super::plan::plan_parts::PlanPart;
use super::plan::planned_file::PlannedFile;
use super::recorded_changes::RecordedChanges;
use super::row_changes::{RowChanges, RowClause};
use super::row_order::{Version, in_order};
use super::select::Places;
use super::written::WrittenFiles;
use crate::read::stream_to_write;
use crate::scan::{Rows, Scan, ScanOptions, ScanTask};
use crate::write::{COPIED_BYTES, TableWriter, WritePlan};

/// Writes what happens to rows of live files.
pub(crate) struct RowRewriter<'c> {
    changes: &'c RowChanges,
    scan: Scan,
    /// The columns of the table, and the row ids if rows have them, under their names in files.
    read: SchemaRef,
    /// Whether each of these is read; others are NULL, because no new version needs them.
    is_read: Vec<bool>,
    copies: WritePlan,
    writer: TableWriter,
    recorded: Option<RecordedChanges>,
    /// The files of which all rows are written again, which were not read yet.
    whole_files: HashMap<String, Add>,
    /// The file whose rows are being written.
    file: Option<String>,
}

impl<'c> RowRewriter<'c> {
    /// Prepares writing. Without `copies`, no file is rewritten.
    ///
    /// # Errors
    ///
    /// Those of a scan, and of [`WritePlan::try_new`].
    pub(crate) fn try_new(
        snapshot: &Snapshot,
        changes: &'c RowChanges,
        copies: bool,
        memory: MemoryBudget,
    ) -> Result<Self> {
        let own = changes.copied.own_columns();
        let mut schema = StructType::clone(snapshot.schema());
        let mut is_read: Vec<bool> = schema
            .names()
            .map(|column| changes.needs(column, copies))
            .collect();
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
        let of_rows = own.len();
        schema.fields.extend(own);
        is_read.resize(schema.fields.len(), true);
        let (table, read) = (snapshot.configuration(), Arc::new(schema.to_arrow()?));
        let copies = WritePlan::try_new(table, &read, changes.copied.clone())?;
        let mut writer = TableWriter::of_contents(snapshot, table, &read, changes.copied.clone())?;
        let mut recorded = match changes.has_feed {
            true => {
                let completed = copies.completed_schema();
                let stored: Vec<usize> = (0..completed.fields().len() - of_rows).collect();
                let after = completed.project(&stored).map_err(|error| unfit(&error))?;
                Some(RecordedChanges::try_new(snapshot, changes, &after)?)
            }
            false => None,
        };
        let memory = memory.divided(1 + recorded.as_ref().map_or(0, RecordedChanges::writers));
        writer.limit_memory(memory);
        if let Some(recorded) = &mut recorded {
            recorded.limit_memory(memory);
        }
        Ok(Self {
            changes,
            scan,
            read,
            is_read,
            copies,
            writer,
            recorded,
            whole_files: HashMap::new(),
            file: None,
        })
    }

    /// Writes what happens to the rows of a part of a plan. The files are added to `staged`; after a failure there are none.
    ///
    /// # Errors
    ///
    /// Those of a scan, of evaluating new values, and of [`TableWriter`].
    pub(crate) async fn write(
        mut self,
        part: &PlanPart<'_>,
        decisions: &(impl Decisions + Sync),
        (staged, progress): (&StagedFiles, &Progress),
    ) -> Result<WrittenFiles> {
        let written = match self.plan_tasks(part, decisions) {
            Ok(tasks) => self.write_tasks(tasks, decisions, progress).await,
            Err(error) => Err(error),
        };
        self.finish(written, staged).await
    }

    /// The rows to read of the files of a part. Records which of them are rewritten without deleting a row.
    fn plan_tasks(&mut self, part: &PlanPart<'_>, decisions: &impl Decisions) -> Result<Vec<ScanTask>> {
        let mut tasks = Vec::with_capacity(part.files.len());
        for file in &part.files {
            tasks.extend(self.task_of(*file, decisions, None)?);
            let Some(rewritten) = file.rewritten() else {
                continue;
            };
            let deleted = decisions.rows_of(*file, &|clause| self.changes.deletes(clause))?;
            if deleted.is_some_and(|rows| rows.is_empty()) && rewritten.deleted_before().is_empty() {
                let add = rewritten.add.clone();
                self.whole_files.insert(add.path.clone(), add);
            }
        }
        Ok(tasks)
    }

    /// The rows of a file to read: of a rewritten file all that are not deleted, of another those that get new versions or
    /// whose changes are recorded. `None` if there are none.
    ///
    /// # Errors
    ///
    /// `ValueError` for a position that deletion vectors cannot have.
    pub(crate) fn task_of(
        &self,
        file: PlannedFile<'_>,
        decisions: &impl Decisions,
        range: Option<Range<u64>>,
    ) -> Result<Option<ScanTask>> {
        let rows = match file.rewritten() {
            Some(rewritten) => {
                let mut without = rewritten.deleted_before();
                if let Some(rows) = decisions.rows_of(file, &|clause| !self.changes.reads(clause))? {
                    without = without.union(&rows);
                }
                match range {
                    None => Rows::Without(Arc::new(without)),
                    Some(range) => Rows::Within(range, Arc::new(without)),
                }
            }
            None => match decisions.rows_of(file, &|clause| self.changes.reads(clause))? {
                None => return Ok(Some(self.scan.task_of(file.add()))),
                Some(rows) if rows.is_empty() => return Ok(None),
                Some(rows) => Rows::Only(Arc::new(rows)),
            },
        };
        Ok(Some(self.scan.task_of_rows(file.add(), rows)))
    }

    /// Writes the changed and copied rows of tasks. Returns the number of copied rows.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write`].
    pub(crate) async fn write_tasks(
        &mut self,
        tasks: Vec<ScanTask>,
        decisions: &(impl Decisions + Sync),
        progress: &Progress,
    ) -> Result<u64> {
        let mut copied = 0;
        let mut batches = stream_to_write(tasks);
        while let Some(batch) = batches.try_next().await? {
            if batch.num_rows() > 0 {
                self.enter_file(Places::of(&batch)?.path).await?;
                copied += self.write_batch(&batch, decisions).await? as u64;
                progress.advance(batch.num_rows());
            }
        }
        self.writer.end_copy().await?;
        Ok(copied)
    }

    /// Starts with the rows of a file: if all of them are left, chunks of the columns that new versions keep are copied.
    async fn enter_file(&mut self, path: &str) -> Result<()> {
        if self.file.as_deref() == Some(path) {
            return Ok(());
        }
        self.writer.end_copy().await?;
        self.file = Some(path.to_owned());
        match self.whole_files.remove(path) {
            Some(add) => self.writer.begin_copy(&add, &self.changes.kept_columns()).await,
            None => Ok(()),
        }
    }

    /// Writes the rows of a batch of one file. Returns the number of rows that are copied.
    async fn write_batch(
        &mut self,
        batch: &RecordBatch,
        decisions: &(impl Decisions + Sync),
    ) -> Result<usize> {
        if !self.changes.reads_any() {
            // The rows to which clauses apply were not read.
            let copies = self.copies.completed_copies(&self.with_all_columns(batch)?)?;
            self.write_pieces(&copies).await?;
            return Ok(batch.num_rows());
        }
        let mut copied = 0;
        let mut left = vec![batch.clone()];
        while let Some(batch) = left.pop() {
            let places = Places::of(&batch)?;
            let of_file = decisions.of_rows(places.path, places.position(0))?;
            let clauses = self.changes.clauses.len();
            let divided = DividedRows::try_new(places.positions(), of_file, clauses)?;
            let mut of_clauses = divided.of_clause.iter();
            let rows = batch.num_rows();
            if rows > 1 && of_clauses.any(|rows| decisions.exceed(&rows.decisions, COPIED_BYTES)) {
                left.push(batch.slice(rows / 2, rows - rows / 2));
                left.push(batch.slice(0, rows / 2));
                continue;
            }
            copied += divided.copied;
            self.write_divided(&batch, divided, decisions).await?;
        }
        Ok(copied)
    }

    /// Writes rows of a batch of one file, with the clauses that apply to them.
    async fn write_divided(
        &mut self,
        batch: &RecordBatch,
        DividedRows {
            clause_of,
            of_clause,
            copied,
        }: DividedRows,
        decisions: &(impl Decisions + Sync),
    ) -> Result<()> {
        let rows = self.with_all_columns(batch)?;
        let mut versions = Vec::with_capacity(of_clause.len());
        for (clause, changed) in of_clause.iter().enumerate() {
            versions.push(self.new_versions(clause, &rows, changed, decisions).await?);
        }
        let copies = match copied {
            0 => None,
            _ => Some(self.copies.completed_copies(&rows)?),
        };
        let versions = versions.iter().zip(&self.changes.clauses);
        let versions = versions.map(|(rows, clause)| {
            Some(Version {
                rows: rows.as_ref()?,
                is_kept: &clause.update()?.is_kept,
            })
        });
        if let Some(merged) = in_order(copies, &versions.collect::<Vec<_>>(), &clause_of)? {
            self.write_pieces(&merged).await?;
        }
        Ok(())
    }

    async fn write_pieces(&mut self, rows: &RecordBatch) -> Result<()> {
        for piece in self.writer.pieces(rows) {
            self.writer.write_completed(&piece).await?;
        }
        Ok(())
    }

    /// The rows of a batch with all columns; those that are not read are NULL.
    fn with_all_columns(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut read = batch.columns().iter();
        let fields = self.read.fields().iter().zip(&self.is_read);
        let columns = fields.map(|(field, is_read)| {
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
        ClauseRows {
            rows: changed,
            decisions: of_rows,
        }: &ClauseRows,
        decisions: &(impl Decisions + Sync),
    ) -> Result<Option<RecordBatch>> {
        if changed.is_empty() {
            return Ok(None);
        }
        let before = match changed.len() == rows.num_rows() {
            true => rows.clone(),
            false => {
                let indices = UInt32Array::from_iter_values(changed.iter().copied());
                take_record_batch(rows, &indices).map_err(|error| unfit(&error))?
            }
        };
        let columns: Vec<usize> = (0..self.scan.snapshot.schema().fields.len()).collect();
        let of_table = before.project(&columns).map_err(|error| unfit(&error))?;
        let Some(update) = self.changes.clauses.get(clause).and_then(RowClause::update) else {
            if let Some(changes) = &mut self.recorded {
                changes.record_deleted(&of_table).await?;
            }
            return Ok(None);
        };
        let over = decisions.over(&of_table, of_rows)?;
        let after = update.assignments.apply(&before, &over)?;
        let after = update.plan.completed_updates(&after)?;
        if let Some(changes) = &mut self.recorded {
            changes.record_updated(&of_table, &after).await?;
        }
        Ok(Some(after))
    }

    /// Finishes the files and adds them to `staged`, or deletes them after a failure.
    ///
    /// # Errors
    ///
    /// That of `copied`, the number of copied rows, and those of a write.
    pub(crate) async fn finish(mut self, copied: Result<u64>, staged: &StagedFiles) -> Result<WrittenFiles> {
        let finished = async {
            let copied = copied?;
            let written = self.writer.finish().await?;
            let changes = match &mut self.recorded {
                Some(changes) => changes.finish().await?,
                None => Vec::new(),
            };
            Ok(WrittenFiles {
                written,
                copied,
                changes,
            })
        };
        let finished = finished.await;
        match &finished {
            Ok(_) => {
                staged.append(&self.writer.into_files());
                if let Some(changes) = self.recorded {
                    changes.stage_files(staged);
                }
            }
            Err(_) => {
                self.writer.abort().await;
                if let Some(changes) = &mut self.recorded {
                    changes.abort().await;
                }
            }
        }
        finished
    }
}

/// The names of the columns that are read.
fn names_of(schema: &StructType, is_read: &[bool]) -> Vec<String> {
    let columns = schema.names().zip(is_read);
    let read = columns.filter(|(_, is_read)| **is_read);
    read.map(|(name, _)| name.to_owned()).collect()
}
