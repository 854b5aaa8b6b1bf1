//! One data file: opened, its columns chosen, its rows judged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use deltaic_log::location::without_secrets;
use deltaic_log::parquet_file::ParquetFile;
use deltaic_log::store_error::store_error;
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{Stream, StreamExt, TryStreamExt};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use super::deletion_vectors::{read_vectors, vectors_of};
use super::file_plan::FilePlan;
use super::find::ensure_ids;
use super::rows::Rows;
use super::weighed::Weighed;
use crate::scan::{ScanTask, Selection};

/// Opens a task's file; the batches that come hold the scan's columns and only rows that match.
pub(super) async fn open(task: ScanTask) -> Result<impl Stream<Item = Result<RecordBatch>> + Send> {
    let context = Arc::clone(&task.context);
    let located = {
        let (path, version) = (without_secrets(&task.path), context.version);
        move |error: Error| error.with("path", path.as_str()).with("version", version)
    };
    let shown = without_secrets(&task.path);
    let mut plan = FilePlan::of(&task).map_err(&located)?;
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
    ensure_sound(metadata.metadata()).map_err(&located)?;
    let claimed = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
    ensure_ids(metadata.parquet_schema().root_schema(), context.column_mapping).map_err(&located)?;
    let roots = plan.roots(file_schema.fields()).map_err(&located)?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
    let file = Weighed::new(file, metadata.metadata());
    let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(file, metadata)
        .with_projection(mask)
        .with_batch_size(context.batch_size)
        .build()
        .map_err(|error| located(damaged(&error, &shown)))?;
    plan.settle(stream.schema().fields()).map_err(&located)?;
    let (judged, name, at_end) = (located.clone(), shown.clone(), located.clone());
    let read = Arc::new(AtomicU64::new(0));
    let rows_read = Arc::clone(&read);
    let end = futures::stream::once(async move {
        match read.load(Ordering::Relaxed) {
            rows if rows == claimed => Ok(None::<RecordBatch>),
            rows => Err(at_end(miscounted(rows, claimed))),
        }
    })
    .try_filter_map(|none| async move { Ok(none) });
    Ok(stream
        .map_err(move |error| located(damaged(&error, &name)))
        .and_then(move |batch| {
            let count = u64::try_from(batch.num_rows()).unwrap_or(u64::MAX);
            let first = rows_read.fetch_add(count, Ordering::Relaxed);
            let kept = rows.mask(first..first.saturating_add(count));
            let answer = kept
                .and_then(|kept| plan.batch(&batch, first, kept))
                .map_err(&judged);
            async move { answer }
        })
        .try_filter(|batch| {
            let any = batch.num_rows() > 0;
            async move { any }
        })
        .chain(end))
}

/// Proves that a footer counts the same rows wherever it counts them, and that its columns can be where it says.
fn ensure_sound(file: &ParquetMetaData) -> Result<()> {
    let mut rows = 0i64;
    for group in file.row_groups() {
        rows = rows.saturating_add(group.num_rows());
        // The Parquet reader takes it for granted that they are not negative.
        let is_sound = |column: &&ColumnChunkMetaData| {
            let dictionary = column.dictionary_page_offset().unwrap_or(0);
            column.data_page_offset() >= 0 && dictionary >= 0 && column.compressed_size() >= 0
        };
        if let Some(column) = group.columns().iter().find(|column| !is_sound(column)) {
            return Err(Error::new(
                ErrorKind::CorruptData,
                "the data file's footer says that a column starts before the file, or has less than no bytes",
            )
            .with("field", column.column_path().string())
            .hint("the file is damaged: restore it from a backup"));
        }
        let flat = group.columns().iter().find(|column| {
            column.column_descr().max_rep_level() == 0 && column.num_values() != group.num_rows()
        });
        if let Some(column) = flat {
            let (said, has) = (group.num_rows(), column.num_values());
            return Err(Error::new(
                ErrorKind::CorruptData,
                format!(
                    "the data file's footer counts {said} rows in a row group, and {has} values in a column"
                ),
            )
            .with("field", column.column_path().string())
            .hint("the file is damaged: restore it from a backup"));
        }
    }
    let claimed = file.file_metadata().num_rows();
    if rows == claimed {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::CorruptData,
        format!("the data file's footer counts {claimed} rows, and {rows} in its row groups"),
    )
    .hint("the file is damaged: restore it from a backup"))
}

/// What a footer counts must be what the pages hold: where they differ, nobody knows which rows are lost.
fn miscounted(read: u64, claimed: u64) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("the data file's footer counts {claimed} rows, and its pages hold {read}"),
    )
    .hint("the file is damaged: restore it from a backup")
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
    // Arrow's texts have 32-bit offsets.
    if error.to_string().contains("overflow decoding byte array") {
        return Error::new(
            ErrorKind::InvalidArgument,
            "a batch of the file's rows holds more than 2 GiB of one column",
        )
        .hint("read fewer rows at a time: scan(…, batch_size=…)");
    }
    Error::new(
        ErrorKind::CorruptData,
        format!("the data file cannot be read: {error}"),
    )
    .hint("the file is truncated or damaged: restore it from a backup")
}

/// The file's Arrow schema with INT96 timestamps in microseconds; none where there are no such columns.
fn int96_as_micros(schema: &SchemaRef, parquet: &SchemaDescriptor) -> Option<SchemaRef> {
    let is_int96 = |leaf: &ColumnDescPtr| leaf.physical_type() == PhysicalType::INT96;
    if !parquet.columns().iter().any(is_int96) {
        return None;
    }
    // A local INT64 in nanoseconds has the same Arrow type: the leaves of both schemas stand in one order.
    let mut leaves = parquet.columns().iter().map(is_int96);
    let fields: Fields = schema
        .fields()
        .iter()
        .map(|field| micros_in_field(field, &mut leaves))
        .collect();
    Some(Arc::new(Schema::new(fields)))
}

fn micros_in_field(field: &FieldRef, is_int96: &mut impl Iterator<Item = bool>) -> FieldRef {
    let data_type = match field.data_type() {
        ArrowType::Struct(fields) => ArrowType::Struct(
            fields
                .iter()
                .map(|field| micros_in_field(field, is_int96))
                .collect(),
        ),
        ArrowType::List(element) => ArrowType::List(micros_in_field(element, is_int96)),
        ArrowType::LargeList(element) => ArrowType::LargeList(micros_in_field(element, is_int96)),
        ArrowType::FixedSizeList(element, size) => {
            ArrowType::FixedSizeList(micros_in_field(element, is_int96), *size)
        }
        ArrowType::Map(entries, sorted) => ArrowType::Map(micros_in_field(entries, is_int96), *sorted),
        leaf => match (is_int96.next(), leaf) {
            (Some(true), ArrowType::Timestamp(TimeUnit::Nanosecond, None)) => {
                ArrowType::Timestamp(TimeUnit::Microsecond, None)
            }
            _ => leaf.clone(),
        },
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}
