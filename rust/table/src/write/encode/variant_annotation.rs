//! Annotates the groups of variants in the Parquet schema of a file, so that readers recognize them without the table.
//!
//! Parquet: logical type `VARIANT`.

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Schema};
use deltaic_protocol::schema::VARIANT_EXTENSION;
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::LogicalType;
use parquet::errors::Result;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

/// The version of the variant encoding.
const SPECIFICATION: Option<i8> = Some(1);

/// The Parquet schema of a file with these columns.
pub(in crate::write) fn parquet_schema(columns: &Schema) -> Result<SchemaDescriptor> {
    let plain = ArrowSchemaConverter::new().convert(columns)?;
    let parts = plain.root_schema().get_fields().iter().zip(columns.fields());
    let parts: Result<Vec<TypePtr>> = parts.map(|(part, column)| annotated(part, column)).collect();
    let root = Type::group_type_builder(plain.root_schema().name()).with_fields(parts?);
    Ok(SchemaDescriptor::new(Arc::new(root.build()?)))
}

fn annotated(part: &TypePtr, column: &Field) -> Result<TypePtr> {
    match column.data_type() {
        ArrowType::Struct(_) if column.extension_type_name() == Some(VARIANT_EXTENSION) => {
            let annotation = LogicalType::variant(SPECIFICATION);
            regrouped(part, part.get_fields().to_vec(), Some(annotation))
        }
        ArrowType::Struct(fields) => {
            let parts = part.get_fields().iter().zip(fields);
            let parts: Result<Vec<TypePtr>> = parts.map(|(part, field)| annotated(part, field)).collect();
            regrouped(part, parts?, part.get_basic_info().logical_type_ref().cloned())
        }
        ArrowType::List(element) => within_repeated(part, &[element]),
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(parts) => within_repeated(part, &parts.iter().collect::<Vec<_>>()),
            _ => Ok(Arc::clone(part)),
        },
        _ => Ok(Arc::clone(part)),
    }
}

/// Annotates the parts of a list or map, which are in a repeated group.
fn within_repeated(part: &TypePtr, columns: &[&Arc<Field>]) -> Result<TypePtr> {
    let Some(repeated) = part.get_fields().first() else {
        return Ok(Arc::clone(part));
    };
    let parts = repeated.get_fields().iter().zip(columns);
    let parts: Result<Vec<TypePtr>> = parts.map(|(part, column)| annotated(part, column)).collect();
    let logical = |part: &TypePtr| part.get_basic_info().logical_type_ref().cloned();
    let inner = regrouped(repeated, parts?, logical(repeated))?;
    regrouped(part, vec![inner], logical(part))
}

/// The same group with other parts.
fn regrouped(group: &TypePtr, parts: Vec<TypePtr>, logical: Option<LogicalType>) -> Result<TypePtr> {
    let info = group.get_basic_info();
    let mut builder = Type::group_type_builder(info.name())
        .with_repetition(info.repetition())
        .with_converted_type(info.converted_type())
        .with_logical_type(logical)
        .with_fields(parts);
    if info.has_id() {
        builder = builder.with_id(Some(info.id()));
    }
    Ok(Arc::new(builder.build()?))
}
