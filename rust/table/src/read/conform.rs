//! A file's columns brought to the types and the order of the table's schema.
//!
//! Protocol: *Delta Data Type to Parquet Type Mappings*. Only what loses nothing is converted.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray, make_array, new_null_array};
use arrow_schema::{ArrowError, DataType as ArrowType, Field, TimeUnit};
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

fn damaged(error: &ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("a column does not fit the table's schema: {error}"),
    )
}

/// The column as the table's type; `path` names it in an error.
pub(super) fn conform(array: &ArrayRef, wanted: &DataType, path: &str) -> Result<ArrayRef> {
    let misfit = || {
        Error::new(
            ErrorKind::CorruptData,
            format!(
                "the file holds {path} as {}, and the table as {wanted}",
                array.data_type()
            ),
        )
        .with("field", path)
        .hint("the file was not written for this table's schema: restore it, or remove it from the table")
    };
    if *array.data_type() == ArrowType::Null {
        return Ok(new_null_array(&wanted.to_arrow()?, array.len()));
    }
    match wanted {
        DataType::Struct(fields) => {
            let rows = array.as_struct_opt().ok_or_else(misfit)?;
            conform_struct(rows, fields, path)
        }
        DataType::Array(element) => {
            let list = as_list(array).ok_or_else(misfit)?;
            let values = conform(list.values(), &element.element_type, &format!("{path}.element"))?;
            let field = Field::new("element", element.element_type.to_arrow()?, element.contains_null);
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
            let keys = conform(map.keys(), &map_type.key_type, &format!("{path}.key"))?;
            let values = conform(map.values(), &map_type.value_type, &format!("{path}.value"))?;
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
        // The gate lets no table with such a column through to its rows.
        DataType::Unknown(_) => Err(match wanted.to_arrow() {
            Err(unknown) => unknown.with("field", path),
            Ok(_) => misfit(),
        }),
        DataType::Primitive(primitive) => {
            let target = primitive.to_arrow()?;
            if *array.data_type() == target {
                return Ok(Arc::clone(array));
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

/// A struct's fields in the table's order; a field that the file does not have is NULL.
pub(super) fn conform_struct(rows: &StructArray, fields: &StructType, path: &str) -> Result<ArrayRef> {
    let ArrowType::Struct(arrow_fields) = DataType::Struct(fields.clone()).to_arrow()? else {
        return Err(Error::new(ErrorKind::CorruptData, "a struct has no fields").with("field", path));
    };
    let columns = fields
        .fields
        .iter()
        .map(|field| {
            let below = format!("{path}.{}", field.name);
            match index_of(
                rows.fields().iter().map(|field| field.name().as_str()),
                &field.name,
            ) {
                Some(index) => conform(rows.column(index), &field.data_type, &below),
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

/// Where a column stands among a file's: by its exact name, else by the only one that differs in case alone.
pub(super) fn index_of<'a>(names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Option<usize> {
    if let Some(index) = names.clone().position(|name| name == wanted) {
        return Some(index);
    }
    let lower = wanted.to_lowercase();
    let mut alike = names.enumerate().filter(|(_, name)| name.to_lowercase() == lower);
    match (alike.next(), alike.next()) {
        (Some((index, _)), None) => Some(index),
        _ => None,
    }
}

fn as_list(array: &ArrayRef) -> Option<ListArray> {
    if let Some(list) = array.as_list_opt::<i32>() {
        return Some(list.clone());
    }
    // Some legacy layouts come out as a map's or struct's twin; everything list-like else is cast.
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
        // A checked cast: a number that does not fit is an error, never another number.
        (A::Int8 | A::Int16 | A::Int32 | A::Int64, A::Int8 | A::Int16 | A::Int32 | A::Int64) => true,
        (A::Float32, A::Float64) => true,
        (A::Binary | A::LargeBinary | A::BinaryView | A::FixedSizeBinary(_), A::Binary | A::Utf8) => true,
        (A::Utf8 | A::LargeUtf8 | A::Utf8View, A::Utf8 | A::Binary) => true,
        (A::Timestamp(TimeUnit::Nanosecond, _), A::Timestamp(TimeUnit::Microsecond, _)) => true,
        (A::Timestamp(_, _), A::Timestamp(TimeUnit::Microsecond, _)) => true,
        (A::Date64, A::Date32) => true,
        (
            A::Decimal32(precision, scale) | A::Decimal64(precision, scale) | A::Decimal128(precision, scale),
            A::Decimal128(to_precision, to_scale),
        ) => scale == to_scale && precision <= to_precision,
        (A::Dictionary(_, value), to) => **value == *to || loses_nothing(value, to),
        _ => false,
    }
}
