//! Properties of each file that are in the log but not in the file: one row per file.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::{Files, FilesBatch, WithStatistics};
use deltaic_protocol::{Error, ErrorKind, Result};

const PARTITION_VALUES: &str = "partition_values";

/// The columns of [`super::NativeScanPlan::files`].
pub(super) fn of(snapshot: &Snapshot, files: &Files) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let listed = snapshot.files_schema(WithStatistics::None)?;
    let values = listed.column_with_name(PARTITION_VALUES).map(|(_, field)| field);
    let number = |name: &str, nullable: bool| Arc::new(Field::new(name, DataType::Int64, nullable));
    let mut fields: Vec<FieldRef> = vec![
        number("ordinal", false),
        number("modification_time", false),
        number("base_row_id", true),
        number("default_row_commit_version", true),
    ];
    fields
        .extend(values.map(|field| {
            Arc::new(Field::new(PARTITION_VALUES, field.data_type().clone(), true)) as FieldRef
        }));
    let schema = Arc::new(Schema::new(fields));
    let mut first = 0i64;
    let batches = files.batches.iter().map(|batch| {
        let columns = columns(batch, first);
        first = first.saturating_add(i64::try_from(batch.len()).unwrap_or(i64::MAX));
        RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|error| {
            Error::new(
                ErrorKind::CorruptLog,
                format!("files cannot be put into columns: {error}"),
            )
        })
    });
    let batches = batches.collect::<Result<_>>()?;
    Ok((schema, batches))
}

fn columns(batch: &FilesBatch, first: i64) -> Vec<ArrayRef> {
    let rows = 0..batch.len();
    let ordinals = rows
        .clone()
        .filter_map(|row| first.checked_add(i64::try_from(row).ok()?));
    let base: Int64Array = rows.clone().map(|row| batch.adds.base_row_id(row)).collect();
    let version: Int64Array = rows
        .map(|row| batch.adds.default_row_commit_version(row))
        .collect();
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(ordinals)),
        Arc::new(batch.adds.modification_time.clone()),
        Arc::new(base),
        Arc::new(version),
    ];
    let values = batch.partition_values.clone();
    columns.extend(values.map(|values: StructArray| Arc::new(values) as ArrayRef));
    columns
}
