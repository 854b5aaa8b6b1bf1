//! Converts a file's columns to the types and the field order of the table's schema.
//!
//! Protocol: *Delta Data Type to Parquet Type Mappings*. Only lossless conversions are allowed.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray, make_array, new_null_array};
use arrow_schema::{ArrowError, DataType as ArrowType, TimeUnit};
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::find::find;
use super::unfit::UNFIT;
use super::variant::conform_variant;
use super::widen::widen;

fn damaged(error: &ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("a column does not fit the table's schema: {error}"),
    )
    .hint(UNFIT)
}

/// Converts a column to the table's type, or to views if it consists of views. `path` names it in errors; the mode
/// determines how its fields are found.
pub(crate) fn conform(
    array: &ArrayRef,
    wanted: &DataType,
    path: &str,
    mode: ColumnMappingMode,
) -> Result<ArrayRef> {
    let misfit = || {
        Error::new(
            ErrorKind::CorruptData,
            format!(
                "{path} is {} in the file and {wanted} in the table",
                array.data_type()
            ),
        )
        .with("field", path)
        .hint(UNFIT)
    };
    if *array.data_type() == ArrowType::Null {
        return Ok(new_null_array(&wanted.to_arrow()?, array.len()));
    }
    match wanted {
        DataType::Struct(fields) => {
            let rows = array.as_struct_opt().ok_or_else(misfit)?;
            conform_struct(rows, fields, path, mode)
        }
        DataType::Array(element) => {
            let list = as_list(array).ok_or_else(misfit)?;
            let values = conform(
                list.values(),
                &element.element_type,
                &format!("{path}.element"),
                mode,
            )?;
            let field = element
                .element_type
                .to_arrow_field("element", element.contains_null)?;
            let rebuilt = ListArray::try_new(
                Arc::new(field),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            );
            Ok(Arc::new(
                rebuilt.map_err(|error| damaged(&error).with("field", path))?,
            ))
        }
        DataType::Map(map_type) => {
            let map = array.as_map_opt().ok_or_else(misfit)?;
            let ArrowType::Map(entries, sorted) = wanted.to_arrow()? else {
                return Err(misfit());
            };
            let ArrowType::Struct(names) = entries.data_type() else {
                return Err(misfit());
            };
            let keys = conform(map.keys(), &map_type.key_type, &format!("{path}.key"), mode)?;
            let values = conform(map.values(), &map_type.value_type, &format!("{path}.value"), mode)?;
            let pairs = StructArray::try_new(names.clone(), vec![keys, values], None);
            let pairs = pairs.map_err(|error| damaged(&error).with("field", path))?;
            let rebuilt = MapArray::try_new(
                entries,
                map.offsets().clone(),
                pairs,
                map.nulls().cloned(),
                sorted,
            );
            Ok(Arc::new(
                rebuilt.map_err(|error| damaged(&error).with("field", path))?,
            ))
        }
        // The support check rejects tables with such a column before rows are read.
        DataType::Unknown(_) => Err(match wanted.to_arrow() {
            Err(unknown) => unknown.with("field", path),
            Ok(_) => misfit(),
        }),
        DataType::Primitive(PrimitiveType::Variant) => conform_variant(array, path),
        DataType::Primitive(primitive) => {
            let target = primitive.to_arrow()?;
            let is_view =
                |view: &ArrowType, other: &ArrowType| *array.data_type() == *view && target == *other;
            if *array.data_type() == target
                || is_view(&ArrowType::Utf8View, &ArrowType::Utf8)
                || is_view(&ArrowType::BinaryView, &ArrowType::Binary)
            {
                return Ok(Arc::clone(array));
            }
            if let Some(widened) = widen(array, &target) {
                return widened.map_err(|error| damaged(&error).with("field", path));
            }
            if !loses_nothing(array.data_type(), &target) {
                return Err(misfit());
            }
            let options = arrow_cast::CastOptions {
                safe: false,
                ..Default::default()
            };
            arrow_cast::cast_with_options(array, &target, &options)
                .map_err(|error| damaged(&error).with("field", path))
        }
    }
}

/// Converts a struct's fields to the table's order; a field that the file does not have is NULL.
fn conform_struct(
    rows: &StructArray,
    fields: &StructType,
    path: &str,
    mode: ColumnMappingMode,
) -> Result<ArrayRef> {
    let ArrowType::Struct(arrow_fields) = DataType::Struct(fields.clone()).to_arrow()? else {
        return Err(Error::new(ErrorKind::CorruptData, "a struct has no fields").with("field", path));
    };
    let columns = fields
        .fields
        .iter()
        .map(|field| {
            let below = format!("{path}.{}", field.name);
            match find(rows.fields(), field, mode)? {
                Some(index) => conform(rows.column(index), &field.data_type, &below, mode),
                None => Ok(new_null_array(&field.data_type.to_arrow()?, rows.len())),
            }
        })
        .collect::<Result<Vec<_>>>()?;
    let rebuilt = if columns.is_empty() {
        Ok(StructArray::new_empty_fields(rows.len(), rows.nulls().cloned()))
    } else {
        StructArray::try_new(arrow_fields, columns, rows.nulls().cloned())
    };
    Ok(Arc::new(
        rebuilt.map_err(|error| damaged(&error).with("field", path))?,
    ))
}

fn as_list(array: &ArrayRef) -> Option<ListArray> {
    if let Some(list) = array.as_list_opt::<i32>() {
        return Some(list.clone());
    }
    // Some legacy list layouts have the Arrow type of a map or a struct; other list-like types are cast.
    let element = match array.data_type() {
        ArrowType::LargeList(element) | ArrowType::FixedSizeList(element, _) => Arc::clone(element),
        _ => return None,
    };
    let cast = arrow_cast::cast(array, &ArrowType::List(element)).ok()?;
    let data = make_array(cast.to_data());
    data.as_list_opt::<i32>().cloned()
}

fn loses_nothing(from: &ArrowType, to: &ArrowType) -> bool {
    use ArrowType as A;
    match (from, to) {
        // The cast is checked: a number out of range is an error, never another number.
        (A::Int8 | A::Int16 | A::Int32 | A::Int64, A::Int8 | A::Int16 | A::Int32 | A::Int64) => true,
        (A::Binary | A::LargeBinary | A::BinaryView | A::FixedSizeBinary(_), A::Binary | A::Utf8) => true,
        (A::Utf8 | A::LargeUtf8 | A::Utf8View, A::Utf8 | A::Binary) => true,
        (A::Timestamp(TimeUnit::Nanosecond, _), A::Timestamp(TimeUnit::Microsecond, _)) => true,
        (A::Timestamp(_, _), A::Timestamp(TimeUnit::Microsecond, _)) => true,
        (A::Date64, A::Date32) => true,
        (A::Dictionary(_, value), to) => **value == *to || loses_nothing(value, to),
        _ => false,
    }
}
