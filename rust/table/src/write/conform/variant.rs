//! Converts incoming variants to the form that files store: unshredded, and valid at every level.
//!
//! Protocol: *Variant Data Type*, *Writer Requirements for Variant Data Type*.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields};
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::read::unshredded;

/// Whether a struct has the columns of a variant: its metadata, and its value or a part of it.
pub(in crate::write) fn is_variant(fields: &Fields) -> bool {
    let has = |name: &str| fields.iter().any(|field| field.name() == name);
    let is_known = |field: &FieldRef| ["metadata", "value", "typed_value"].contains(&field.name().as_str());
    has("metadata") && (has("value") || has("typed_value")) && fields.iter().all(is_known)
}

/// Converts a column to variants without shredding. Values that `counting` masks out are ignored.
///
/// # Errors
///
/// `SchemaMismatch` with the column for an invalid variant.
pub(in crate::write) fn convert_variant(
    array: &ArrayRef,
    path: &str,
    counting: Option<&NullBuffer>,
) -> Result<ArrayRef> {
    let invalid = |what: &str| {
        let message = format!("the column {path} has an invalid variant: {what}");
        Error::new(ErrorKind::SchemaMismatch, message)
            .with("field", path)
            .hint("encode the values as Parquet's variant encoding specifies")
    };
    let plain = arrow_cast::cast(array, &plain_type(array.data_type()));
    let plain = plain.map_err(|error| invalid(&error.to_string()))?;
    let group = plain.as_struct_opt().ok_or_else(|| invalid("it is no struct"))?;
    let nulls = NullBuffer::union(counting, group.nulls());
    let group = StructArray::try_new(group.fields().clone(), group.columns().to_vec(), nulls);
    let group = group.map_err(|error| invalid(&error.to_string()))?;
    unshredded(&group).map_err(|what| invalid(&what))
}

/// The type with nullable fields and plain layouts of text and bytes.
fn plain_type(data_type: &ArrowType) -> ArrowType {
    let plain = |field: &FieldRef| Arc::new(Field::new(field.name(), plain_type(field.data_type()), true));
    match data_type {
        ArrowType::LargeBinary | ArrowType::BinaryView => ArrowType::Binary,
        ArrowType::LargeUtf8 | ArrowType::Utf8View => ArrowType::Utf8,
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(plain).collect()),
        ArrowType::List(element)
        | ArrowType::LargeList(element)
        | ArrowType::ListView(element)
        | ArrowType::LargeListView(element) => ArrowType::List(plain(element)),
        other => other.clone(),
    }
}
