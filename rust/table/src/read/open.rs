//! One data file: opened, its columns chosen, its rows judged.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use deltaic_log::location::without_secrets;
use deltaic_log::parquet_file::ParquetFile;
use deltaic_log::store_error::store_error;
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{Stream, TryStreamExt};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::SchemaDescriptor;

use super::deletion_vectors::{read_vectors, vectors_of};
use super::file_plan::FilePlan;
use super::find::ensure_ids;
use super::rows::Rows;
use crate::scan::{ScanTask, Selection};

/// Opens a task's file; the batches that come hold the scan's columns and only rows that match.
pub(super) async fn open(task: ScanTask) -> Result<impl Stream<Item = Result<RecordBatch>> + Send> {
    let context = Arc::clone(&task.context);
    let located = {
        let (path, version) = (without_secrets(&task.path), context.version);
        move |error: Error| error.with("path", path.as_str()).with("version", version)
    };
    let shown = without_secrets(&task.path);
    let plan = FilePlan::of(&task).map_err(&located)?;
    let rows = rows_of(&task).await.map_err(&located)?;
    let path = context.location.resolve(&task.path).map_err(&located)?;
    let mut file = ParquetFile::open(Arc::clone(context.location.store()), path)
        .await
        .map_err(|error| located(missing(&error, &shown)))?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load_async(&mut file, options.clone())
        .await
        .map_err(|error| located(damaged(&error, &shown)))?;
    // INT96 covers more years in microseconds than Arrow's default for it does.
    let metadata = match int96_as_micros(metadata.schema(), metadata.parquet_schema()) {
        None => metadata,
        Some(schema) => {
            ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options.with_schema(schema))
                .map_err(|error| located(damaged(&error, &shown)))?
        }
    };
    let file_schema = Arc::clone(metadata.schema());
    ensure_rows(&task, &rows, metadata.metadata()).map_err(&located)?;
    ensure_ids(metadata.parquet_schema().root_schema(), context.column_mapping).map_err(&located)?;
    let roots = plan.roots(file_schema.fields()).map_err(&located)?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
    let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(file, metadata)
        .with_projection(mask)
        .with_batch_size(context.batch_size)
        .build()
        .map_err(|error| located(damaged(&error, &shown)))?;
    let (judged, name) = (located.clone(), shown.clone());
    let mut next_row = 0u64;
    Ok(stream
        .map_err(move |error| located(damaged(&error, &name)))
        .and_then(move |batch| {
            let first = next_row;
            next_row = first.saturating_add(u64::try_from(batch.num_rows()).unwrap_or(u64::MAX));
            let kept = rows.mask(first..next_row);
            let answer = kept
                .and_then(|kept| plan.batch(&batch, first, kept))
                .map_err(&judged);
            async move { answer }
        })
        .try_filter(|batch| {
            let any = batch.num_rows() > 0;
            async move { any }
        }))
}

/// Which rows of the file are asked for; its deletion vectors are read unless that has been done.
async fn rows_of(task: &ScanTask) -> Result<Rows> {
    if !matches!(task.rows, Rows::All) || task.selection == Selection::All {
        return Ok(task.rows.clone());
    }
    let vectors = read_vectors(&task.context.location, vectors_of(task).collect()).await?;
    Ok(Rows::of(&task.selection, &mut vectors.into_iter()))
}

/// Proves that the file has every row that its deletion vector tells of.
fn ensure_rows(task: &ScanTask, rows: &Rows, file: &ParquetMetaData) -> Result<()> {
    match (rows.vector(), task.selection.vectors().next()) {
        (Some(vector), Some(descriptor)) => {
            let has = u64::try_from(file.file_metadata().num_rows()).unwrap_or(0);
            descriptor.check_rows(vector, has)
        }
        _ => Ok(()),
    }
}

fn missing(error: &object_store::Error, path: &str) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::new(
            ErrorKind::CorruptData,
            "a data file is missing: the log names it, and it is not there",
        )
        .hint("restore the file; if a vacuum removed it, the version is too old to be read"),
        other => store_error(other, path),
    }
}

fn damaged(error: &ParquetError, path: &str) -> Error {
    if let ParquetError::External(cause) = error
        && let Some(store) = cause.downcast_ref::<object_store::Error>()
    {
        return missing(store, path);
    }
    Error::new(
        ErrorKind::CorruptData,
        format!("the data file cannot be read: {error}"),
    )
    .hint("the file is truncated or damaged: restore it from a backup")
}

/// The file's Arrow schema with INT96 timestamps in microseconds; none where there are no such columns.
fn int96_as_micros(schema: &SchemaRef, parquet: &SchemaDescriptor) -> Option<SchemaRef> {
    let has_int96 = parquet
        .columns()
        .iter()
        .any(|column| column.physical_type() == PhysicalType::INT96);
    // A local INT64 in nanoseconds has the same Arrow type and must not be taken for one.
    let has_nanos = parquet.columns().iter().any(|column| {
        column.physical_type() == PhysicalType::INT64
            && matches!(column.logical_type_ref(), Some(LogicalType::Timestamp(local)) if !local.is_adjusted_to_u_t_c && local.unit == parquet::basic::TimeUnit::NANOS)
    });
    (has_int96 && !has_nanos).then(|| Arc::new(Schema::new(micros_in_fields(schema.fields()))))
}

fn micros_in_fields(fields: &Fields) -> Fields {
    fields.iter().map(micros_in_field).collect()
}

fn micros_in_field(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        ArrowType::Timestamp(TimeUnit::Nanosecond, None) => ArrowType::Timestamp(TimeUnit::Microsecond, None),
        ArrowType::Struct(fields) => ArrowType::Struct(micros_in_fields(fields)),
        ArrowType::List(element) => ArrowType::List(micros_in_field(element)),
        ArrowType::Map(entries, sorted) => ArrowType::Map(micros_in_field(entries), *sorted),
        other => other.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}
