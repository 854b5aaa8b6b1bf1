//! One data file: opened, its columns chosen, its rows judged.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow_schema::{ArrowError, DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take;
use deltaic_log::location::without_secrets;
use deltaic_log::parquet_file::ParquetFile;
use deltaic_log::store_error::store_error;
use deltaic_protocol::expr::{Scalar, evaluate};
use deltaic_protocol::partition::value_of;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{Stream, TryStreamExt};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::SchemaDescriptor;

use super::conform::{conform, index_of};
use crate::scan::ScanTask;

/// Opens a task's file; the batches that come hold the scan's columns and only rows that match.
pub(super) async fn open(task: ScanTask) -> Result<impl Stream<Item = Result<RecordBatch>> + Send> {
    let context = Arc::clone(&task.context);
    let located = {
        let (path, version) = (without_secrets(&task.path), context.version);
        move |error: Error| error.with("path", path.as_str()).with("version", version)
    };
    let shown = without_secrets(&task.path);
    let plan = FilePlan::of(&task).map_err(&located)?;
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
    let roots: Vec<usize> = plan
        .from_file
        .iter()
        .filter_map(|field| {
            index_of(
                file_schema.fields().iter().map(|field| field.name().as_str()),
                &field.name,
            )
        })
        .collect();
    let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
    let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(file, metadata)
        .with_projection(mask)
        .with_batch_size(context.batch_size)
        .build()
        .map_err(|error| located(damaged(&error, &shown)))?;
    let (judged, name) = (located.clone(), shown.clone());
    Ok(stream
        .map_err(move |error| located(damaged(&error, &name)))
        .and_then(move |batch| {
            let answer = plan.batch(&batch).map_err(&judged);
            async move { answer }
        })
        .try_filter(|batch| {
            let any = batch.num_rows() > 0;
            async move { any }
        }))
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

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("the data file does not fit the table's schema: {error}"),
    )
}

/// How a file's batches become the scan's.
struct FilePlan {
    /// All columns that are needed: those of the scan and those of the predicate.
    needed: StructType,
    /// Those of them that the file holds, if it is not too old to have them.
    from_file: Vec<StructField>,
    /// Partition values, an array of one row each.
    constants: Vec<(String, ArrayRef)>,
    needed_schema: SchemaRef,
    output_schema: SchemaRef,
    task: ScanTask,
}

impl FilePlan {
    fn of(task: &ScanTask) -> Result<Self> {
        let context = &task.context;
        let mut needed = context.output.clone();
        if let Some((_, predicate)) = &context.predicate {
            for column in predicate.columns() {
                if needed.field(column).is_none()
                    && let Some(field) = context.table_schema.field(column)
                {
                    needed.fields.push(field.clone());
                }
            }
        }
        let is_partition = |field: &StructField| context.partition_columns.contains(&field.name);
        let mut constants = Vec::new();
        // All partition values of a file are judged, asked for or not: one that cannot be read makes the file doubtful.
        for name in &context.partition_columns {
            if let Some(field) = context.table_schema.field(name) {
                let scalar = value_of(field, &task.partition_values)?;
                if let Some(primitive) = field.data_type.as_primitive() {
                    constants.push((name.clone(), Scalar::to_array(scalar.as_ref(), primitive)));
                }
            }
        }
        Ok(Self {
            from_file: needed
                .fields
                .iter()
                .filter(|field| !is_partition(field))
                .cloned()
                .collect(),
            needed_schema: Arc::new(needed.to_arrow()?),
            output_schema: Arc::new(context.output.to_arrow()?),
            needed,
            constants,
            task: task.clone(),
        })
    }

    fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let names = || {
            batch
                .schema_ref()
                .fields()
                .iter()
                .map(|field| field.name().as_str())
        };
        let columns = self
            .needed
            .fields
            .iter()
            .map(|field| {
                if let Some((_, one)) = self.constants.iter().find(|(name, _)| *name == field.name) {
                    return take(one, &UInt32Array::from(vec![0; rows]), None).map_err(failed);
                }
                match index_of(names(), &field.name) {
                    Some(index) => conform(batch.column(index), &field.data_type, &field.name),
                    None => Ok(new_null_array(&field.data_type.to_arrow()?, rows)),
                }
            })
            .collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let needed = RecordBatch::try_new_with_options(Arc::clone(&self.needed_schema), columns, &options)
            .map_err(failed)?;
        let kept = match &self.task.context.predicate {
            None => needed,
            Some((_, predicate)) => {
                let answer: BooleanArray = evaluate(predicate, &needed)?;
                filter_record_batch(&needed, &answer).map_err(failed)?
            }
        };
        let options = RecordBatchOptions::new().with_row_count(Some(kept.num_rows()));
        let asked = self.output_schema.fields().len();
        let columns = kept.columns().iter().take(asked).cloned().collect();
        RecordBatch::try_new_with_options(Arc::clone(&self.output_schema), columns, &options).map_err(failed)
    }
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
