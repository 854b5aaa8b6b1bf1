//! Stages new values for columns of the rows that match a predicate.
//!
//! The matching rows are deleted as by a deletion, and their new versions are written to new files. They keep their row
//! ids; their row commit version is that of the update.
//!
//! Protocol: *Add File and Remove File*, *Add CDC File*, *Row Tracking*.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::progress::{Progress, Stage};
use deltaic_log::transaction::{EmptyPartitionText, OperationDetails};
use deltaic_protocol::error::nearest;
use deltaic_protocol::expr::{BoundValue, Predicate, ValueExpr};
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::properties::boolean;
use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::clock::now_ms;
use deltaic_storage::memory_budget::MemoryBudget;
use futures::TryStreamExt;

use super::TableTransaction;
use super::change_data::{ChangeWriter, rows_to_delete, to_cdc};
use super::delete::DeleteSummary;
use super::delete_plan::DeletePlan;
use crate::scan::{Scan, ScanOptions};
use crate::write::{FileContents, TableWriter, Written, generated_names};

/// A new value for a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: String,
    /// The value, which may use the columns of the row before the update.
    pub value: ValueExpr,
}

/// What a transaction updated, for the metrics of its commit.
#[derive(Clone, Debug, Default)]
pub(super) struct Updated {
    rows: u64,
    files: usize,
    bytes: i64,
    change_files: usize,
    rewrite_ms: i64,
}

/// The assignments of an update, bound to a table.
struct Assignments {
    /// The columns of the rows that are read: those of the table, then the row ids if rows have them.
    read: SchemaRef,
    /// The rows with new values: without the generated columns that are not set, which the writer computes.
    written: SchemaRef,
    /// For each column that is read, whether it is left out.
    left_out: Vec<bool>,
    /// For each written column, the expression of its new value.
    values: Vec<Option<BoundValue>>,
    /// The number of columns of the table.
    columns: usize,
}

impl Assignments {
    fn try_new(
        snapshot: &Snapshot,
        assignments: &[Assignment],
        scan: &StructType,
        own: &[StructField],
    ) -> Result<Self> {
        let table = snapshot.schema();
        let mut values: Vec<Option<BoundValue>> = vec![None; table.fields.len()];
        for Assignment { column, value } in assignments {
            let index = table.fields.iter().position(|field| field.name == *column);
            let index = index.or_else(|| {
                let same = |field: &StructField| field.name.to_lowercase() == column.to_lowercase();
                table.fields.iter().position(same)
            });
            let slot = index.and_then(|index| values.get_mut(index));
            let slot = slot.ok_or_else(|| unknown(table, column))?;
            if slot.is_some() {
                return Err(invalid(column, format!("the column {column:?} is set twice")));
            }
            let located = |error: Error| error.with("column_to_set", column.as_str());
            let field = index.and_then(|index| table.fields.get(index));
            let field = field.ok_or_else(|| unknown(table, column))?;
            if field.identity()?.is_some() {
                let what = format!(
                    "the identity column {} cannot be updated: its values are generated",
                    field.name
                );
                return Err(Error::new(ErrorKind::SchemaMismatch, what)
                    .with("field", field.name.as_str())
                    .hint("leave the column out of the values to set"));
            }
            let bound = value.bind(table).map_err(located)?;
            *slot = Some(bound.assigned_to(&field.name, &field.data_type)?);
        }
        let arrow = scan.to_arrow()?;
        let generated = generated_names(snapshot.configuration(), table)?;
        let mut fields: Vec<Arc<Field>> = Vec::with_capacity(arrow.fields().len());
        let mut left_out = vec![false; arrow.fields().len()];
        for (index, field) in arrow.fields().iter().take(table.fields.len()).enumerate() {
            let is_set = values.get(index).is_some_and(Option::is_some);
            if !is_set && generated.contains(field.name()) {
                if let Some(slot) = left_out.get_mut(index) {
                    *slot = true;
                }
                continue;
            }
            fields.push(match values.get(index).and_then(Option::as_ref) {
                None => Arc::clone(field),
                Some(value) => Arc::new(Field::new(field.name(), value.data_type().to_arrow()?, true)),
            });
        }
        let own = StructType { fields: own.to_vec() };
        fields.extend(own.to_arrow()?.fields().iter().cloned());
        Ok(Self {
            read: Arc::new(arrow),
            written: Arc::new(Schema::new(fields)),
            left_out,
            values,
            columns: table.fields.len(),
        })
    }

    /// Returns the rows with their new values; their row commit versions are NULL: readers derive the commit's.
    fn apply(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.written.fields().len());
        for (index, column) in rows.columns().iter().enumerate() {
            if self.left_out.get(index) == Some(&true) {
                continue;
            }
            columns.push(match self.values.get(index).and_then(Option::as_ref) {
                Some(value) => value.evaluate(rows)?,
                None if index == self.columns + 1 => new_null_array(column.data_type(), rows.num_rows()),
                None => Arc::clone(column),
            });
        }
        RecordBatch::try_new(Arc::clone(&self.written), columns).map_err(|error| unfit(&error))
    }

    /// The columns of the table in rows that were read.
    fn of_table(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let indices: Vec<usize> = (0..self.columns).collect();
        rows.project(&indices).map_err(|error| unfit(&error))
    }

    fn table_schema(&self) -> Schema {
        let columns = self.read.fields().iter().take(self.columns);
        Schema::new(columns.cloned().collect::<Vec<_>>())
    }
}

fn unfit(error: &ArrowError) -> Error {
    Error::internal(format!("updated rows do not fit their columns: {error}"))
}

fn unknown(table: &StructType, column: &str) -> Error {
    let error = invalid(column, format!("there is no column {column:?} to set"));
    match nearest(column, table.names()) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint("set top-level columns by name; a struct is set as a whole"),
    }
}

fn invalid(column: &str, what: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, what).with("field", column)
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
        allowed_roots: &[String],
    ) -> Result<DeleteSummary> {
        let savepoint = self.savepoint();
        let updated = self.update_where(assignments, predicate, allowed_roots).await;
        if updated.is_err() {
            self.roll_back(savepoint);
        }
        updated
    }

    async fn update_where(
        &mut self,
        assignments: &[Assignment],
        predicate: Option<&Predicate>,
        allowed_roots: &[String],
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
        let mut update = Update::try_new(&snapshot, assignments, allowed_roots, empty_text)?;
        update.limit_memory(self.options.memory);
        let plan = self.plan_delete(predicate, allowed_roots).await?;
        let summary = plan.summary();
        if plan.is_empty() {
            return Ok(summary);
        }
        let started = now_ms();
        let progress = &self.options.progress;
        progress.begin(Stage::Rows, plan.deleted_rows.unwrap_or(0));
        let written = match update.write(&plan, progress).await {
            Ok(written) => written,
            Err(error) => {
                update.abort().await;
                return Err(error);
            }
        };
        let updated = self.updated.get_or_insert_with(Updated::default);
        updated.rows += written.rows.rows;
        updated.files += written.rows.adds.len();
        let sizes = written.rows.adds.iter().map(|add| add.size);
        updated.bytes = sizes.fold(updated.bytes, i64::saturating_add);
        updated.change_files += written.changes.len();
        updated.rewrite_ms += now_ms() - started;
        update.stage_files(self);
        self.proposal.adds.extend(written.rows.adds);
        self.proposal.cdc.extend(written.changes);
        self.proposal.keeps_row_ids = true;
        self.stage_deletion(plan, allowed_roots, false).await?;
        Ok(summary)
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

/// The files that an update writes: the new versions of rows, and the changes if the table records them.
struct Update {
    scan: Scan,
    assignments: Assignments,
    rows: TableWriter,
    /// The columns of the table in the rows that are written.
    stored: Vec<usize>,
    changes: Option<[ChangeWriter; 2]>,
}

/// What an update wrote.
struct UpdateWritten {
    rows: Written,
    changes: Vec<deltaic_protocol::actions::Cdc>,
}

impl Update {
    fn try_new(
        snapshot: &Snapshot,
        assignments: &[Assignment],
        allowed_roots: &[String],
        empty_text: EmptyPartitionText,
    ) -> Result<Self> {
        let table = snapshot.configuration();
        let columns = match RowTracking::of(table)? {
            RowTracking::Enabled(columns) => Some(columns),
            _ => None,
        };
        let contents = FileContents::UpdatedRows(columns);
        let own = contents.own_columns();
        let scan = Scan::try_new(
            snapshot.clone(),
            ScanOptions {
                row_ids: !own.is_empty(),
                allowed_roots: allowed_roots.to_vec(),
                ..ScanOptions::default()
            },
        )?;
        let assignments = Assignments::try_new(snapshot, assignments, scan.schema(), &own)?;
        let mut rows = TableWriter::of_contents(snapshot, table, &assignments.written, contents)?;
        rows.expect_new_rows(empty_text);
        let stored = rows.completed_schema().fields().len().saturating_sub(own.len());
        let stored: Vec<usize> = (0..stored).collect();
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
            scan,
            assignments,
            rows,
            stored,
            changes,
        })
    }

    fn limit_memory(&mut self, memory: MemoryBudget) {
        let writers = if self.changes.is_some() { 3 } else { 1 };
        self.rows.limit_memory(memory.divided(writers));
        for writer in self.changes.iter_mut().flatten() {
            writer.limit_memory(memory.divided(writers));
        }
    }

    /// Reads the rows that a plan deletes and writes their new versions.
    async fn write(&mut self, plan: &DeletePlan, progress: &Progress) -> Result<UpdateWritten> {
        let mut batches = rows_to_delete(&self.scan, &plan.deleted());
        while let Some(before) = batches.try_next().await? {
            if before.num_rows() == 0 {
                continue;
            }
            let after = self.assignments.apply(&before)?;
            progress.advance(before.num_rows());
            let Some([preimages, postimages]) = &mut self.changes else {
                self.rows.write(&after).await?;
                continue;
            };
            let after = self.rows.completed(&after)?;
            self.rows.write_completed(&after).await?;
            preimages.write(&self.assignments.of_table(&before)?).await?;
            let after = after.project(&self.stored).map_err(|error| unfit(&error))?;
            postimages.write(&after).await?;
        }
        let rows = self.rows.finish().await?;
        let mut changes = Vec::new();
        for writer in self.changes.iter_mut().flatten() {
            changes.extend(to_cdc(writer.finish().await?));
        }
        Ok(UpdateWritten { rows, changes })
    }

    async fn abort(&mut self) {
        self.rows.abort().await;
        for writer in self.changes.iter_mut().flatten() {
            writer.abort().await;
        }
    }

    /// Adds the files that were written to those of the transaction.
    fn stage_files(self, transaction: &TableTransaction) {
        transaction.files.append(&self.rows.into_files());
        for writer in self.changes.into_iter().flatten() {
            transaction.files.append(&writer.into_files());
        }
    }
}
