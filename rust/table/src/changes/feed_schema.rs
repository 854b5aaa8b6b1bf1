//! The columns of a change feed: those of the table, and those that describe the change.

use deltaic_protocol::schema::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::change_columns::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION};

/// Returns the same columns, all of them nullable at every level except map keys.
pub(super) fn nullable(schema: &StructType) -> StructType {
    let fields = schema.fields.iter().map(|field| StructField {
        nullable: true,
        data_type: nullable_type(&field.data_type),
        ..field.clone()
    });
    StructType {
        fields: fields.collect(),
    }
}

fn nullable_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(nullable(fields)),
        DataType::Array(array) => DataType::Array(Box::new(ArrayType {
            element_type: nullable_type(&array.element_type),
            contains_null: true,
        })),
        DataType::Map(map) => DataType::Map(Box::new(MapType {
            key_type: nullable_type(&map.key_type),
            value_type: nullable_type(&map.value_type),
            value_contains_null: true,
        })),
        other => other.clone(),
    }
}

/// Returns the table's columns and those that describe the change.
pub(super) fn with_changes(schema: &StructType) -> Result<StructType> {
    let mut fields = schema.fields.clone();
    for (name, data_type, nullable) in [
        (CHANGE_TYPE, PrimitiveType::String, false),
        (COMMIT_VERSION, PrimitiveType::Long, false),
        (COMMIT_TIMESTAMP, PrimitiveType::Timestamp, false),
    ] {
        if schema.field_ignoring_case(name).is_some() {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!("the table has a column {name}, which the change data feed adds"),
            )
            .with("field", name)
            .hint("rename the column"));
        }
        fields.push(StructField::new(name, DataType::Primitive(data_type), nullable));
    }
    Ok(StructType { fields })
}
