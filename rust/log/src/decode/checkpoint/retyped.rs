//! Arrow types of columns that differ from those that the Parquet reader chooses.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescriptor;

/// Returns the metadata with timestamps of the deprecated type INT96 read as microseconds. They occur in
/// struct statistics and partition values of checkpoints. Arrow reads them as nanoseconds, whose range ends
/// in the year 2262; read as microseconds, every year of a table is in range.
pub(super) fn with_microseconds(
    metadata: ArrowReaderMetadata,
    options: ArrowReaderOptions,
) -> Result<ArrowReaderMetadata> {
    let is_int96 = |column: &ColumnDescriptor| column.physical_type() == Type::INT96;
    retyped(metadata, options, is_int96, |found| match found {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
        }
        other => other.clone(),
    })
}

/// Returns the metadata with the strings of a column read as views: batches refer to the decompressed pages
/// instead of copying them.
pub(super) fn with_views(
    metadata: ArrowReaderMetadata,
    options: ArrowReaderOptions,
    path: &str,
) -> Result<ArrowReaderMetadata> {
    let is_at_path = |column: &ColumnDescriptor| column.path().string() == path;
    retyped(metadata, options, is_at_path, |found| match found {
        DataType::Utf8 => DataType::Utf8View,
        other => other.clone(),
    })
}

/// Changes the types of some columns.
fn retyped(
    metadata: ArrowReaderMetadata,
    options: ArrowReaderOptions,
    is_chosen: impl Fn(&ColumnDescriptor) -> bool,
    type_of: impl Fn(&DataType) -> DataType,
) -> Result<ArrowReaderMetadata> {
    let leaves = metadata.parquet_schema().columns().iter();
    let leaves: Vec<bool> = leaves.map(|column| is_chosen(column)).collect();
    if !leaves.contains(&true) {
        return Ok(metadata);
    }
    // Arrow's leaves have the order of Parquet's.
    let mut leaves = leaves.into_iter();
    let mut of_leaf = |found: &DataType| match leaves.next() {
        Some(true) => type_of(found),
        _ => found.clone(),
    };
    let fields = retyped_fields(metadata.schema().fields(), &mut of_leaf);
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    ArrowReaderMetadata::try_new(
        Arc::clone(metadata.metadata()),
        options.with_schema(Arc::new(schema)),
    )
}

fn retyped_fields(fields: &Fields, of_leaf: &mut impl FnMut(&DataType) -> DataType) -> Fields {
    fields.iter().map(|field| retyped_field(field, of_leaf)).collect()
}

fn retyped_field(field: &FieldRef, of_leaf: &mut impl FnMut(&DataType) -> DataType) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(retyped_fields(fields, of_leaf)),
        DataType::List(element) => DataType::List(retyped_field(element, of_leaf)),
        DataType::Map(entries, sorted) => DataType::Map(retyped_field(entries, of_leaf), *sorted),
        leaf => of_leaf(leaf),
    };
    Arc::new(Field::new(field.name(), data_type, field.is_nullable()).with_metadata(field.metadata().clone()))
}
