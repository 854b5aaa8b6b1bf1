//! Converts the texts of columns that are declared as `char(n)` or `varchar(n)`, at any depth.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::ArrowError;
use deltaic_protocol::schema::{DeclaredLength, DeclaredType};
use deltaic_protocol::{Error, Result};

use crate::visible_values::visible_within;

/// Texts of one declared length, at any depth of a column.
pub(crate) struct DeclaredTexts<'a> {
    pub(crate) texts: &'a StringArray,
    pub(crate) length: DeclaredLength,
    /// The column, or the part of it.
    pub(crate) path: &'a str,
    /// The texts that are visible; all if `None`. Those inside a NULL row are not.
    pub(crate) visible: Option<&'a NullBuffer>,
}

/// Returns a column with the results of converting its texts of a declared length.
///
/// # Errors
///
/// Those of `convert`.
pub(crate) fn convert_texts(
    column: &ArrayRef,
    declared: &DeclaredType,
    name: &str,
    convert: Convert<'_>,
) -> Result<ArrayRef> {
    converted(column, declared, name, None, convert)
}

/// Converts texts.
type Convert<'c> = &'c dyn Fn(DeclaredTexts<'_>) -> Result<ArrayRef>;

fn converted(
    array: &ArrayRef,
    declared: &DeclaredType,
    path: &str,
    visible: Option<&NullBuffer>,
    convert: Convert<'_>,
) -> Result<ArrayRef> {
    match declared {
        DeclaredType::Other => Ok(Arc::clone(array)),
        DeclaredType::Length(length) => match array.as_string_opt::<i32>() {
            Some(texts) => convert(DeclaredTexts {
                texts,
                length: *length,
                path,
                visible,
            }),
            None => Ok(Arc::clone(array)),
        },
        DeclaredType::Struct(fields) => {
            let Some(rows) = array.as_struct_opt().filter(|rows| rows.num_columns() > 0) else {
                return Ok(Arc::clone(array));
            };
            let visible = NullBuffer::union(visible, rows.nulls());
            let parts = rows.fields().iter().zip(rows.columns());
            let parts = parts.map(|(field, part)| {
                let name = field.name();
                match fields.iter().find(|(declared, _)| declared == name) {
                    Some((_, declared)) => converted(
                        part,
                        declared,
                        &format!("{path}.{name}"),
                        visible.as_ref(),
                        convert,
                    ),
                    None => Ok(Arc::clone(part)),
                }
            });
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let rebuilt = StructArray::try_new(rows.fields().clone(), parts, rows.nulls().cloned());
            Ok(Arc::new(rebuilt.map_err(failed)?))
        }
        DeclaredType::Array(element) => {
            let Some(list) = array.as_list_opt::<i32>() else {
                return Ok(Arc::clone(array));
            };
            let rows = NullBuffer::union(visible, list.nulls());
            let visible = visible_within(list.offsets(), rows.as_ref(), list.values().len());
            let values = converted(
                list.values(),
                element,
                &format!("{path}.element"),
                visible.as_ref(),
                convert,
            )?;
            let (field, offsets, _, nulls) = list.clone().into_parts();
            Ok(Arc::new(
                ListArray::try_new(field, offsets, values, nulls).map_err(failed)?,
            ))
        }
        DeclaredType::Map(key, value) => {
            let Some(map) = array.as_map_opt() else {
                return Ok(Arc::clone(array));
            };
            let rows = NullBuffer::union(visible, map.nulls());
            let visible = visible_within(map.offsets(), rows.as_ref(), map.entries().len());
            let keys = converted(map.keys(), key, &format!("{path}.key"), visible.as_ref(), convert)?;
            let values = converted(
                map.values(),
                value,
                &format!("{path}.value"),
                visible.as_ref(),
                convert,
            )?;
            let (field, offsets, entries, nulls, is_sorted) = map.clone().into_parts();
            let entries = StructArray::try_new(
                entries.fields().clone(),
                vec![keys, values],
                entries.nulls().cloned(),
            );
            let rebuilt = MapArray::try_new(field, offsets, entries.map_err(failed)?, nulls, is_sorted);
            Ok(Arc::new(rebuilt.map_err(failed)?))
        }
    }
}

pub(crate) fn failed(error: ArrowError) -> Error {
    Error::internal(format!("the lengths of texts cannot be applied: {error}"))
}
