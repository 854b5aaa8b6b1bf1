//! Timestamps of the deprecated type INT96, which Arrow reads as nanoseconds, whose range ends in the year
//! 2262.
//!
//! They occur in struct statistics and partition values of checkpoints; read as microseconds, every year of a
//! table is in range.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type;
use parquet::errors::Result;

/// Returns the metadata with such columns read as microseconds.
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

/// Arrow's leaves have the order of Parquet's.
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
