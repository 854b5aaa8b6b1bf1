//! Reads INT96 timestamps in microseconds: they cover more years than Arrow's default, nanoseconds.

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use parquet::basic::Type as PhysicalType;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

/// Returns a file's Arrow schema with INT96 timestamps in microseconds; `None` if there are no such columns.
pub(crate) fn int96_as_micros(schema: &SchemaRef, parquet: &SchemaDescriptor) -> Option<SchemaRef> {
    int96_as(
        &ArrowType::Timestamp(TimeUnit::Microsecond, None),
        schema,
        parquet,
    )
}

/// Returns a file's Arrow schema with INT96 timestamps as what they are: instants, not local times.
///
/// Protocol: *Delta Data Type to Parquet Type Mappings*.
pub(crate) fn int96_as_instants(schema: &SchemaRef, parquet: &SchemaDescriptor) -> SchemaRef {
    let instant = ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    int96_as(&instant, schema, parquet).unwrap_or_else(|| Arc::clone(schema))
}

fn int96_as(wanted: &ArrowType, schema: &SchemaRef, parquet: &SchemaDescriptor) -> Option<SchemaRef> {
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
        .map(|field| field_as(wanted, field, &mut leaves))
        .collect();
    Some(Arc::new(Schema::new(fields)))
}

fn field_as(wanted: &ArrowType, field: &FieldRef, is_int96: &mut impl Iterator<Item = bool>) -> FieldRef {
    let data_type = match field.data_type() {
        ArrowType::Struct(fields) => ArrowType::Struct(
            fields
                .iter()
                .map(|field| field_as(wanted, field, is_int96))
                .collect(),
        ),
        ArrowType::List(element) => ArrowType::List(field_as(wanted, element, is_int96)),
        ArrowType::LargeList(element) => ArrowType::LargeList(field_as(wanted, element, is_int96)),
        ArrowType::FixedSizeList(element, size) => {
            ArrowType::FixedSizeList(field_as(wanted, element, is_int96), *size)
        }
        ArrowType::Map(entries, sorted) => ArrowType::Map(field_as(wanted, entries, is_int96), *sorted),
        leaf => match (is_int96.next(), leaf) {
            (Some(true), ArrowType::Timestamp(_, None)) => wanted.clone(),
            _ => leaf.clone(),
        },
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}
