//! Reads INT96 timestamps in microseconds: they cover more years than Arrow's default, nanoseconds.

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use parquet::basic::Type as PhysicalType;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

/// Returns a file's Arrow schema with INT96 timestamps in microseconds; `None` if there are no such columns.
pub(crate) fn int96_as_micros(schema: &SchemaRef, parquet: &SchemaDescriptor) -> Option<SchemaRef> {
    let is_int96 = |leaf: &ColumnDescPtr| leaf.physical_type() == PhysicalType::INT96;
    if !parquet.columns().iter().any(is_int96) {
        return None;
    }
    // A local INT64 in nanoseconds has the same Arrow type, so leaves are matched: both schemas have them in the same
    // order.
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
