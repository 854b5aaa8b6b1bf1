//! Times in the old form of 96 bits, which Arrow takes for nanoseconds, whose range ends in the year 2262.
//!
//! Struct statistics and partition values of checkpoints hold them; read as microseconds every year of the table fits.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type;
use parquet::errors::Result;

/// The same metadata with such columns read as microseconds.
pub(super) fn with_microseconds(
    metadata: ArrowReaderMetadata,
    options: ArrowReaderOptions,
) -> Result<ArrowReaderMetadata> {
    let leaves: Vec<bool> = metadata
        .parquet_schema()
        .columns()
        .iter()
        .map(|column| column.physical_type() == Type::INT96)
        .collect();
    if !leaves.contains(&true) {
        return Ok(metadata);
    }
    let mut leaves = leaves.into_iter();
    let fields = retyped(metadata.schema().fields(), &mut leaves);
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    ArrowReaderMetadata::try_new(
        Arc::clone(metadata.metadata()),
        options.with_schema(Arc::new(schema)),
    )
}

/// Arrow's leaves stand in the order of Parquet's.
fn retyped(fields: &Fields, leaves: &mut impl Iterator<Item = bool>) -> Fields {
    fields.iter().map(|field| retyped_field(field, leaves)).collect()
}

fn retyped_field(field: &FieldRef, leaves: &mut impl Iterator<Item = bool>) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(retyped(fields, leaves)),
        DataType::List(element) => DataType::List(retyped_field(element, leaves)),
        DataType::Map(entries, sorted) => DataType::Map(retyped_field(entries, leaves), *sorted),
        leaf => match (leaves.next(), leaf) {
            (Some(true), DataType::Timestamp(TimeUnit::Nanosecond, zone)) => {
                DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
            }
            _ => leaf.clone(),
        },
    };
    Arc::new(Field::new(field.name(), data_type, field.is_nullable()).with_metadata(field.metadata().clone()))
}
