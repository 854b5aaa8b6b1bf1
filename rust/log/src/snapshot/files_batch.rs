//! Batches of live files: the columns of their adds, and their typed partition values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, MapArray, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use deltaic_protocol::actions::columns::{AddColumns, ROW_COLUMNS};
use deltaic_protocol::partition::{parse_texts, unreadable_texts};
use deltaic_protocol::schema::StructField;
use deltaic_protocol::statistics::StatisticsColumns;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::live;
use super::live::failed;

/// The column of a batch that contains its typed partition values; the log has no column of this name.
pub(super) const TYPED_VALUES: &str = "partition_values_typed";

/// A partition column, and the same column under its name in the log.
#[derive(Clone, Debug)]
pub(super) struct PartitionField {
    pub(super) field: StructField,
    pub(super) in_log: StructField,
}

/// Live files of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The files, in batches.
    pub batches: Vec<FilesBatch>,
}

/// A batch of live files: the log's own columns, the typed partition values, and the requested statistics.
#[derive(Clone, Debug)]
pub struct FilesBatch {
    /// The adds, one per row.
    pub adds: AddColumns,
    /// The typed partition columns; absent for an unpartitioned table.
    pub partition_values: Option<StructArray>,
    /// The statistics, if requested.
    pub statistics: Option<StatisticsColumns>,
    batch: RecordBatch,
}

impl Files {
    /// The number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batches.iter().map(FilesBatch::len).sum()
    }

    /// Whether there are no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of rows of all files, without deleted rows; `None` if a file lacks the count.
    #[must_use]
    pub fn num_rows(&self) -> Option<i64> {
        let mut total = 0i64;
        for batch in &self.batches {
            for row in 0..batch.len() {
                let deleted = batch.adds.cardinality(row).unwrap_or(0);
                let records = batch.num_records(row)?;
                let rows = records.checked_sub(deleted).filter(|rows| *rows >= 0)?;
                total = total.checked_add(rows)?;
            }
        }
        Some(total)
    }

    /// The files as batches of [`FilesBatch::to_batch`].
    pub fn to_batches(&self) -> Result<Vec<RecordBatch>> {
        self.batches.iter().map(FilesBatch::to_batch).collect()
    }
}

impl FilesBatch {
    pub(super) fn try_new(batch: RecordBatch, statistics: Option<StatisticsColumns>) -> Result<Self> {
        Ok(Self {
            adds: AddColumns::of(&batch)?,
            partition_values: values_in(&batch),
            statistics,
            batch,
        })
    }

    /// The number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Whether there are no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `numRecords` of a file: the rows in its data file, including deleted ones; `None` if the statistics were not
    /// read or lack it.
    #[must_use]
    pub fn num_records(&self, row: usize) -> Option<i64> {
        let records = self.statistics.as_ref()?.num_records.as_any();
        let records = records.downcast_ref::<Int64Array>()?;
        (row < records.len() && records.is_valid(row)).then(|| records.value(row))
    }

    /// The files: `path`, `size`, `modification_time`, `partition_values` (typed, absent for an unpartitioned table),
    /// `deletion_vector`; if statistics were read, also `num_records`, `tight_bounds` and the structs `min`, `max` and
    /// `null_count` under the schema's names.
    pub fn to_batch(&self) -> Result<RecordBatch> {
        let batch = values_in_place(&self.batch, self.partition_values.as_ref())?;
        let batch = without_row_columns(batch);
        let Some(statistics) = &self.statistics else {
            return Ok(batch);
        };
        let mut names: Vec<FieldRef> = batch.schema().fields().iter().cloned().collect();
        let mut columns = batch.columns().to_vec();
        for (name, column) in [
            ("num_records", &statistics.num_records),
            ("tight_bounds", &statistics.tight_bounds),
            ("min", &statistics.min),
            ("max", &statistics.max),
            ("null_count", &statistics.null_count),
        ] {
            names.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
            columns.push(Arc::clone(column));
        }
        RecordBatch::try_new(Arc::new(Schema::new(names)), columns).map_err(failed)
    }
}

/// Removes the columns that only scans need.
fn without_row_columns(mut batch: RecordBatch) -> RecordBatch {
    for name in ROW_COLUMNS {
        if let Ok(index) = batch.schema_ref().index_of(name) {
            batch.remove_column(index);
        }
    }
    batch
}

/// The partition values of each row under the table's names and types; `None` for an unpartitioned table.
pub(super) fn typed_struct(texts: &MapArray, fields: &[PartitionField]) -> Result<Option<StructArray>> {
    if fields.is_empty() {
        return Ok(None);
    }
    let columns: Vec<(FieldRef, ArrayRef)> = fields
        .iter()
        .map(|field| {
            let column = parse_texts(&field.in_log, texts)?;
            Ok((
                Arc::new(Field::new(&field.field.name, column.data_type().clone(), true)) as FieldRef,
                column,
            ))
        })
        .collect::<Result<_>>()?;
    Ok(Some(StructArray::from(columns)))
}

/// Appends the typed partition values to a batch of the log's columns.
pub(super) fn with_partition_values(
    batch: &RecordBatch,
    values: Option<&StructArray>,
) -> Result<RecordBatch> {
    let Some(values) = values else {
        return Ok(batch.clone());
    };
    let mut names: Vec<FieldRef> = batch.schema().fields().iter().cloned().collect();
    names.push(Arc::new(Field::new(
        TYPED_VALUES,
        values.data_type().clone(),
        true,
    )));
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(values.clone()));
    RecordBatch::try_new(Arc::new(Schema::new(names)), columns).map_err(failed)
}

/// Replaces the map of partition texts by a struct of typed columns, or removes it for an unpartitioned table.
pub(super) fn typed_partitions(batch: &RecordBatch, fields: &[PartitionField]) -> Result<RecordBatch> {
    let texts = batch
        .columns()
        .iter()
        .find_map(|column| column.as_map_opt())
        .ok_or_else(|| Error::new(ErrorKind::CorruptLog, "the log has no partition values"))?;
    let values = match typed_struct(texts, fields)? {
        Some(values) => {
            let parts = (values.fields().clone(), values.columns().to_vec());
            Some(StructArray::try_new(parts.0, parts.1, texts.nulls().cloned()).map_err(failed)?)
        }
        None => None,
    };
    values_in_place(batch, values.as_ref())
}

fn values_in_place(batch: &RecordBatch, values: Option<&StructArray>) -> Result<RecordBatch> {
    let mut names: Vec<FieldRef> = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        match (field.data_type(), values) {
            (DataType::Map(..), Some(values)) => {
                let data_type = values.data_type().clone();
                names.push(Arc::new(Field::new(field.name(), data_type, field.is_nullable())));
                columns.push(Arc::new(values.clone()));
            }
            (DataType::Map(..), None) => {}
            _ if field.name() == TYPED_VALUES => {}
            _ => {
                names.push(Arc::clone(field));
                columns.push(Arc::clone(column));
            }
        }
    }
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(names)), columns, &options).map_err(live::failed)
}

/// Which files lack a partition value or have one that cannot be parsed: they are never pruned, so that a scan finds
/// and rejects them.
pub(super) fn unreadable_values(
    adds: &AddColumns,
    values: &StructArray,
    fields: &[PartitionField],
) -> BooleanArray {
    let mut found = vec![false; adds.path.len()];
    for (field, column) in fields.iter().zip(values.columns()) {
        // A non-null value was parsed.
        if column.null_count() == 0 {
            continue;
        }
        let unreadable = unreadable_texts(&field.in_log, &adds.partition_values);
        for (row, found) in found.iter_mut().enumerate() {
            *found |= column.is_null(row) && unreadable.value(row);
        }
    }
    BooleanArray::from(found)
}

/// The typed partition values of a batch, if it has them.
pub(super) fn values_in(batch: &RecordBatch) -> Option<StructArray> {
    let column = batch.column_by_name(TYPED_VALUES)?;
    column.as_struct_opt().cloned()
}
