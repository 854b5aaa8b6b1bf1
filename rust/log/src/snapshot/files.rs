//! The files of a snapshot, as columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, MapArray, RecordBatch, StructArray, new_null_array};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use deltaic_protocol::actions::columns::{AddColumns, Statistics, add_schema, remove_schema};
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::partition::{parse_column, texts_of, value_of, values_of_row};
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::statistics::StatisticsColumns;
use deltaic_protocol::{Error, ErrorKind, Result, statistics};

use super::Snapshot;
use super::load::read_commits;
use crate::decode::checkpoint::read_checkpoint;
use crate::reconcile::{Survivors, reconcile};
use crate::skipping::partition_mask;

/// Live files of a snapshot: the log's own columns, and the partition values typed.
#[derive(Clone, Debug)]
pub struct Files {
    /// The adds, one a row.
    pub adds: AddColumns,
    /// The partition columns, typed; absent for an unpartitioned table.
    pub partition_values: Option<StructArray>,
    batch: RecordBatch,
}

/// How many files each step of pruning left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Files of the snapshot.
    pub files: usize,
    /// Files whose partition may hold a matching row.
    pub after_partitions: usize,
    /// Bytes of the snapshot.
    pub bytes: i64,
    /// Bytes of the files that are left.
    pub bytes_after_partitions: i64,
}

fn failed(error: arrow_schema::ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the files cannot be put into columns: {error}"),
    )
}

fn live_rows(survivors: &[Survivors], schema: &Arc<Schema>) -> Result<RecordBatch> {
    let kept: Vec<RecordBatch> = survivors
        .iter()
        .map(|survivors| filter_record_batch(&survivors.batch, &survivors.live).map_err(failed))
        .collect::<Result<_>>()?;
    concat_batches(schema, &kept).map_err(failed)
}

fn without_statistics(batch: &RecordBatch) -> Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    columns.push(new_null_array(&DataType::Utf8, batch.num_rows()));
    RecordBatch::try_new(add_schema(Statistics::Text), columns).map_err(failed)
}

impl Snapshot {
    /// How many files the table has.
    #[must_use]
    pub fn num_files(&self) -> usize {
        self.adds
            .iter()
            .map(|survivors| survivors.live.true_count())
            .sum()
    }

    /// How many bytes the table's files have.
    pub fn size_in_bytes(&self) -> Result<i64> {
        let mut total = 0i64;
        for survivors in self.adds.iter() {
            let columns = AddColumns::of(&survivors.batch)?;
            for row in survivors.live.values().set_indices() {
                total = total.saturating_add(columns.size.value(row));
            }
        }
        Ok(total)
    }

    /// The files whose partition may hold a row that the predicate matches; all without one.
    pub fn files(&self, predicate: Option<&BoundPredicate>) -> Result<(Files, PruneReport)> {
        self.prune(
            live_rows(&self.adds, &add_schema(Statistics::Skipped))?,
            predicate,
        )
    }

    fn prune(&self, batch: RecordBatch, predicate: Option<&BoundPredicate>) -> Result<(Files, PruneReport)> {
        let fields = self.partition_fields();
        let all = Files::of(batch, &fields)?;
        let bytes = all.size_in_bytes();
        let mut report = PruneReport {
            files: all.len(),
            after_partitions: all.len(),
            bytes,
            bytes_after_partitions: bytes,
        };
        let mask = match (predicate, &all.partition_values) {
            (Some(predicate), Some(values)) => {
                partition_mask(predicate, values, &unreadable_values(&all, &fields))?
            }
            _ => None,
        };
        let Some(mask) = mask else {
            return Ok((all, report));
        };
        let kept = Files::of(filter_record_batch(&all.batch, &mask).map_err(failed)?, &fields)?;
        report.after_partitions = kept.len();
        report.bytes_after_partitions = kept.size_in_bytes();
        Ok((kept, report))
    }

    /// As [`Snapshot::files`], with the files' statistics, which are read now: opening leaves them where they are.
    ///
    /// Statistics are a help and no truth, so where the log is damaged by now, or cleaned up, every file is without
    /// them. A store that fails is an error.
    pub async fn files_with_statistics(&self, predicate: Option<&BoundPredicate>) -> Result<Files> {
        let batch = match self.read_statistics().await {
            Ok(batch) => batch,
            Err(error) if error.kind() == ErrorKind::CorruptLog => {
                without_statistics(&live_rows(&self.adds, &add_schema(Statistics::Skipped))?)?
            }
            Err(error) => return Err(error),
        };
        Ok(self.prune(batch, predicate)?.0)
    }

    async fn read_statistics(&self) -> Result<RecordBatch> {
        let checkpoint = match &self.segment.checkpoint {
            Some(files) => Some(
                read_checkpoint(
                    &self.location,
                    files,
                    Statistics::Text,
                    self.options.max_line_bytes,
                )
                .await?,
            ),
            None => None,
        };
        let commits = read_commits(
            &self.location,
            &self.segment.commits,
            Statistics::Text,
            self.options,
        )
        .await?;
        let reconciled = reconcile(&commits, checkpoint.as_ref())?;
        live_rows(&reconciled.adds, &add_schema(Statistics::Text))
    }

    /// How many rows the table has; none when a file does not say, or has a deletion vector.
    pub async fn num_rows(&self) -> Result<Option<i64>> {
        Ok(self.files_with_statistics(None).await?.num_rows())
    }

    /// The tombstones: the log's columns, the partition values typed where the table has partitions.
    pub fn tombstones(&self) -> Result<RecordBatch> {
        let batch = live_rows(&self.tombstones, &remove_schema())?;
        typed_partitions(&batch, &self.partition_fields())
    }
}

impl Files {
    fn of(batch: RecordBatch, fields: &[&StructField]) -> Result<Self> {
        let adds = AddColumns::of(&batch)?;
        let partition_values = typed_struct(&adds.partition_values, fields)?;
        Ok(Self {
            adds,
            partition_values,
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

    /// Proves that every file's partition values can be read, as those who read the files need; the error names the
    /// first file whose cannot.
    pub fn ensure_partition_values(&self, fields: &[&StructField]) -> Result<()> {
        let unreadable = unreadable_values(self, fields);
        let Some(row) = unreadable.values().set_indices().next() else {
            return Ok(());
        };
        let values = values_of_row(&self.adds.partition_values, row);
        let judged = fields
            .iter()
            .try_for_each(|field| value_of(field, &values).map(|_| ()));
        judged.map_err(|error| error.with("path", self.adds.path.value(row)))
    }

    /// Bytes of all files.
    #[must_use]
    pub fn size_in_bytes(&self) -> i64 {
        self.adds
            .size
            .values()
            .iter()
            .fold(0i64, |total, size| total.saturating_add(*size))
    }

    /// Rows of all files, where each says how many it has and none has a deletion vector.
    #[must_use]
    pub fn num_rows(&self) -> Option<i64> {
        let stats = self.adds.stats.as_ref()?;
        let mut total = 0i64;
        for row in 0..self.len() {
            if stats.is_null(row) || self.adds.deletion_vector.is_valid(row) {
                return None;
            }
            total = total.checked_add(statistics::num_records(stats.value(row))?)?;
        }
        Some(total)
    }

    /// The files as one batch: `path`, `size`, `modification_time`, `partition_values` (typed, absent for an
    /// unpartitioned table), `deletion_vector`; where statistics were read also `num_records`, `tight_bounds` and the
    /// structs `min`, `max` and `null_count` under the schema's names.
    pub fn to_batch(&self, schema: &StructType, fields: &[&StructField]) -> Result<RecordBatch> {
        let batch = typed_partitions(&self.batch, fields)?;
        let Some(stats) = &self.adds.stats else {
            return Ok(batch);
        };
        let is_partition = |field: &&StructField| fields.iter().any(|partition| partition.name == field.name);
        let with_data = StructType {
            fields: schema
                .fields
                .iter()
                .filter(|field| !is_partition(field))
                .cloned()
                .collect(),
        };
        let parsed = StatisticsColumns::parse(stats, &with_data)?;
        let mut names: Vec<FieldRef> = batch.schema().fields().iter().cloned().collect();
        let mut columns = batch.columns().to_vec();
        for (name, column) in [
            ("num_records", parsed.num_records),
            ("tight_bounds", parsed.tight_bounds),
            ("min", parsed.min),
            ("max", parsed.max),
            ("null_count", parsed.null_count),
        ] {
            names.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
            columns.push(column);
        }
        RecordBatch::try_new(Arc::new(Schema::new(names)), columns).map_err(failed)
    }
}

fn typed_struct(texts: &MapArray, fields: &[&StructField]) -> Result<Option<StructArray>> {
    if fields.is_empty() {
        return Ok(None);
    }
    let columns: Vec<(FieldRef, ArrayRef)> = fields
        .iter()
        .map(|field| {
            let column = parse_column(field, &texts_of(texts, &field.name))?;
            Ok((
                Arc::new(Field::new(&field.name, column.data_type().clone(), true)) as FieldRef,
                column,
            ))
        })
        .collect::<Result<_>>()?;
    Ok(Some(StructArray::from(columns)))
}

/// The batch with its map of texts made a struct of typed columns, or left out where there are none.
fn typed_partitions(batch: &RecordBatch, fields: &[&StructField]) -> Result<RecordBatch> {
    let mut names: Vec<FieldRef> = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        match field.data_type() {
            DataType::Map(..) => {
                let map = column.as_map();
                if let Some(typed) = typed_struct(map, fields)? {
                    let typed = StructArray::try_new(
                        typed.fields().clone(),
                        typed.columns().to_vec(),
                        map.nulls().cloned(),
                    );
                    let typed = typed.map_err(failed)?;
                    names.push(Arc::new(Field::new(
                        field.name(),
                        typed.data_type().clone(),
                        field.is_nullable(),
                    )));
                    columns.push(Arc::new(typed));
                }
            }
            _ if field.name() == "stats" => {}
            _ => {
                names.push(Arc::clone(field));
                columns.push(Arc::clone(column));
            }
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(names)), columns).map_err(failed)
}

/// Which files have a partition value that cannot be read, or lack one: they are never pruned, so that a scan
/// meets and refuses them.
fn unreadable_values(files: &Files, fields: &[&StructField]) -> BooleanArray {
    let columns = files
        .partition_values
        .as_ref()
        .map(StructArray::columns)
        .unwrap_or_default();
    let suspect = |row: usize| columns.iter().any(|column| column.is_null(row));
    let unreadable = |row: usize| {
        let values = values_of_row(&files.adds.partition_values, row);
        fields.iter().any(|field| value_of(field, &values).is_err())
    };
    (0..files.len())
        .map(|row| Some(suspect(row) && unreadable(row)))
        .collect()
}
