//! The files of a snapshot, as columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, MapArray, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use deltaic_protocol::actions::columns::{AddColumns, ROW_COLUMNS};
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::partition::{parse_texts, unreadable_texts, value_of, values_of_row};
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::statistics::{StatisticsColumns, StatisticsSchema};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::live::failed;
use super::prune::{PruneReport, Pruning, values_in};
use super::statistics::WithStatistics;
use super::{Snapshot, live};
use crate::location::without_secrets;

/// The column of a batch that holds its partition values typed; the log has no column of this name.
pub(super) const TYPED_VALUES: &str = "partition_values_typed";

/// A partition column, and the same under the name that the log's values have.
#[derive(Clone, Debug)]
pub(super) struct PartitionField {
    pub(super) field: StructField,
    pub(super) in_log: StructField,
}

/// Live files of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The files, some in each batch.
    pub batches: Vec<FilesBatch>,
}

/// Some live files: the log's own columns, the partition values typed, and statistics where they were asked for.
#[derive(Clone, Debug)]
pub struct FilesBatch {
    /// The adds, one a row.
    pub adds: AddColumns,
    /// The partition columns, typed; absent for an unpartitioned table.
    pub partition_values: Option<StructArray>,
    /// The statistics, where they were asked for.
    pub statistics: Option<StatisticsColumns>,
    batch: RecordBatch,
}

impl Snapshot {
    /// How many files the table has.
    #[must_use]
    pub fn num_files(&self) -> usize {
        self.adds
            .iter()
            .map(|survivors| survivors.live.count_set_bits())
            .sum()
    }

    /// How many bytes the table's files have.
    pub fn size_in_bytes(&self) -> Result<i64> {
        let mut total = 0i64;
        for survivors in self.adds.iter() {
            let columns = AddColumns::of(&survivors.files.batch)?;
            for row in survivors.live.set_indices() {
                total = total.saturating_add(columns.size.value(row));
            }
        }
        Ok(total)
    }

    /// The files that may hold a row that the predicate matches, all without one. Must be called inside a runtime.
    pub async fn files(&self, predicate: Option<&BoundPredicate>) -> Result<(Files, PruneReport)> {
        let statistics = WithStatistics::None;
        self.prune(Pruning {
            predicate,
            statistics,
        })
        .await
    }

    /// How many rows the table has; none when a file does not say. Must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// `VersionNotFound` if the log files that say so were cleaned up since, and no checkpoint has the version.
    pub async fn num_rows(&self) -> Result<Option<i64>> {
        let (rows, lacks_statistics) = self.counted_rows().await?;
        // Files without `numRecords` have none in a newer checkpoint either.
        if rows.is_some() || !lacks_statistics {
            return Ok(rows);
        }
        match self.reopened().await? {
            Some(again) => Ok(again.counted_rows().await?.0),
            None => Ok(None),
        }
    }

    /// The rows, and whether statistics are missing because the log no longer has them.
    async fn counted_rows(&self) -> Result<(Option<i64>, bool)> {
        let pruning = Pruning {
            predicate: None,
            statistics: WithStatistics::NumRecords,
        };
        let (files, report) = self.prune(pruning).await?;
        self.ensure_places_once(&files)?;
        self.ensure_vectors(&files)?;
        Ok((files.num_rows(), report.lacks_statistics))
    }

    /// The schema of [`FilesBatch::to_batch`], which a table without files has too.
    pub fn files_schema(&self, statistics: WithStatistics) -> Result<Arc<Schema>> {
        let empty = RecordBatch::new_empty(deltaic_protocol::actions::columns::add_schema());
        let maps = AddColumns::of(&empty)?.partition_values;
        let values = typed_struct(&maps, &self.partition_names())?;
        let statistics = match statistics {
            WithStatistics::All => Some(self.no_statistics()?),
            _ => None,
        };
        let batch = FilesBatch::try_new(with_partition_values(&empty, values.as_ref())?, statistics)?;
        Ok(batch.to_batch()?.schema())
    }

    /// The statistics of no file.
    fn no_statistics(&self) -> Result<StatisticsColumns> {
        let wanted = self.statistics_schema(None);
        deltaic_protocol::statistics::StatisticsBuilder::with_capacity(&wanted, 0).finish()
    }

    /// The partition columns under both of their names.
    pub(super) fn partition_names(&self) -> Vec<PartitionField> {
        let named = |field: &StructField| PartitionField {
            field: field.clone(),
            in_log: StructField {
                name: self.name_in_log(field),
                ..field.clone()
            },
        };
        self.partition_fields().into_iter().map(named).collect()
    }

    /// The name that a field has in the log's partition values and statistics.
    fn name_in_log(&self, field: &StructField) -> String {
        name_in_log(field, self.column_mapping).to_owned()
    }

    /// What statistics the columns have: all that can have any, or those at paths of logical names.
    pub(super) fn statistics_schema(&self, paths: Option<&[Vec<String>]>) -> StatisticsSchema {
        let is_partition = |field: &&StructField| self.metadata.partition_columns.contains(&field.name);
        let with_data = StructType {
            fields: self
                .schema
                .fields
                .iter()
                .filter(|field| !is_partition(field))
                .cloned()
                .collect(),
        };
        let name_of = |field: &StructField| self.name_in_log(field);
        match paths {
            None => StatisticsSchema::all(&with_data, &name_of),
            Some(paths) => StatisticsSchema::of_columns(&with_data, &name_of, paths),
        }
    }

    /// Proves that no file's rows would be read twice under two spellings of its path.
    pub fn ensure_places_once(&self, files: &Files) -> Result<()> {
        let batches = files.batches.iter();
        let paths = batches.flat_map(|batch| (0..batch.len()).map(|row| batch.adds.path.value(row)));
        self.location
            .ensure_places_once(paths)
            .map_err(|error| error.with("version", self.version()))
    }

    /// Proves of every file with a deletion vector that the log's word on it can be, as those who count by it need.
    pub fn ensure_vectors(&self, files: &Files) -> Result<()> {
        for batch in &files.batches {
            let vectors = &batch.adds.deletion_vector;
            if vectors.null_count() == vectors.len() {
                continue;
            }
            for row in 0..batch.len() {
                let Some(vector) = batch.adds.descriptor(row) else {
                    continue;
                };
                let located = |error: Error| {
                    error
                        .renamed("path", "vector")
                        .with("path", without_secrets(batch.adds.path.value(row)))
                        .with("version", self.version())
                };
                vector.validate().map_err(located)?;
            }
        }
        Ok(())
    }

    /// Proves that every file's partition values can be read, as those who read the files need; the error names the
    /// first file whose cannot.
    pub fn ensure_partition_values(&self, files: &Files) -> Result<()> {
        let fields = self.partition_names();
        for batch in &files.batches {
            let Some(values) = &batch.partition_values else {
                continue;
            };
            let unreadable = unreadable_values(&batch.adds, values, &fields);
            let Some(row) = unreadable.values().set_indices().next() else {
                continue;
            };
            let texts = values_of_row(&batch.adds.partition_values, row);
            let judged = fields
                .iter()
                .try_for_each(|field| value_of(&field.in_log, &texts).map(|_| ()));
            judged.map_err(|error| error.with("path", batch.adds.path.value(row)))?;
        }
        Ok(())
    }
}

impl Files {
    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batches.iter().map(FilesBatch::len).sum()
    }

    /// Whether there are no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows of all files, deleted ones left out, where each file says how many it has.
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

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Whether there are no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `numRecords` of a file: the rows that its data file holds, deleted ones included; none if the statistics were not
    /// read or have none.
    #[must_use]
    pub fn num_records(&self, row: usize) -> Option<i64> {
        let records = self.statistics.as_ref()?.num_records.as_any();
        let records = records.downcast_ref::<Int64Array>()?;
        (row < records.len() && records.is_valid(row)).then(|| records.value(row))
    }

    /// The files: `path`, `size`, `modification_time`, `partition_values` (typed, absent for an unpartitioned table),
    /// `deletion_vector`; where statistics were read also `num_records`, `tight_bounds` and the structs `min`, `max`
    /// and `null_count` under the schema's names.
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

/// What scans ask about alone.
fn without_row_columns(mut batch: RecordBatch) -> RecordBatch {
    for name in ROW_COLUMNS {
        if let Ok(index) = batch.schema_ref().index_of(name) {
            batch.remove_column(index);
        }
    }
    batch
}

/// The partition values of each row under the table's names and types; none for an unpartitioned table.
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

/// A batch of the log's columns with its typed partition values as one more.
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

/// A batch of the log's columns with its map of texts made a struct of typed columns, or left out where there are none.
pub(super) fn typed_partitions(batch: &RecordBatch, fields: &[PartitionField]) -> Result<RecordBatch> {
    let texts = batch
        .columns()
        .iter()
        .find_map(|column| column.as_map_opt())
        .ok_or_else(|| Error::new(ErrorKind::CorruptLog, "the log's partition values are not there"))?;
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

/// Which files have a partition value that cannot be read, or lack one: they are never pruned, so that a scan
/// meets and refuses them.
pub(super) fn unreadable_values(
    adds: &AddColumns,
    values: &StructArray,
    fields: &[PartitionField],
) -> BooleanArray {
    let mut found = vec![false; adds.path.len()];
    for (field, column) in fields.iter().zip(values.columns()) {
        // What was read as a value can be read.
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
