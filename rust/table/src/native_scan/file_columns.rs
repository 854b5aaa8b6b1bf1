//! Properties of each file that are in the log but not in the file: one row per file.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::{Files, FilesBatch, WithStatistics};
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::expr::Scalar;
use deltaic_protocol::partition::value_of;
use deltaic_protocol::schema::StructField;
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::scan::ScanTask;

const PARTITION_VALUES: &str = "partition_values";

/// The columns of [`super::NativeScanPlan::files`].
pub(super) fn of(snapshot: &Snapshot, files: &Files) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let schema = schema(snapshot)?;
    let mut first = 0i64;
    let batches = files.batches.iter().map(|batch| {
        let columns = columns(batch, first);
        first = first.saturating_add(i64::try_from(batch.len()).unwrap_or(i64::MAX));
        RecordBatch::try_new(Arc::clone(&schema), columns).map_err(failed)
    });
    let batches = batches.collect::<Result<_>>()?;
    Ok((schema, batches))
}

/// The same columns for the files of tasks, in one batch. Tasks know no modification times, and have no row ids.
pub(super) fn of_tasks(rows_as: &Snapshot, tasks: &[ScanTask]) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let schema = schema(rows_as)?;
    let unknown: ArrayRef = Arc::new(Int64Array::new_null(tasks.len()));
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values((0i64..).take(tasks.len()))),
        Arc::new(Int64Array::from_value(0, tasks.len())),
        Arc::clone(&unknown),
        unknown,
    ];
    if let Some((_, values)) = schema.column_with_name(PARTITION_VALUES) {
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for name in &rows_as.metadata().partition_columns {
            let missing = || Error::internal(format!("the partition column {name:?} has no primitive type"));
            let field = rows_as.schema().field(name).ok_or_else(missing)?;
            let primitive = field.data_type.as_primitive().ok_or_else(missing)?;
            let in_log = StructField {
                name: name_in_log(field, rows_as.column_mapping()).to_owned(),
                ..field.clone()
            };
            let value = |task: &ScanTask| {
                value_of(&in_log, &task.partition_values).map_err(|error| error.with("path", task.path()))
            };
            let column: Vec<Option<Scalar>> = tasks.iter().map(value).collect::<Result<_>>()?;
            arrays.push(Scalar::to_column(&column, primitive));
        }
        let DataType::Struct(fields) = values.data_type() else {
            return Err(Error::internal("partition values are not a struct"));
        };
        columns.push(Arc::new(
            StructArray::try_new(fields.clone(), arrays, None).map_err(failed)?,
        ));
    }
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(failed)?;
    Ok((schema, vec![batch]))
}

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("files cannot be put into columns: {error}"),
    )
}

fn schema(snapshot: &Snapshot) -> Result<SchemaRef> {
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
    Ok(Arc::new(Schema::new(fields)))
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
