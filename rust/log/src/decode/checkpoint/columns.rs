//! Converts Parquet columns of actions of any writer to the log's columns and values.
//!
//! Protocol: *Checkpoint Schema*.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, MapArray, RecordBatch, StructArray, new_null_array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::filter::filter;
use deltaic_protocol::schema::arrow_type_name;
use deltaic_protocol::strict_json::ensure_strict;
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::errors::ParquetError;
use serde::de::DeserializeOwned;

use deltaic_storage::store_error;

pub(super) fn damaged(error: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the checkpoint cannot be read: {error}"),
    )
}

/// Converts an error of the Parquet reader: a failure of the store is reported as such, anything else as
/// damage.
pub(super) fn parquet_failed(error: ParquetError, relative: &str) -> Error {
    if let ParquetError::External(source) = &error {
        match source.downcast_ref::<object_store::Error>() {
            None | Some(object_store::Error::NotFound { .. }) => {}
            Some(object_store::Error::Precondition { .. }) => {
                return damaged("the file was replaced after the table was opened");
            }
            Some(store) => return store_error(store, relative),
        }
    }
    damaged(error)
}

/// Returns the column of an action, which is NULL in rows with another action; `None` if there is no such column.
pub(super) fn column_of<'a>(batch: &'a RecordBatch, action: &str) -> Result<Option<&'a StructArray>> {
    let Some(column) = batch.column_by_name(action) else {
        return Ok(None);
    };
    let rows = column.as_struct_opt();
    rows.map(Some)
        .ok_or_else(|| damaged(format!("{action} is not a struct")))
}

/// Returns the rows with an action, as a struct without nulls; `None` if there are no such rows.
pub(crate) fn rows_of(batch: &RecordBatch, action: &str) -> Result<Option<StructArray>> {
    match column_of(batch, action)? {
        None => Ok(None),
        Some(rows) => selected(rows, present(rows)),
    }
}

/// Returns which rows of an action's column contain the action.
pub(super) fn present(rows: &StructArray) -> BooleanBuffer {
    match rows.nulls() {
        None => BooleanBuffer::new_set(rows.len()),
        Some(nulls) => nulls.inner().clone(),
    }
}

/// Returns some rows of a struct, without nulls; `None` if there are none. The selected rows must not be NULL.
pub(super) fn selected(rows: &StructArray, selection: BooleanBuffer) -> Result<Option<StructArray>> {
    let mut runs = selection.set_slices();
    let rows = match (runs.next(), runs.next()) {
        (None, _) => return Ok(None),
        // Writers group actions by kind: the rows are usually one run, which need not be copied.
        (Some((start, end)), None) => rows.slice(start, end - start),
        _ => {
            let kept = filter(rows, &BooleanArray::new(selection, None)).map_err(damaged)?;
            kept.as_struct().clone()
        }
    };
    let (fields, columns, _) = rows.into_parts();
    StructArray::try_new(fields, columns, None)
        .map(Some)
        .map_err(damaged)
}

/// Converts file actions to the log's names and types, as decoded from commits.
pub(super) fn file_actions(rows: &StructArray, schema: &Arc<Schema>) -> Result<RecordBatch> {
    let columns = schema
        .fields()
        .iter()
        .map(|field| {
            let column = rows.column_by_name(&camel_case(field.name()));
            let column = match column {
                Some(column) => conform(column, field)?,
                None => new_null_array(field.data_type(), rows.len()),
            };
            if !field.is_nullable() && column.null_count() > 0 {
                return Err(damaged(format!(
                    "an action lacks the required field {}",
                    camel_case(field.name())
                )));
            }
            Ok(column)
        })
        .collect::<Result<Vec<_>>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(damaged)
}

fn camel_case(name: &str) -> String {
    // The log has camelCase names: `path_or_inline_dv` is `pathOrInlineDv`.
    let mut upper = false;
    let mut spelled = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                spelled.push(c.to_ascii_uppercase());
                upper = false;
            }
            c => spelled.push(c),
        }
    }
    spelled
}

fn conform(column: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    let wrong = || {
        damaged(format!(
            "{} has the type {}",
            camel_case(field.name()),
            arrow_type_name(column.data_type())
        ))
    };
    match field.data_type() {
        DataType::Map(entries, sorted) => {
            let map = column.as_map_opt().ok_or_else(wrong)?;
            let DataType::Struct(names) = entries.data_type() else {
                return Err(wrong());
            };
            let parts = map.entries().columns().iter().zip(names);
            let parts = parts
                .map(|(part, field)| conform(part, field))
                .collect::<Result<Vec<_>>>()?;
            let pairs = StructArray::try_new(names.clone(), parts, None).map_err(damaged)?;
            let rebuilt = MapArray::try_new(
                Arc::clone(entries),
                map.offsets().clone(),
                pairs,
                map.nulls().cloned(),
                *sorted,
            );
            let rebuilt = rebuilt.map_err(damaged)?;
            ensure_keys_once(&rebuilt, field)?;
            Ok(Arc::new(rebuilt))
        }
        DataType::Struct(names) => {
            let rows = column.as_struct_opt().ok_or_else(wrong)?;
            let parts = names
                .iter()
                .map(|name| match rows.column_by_name(&camel_case(name.name())) {
                    Some(part) => {
                        let part = conform(part, name)?;
                        // A child of a NULL struct may be NULL although its field is not nullable.
                        fill_below_null(part, rows)
                    }
                    None if name.is_nullable() => Ok(new_null_array(name.data_type(), rows.len())),
                    None => Err(damaged(format!(
                        "the column {} is missing",
                        camel_case(name.name())
                    ))),
                });
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let rebuilt =
                StructArray::try_new(names.clone(), parts, rows.nulls().cloned()).map_err(damaged)?;
            Ok(Arc::new(rebuilt))
        }
        wanted if column.data_type() == wanted => Ok(Arc::clone(column)),
        wanted if !is_of_kind(column.data_type(), wanted) => Err(wrong()),
        wanted => {
            let options = arrow_cast::CastOptions {
                safe: false,
                ..Default::default()
            };
            arrow_cast::cast_with_options(column, wanted, &options).map_err(|_| wrong())
        }
    }
}

/// Verifies that no map has a duplicate key, which would make its value ambiguous.
fn ensure_keys_once(maps: &MapArray, field: &Field) -> Result<()> {
    let Some(keys) = maps.keys().as_string_opt::<i32>() else {
        return Ok(());
    };
    let bounds = maps.offsets().windows(2).filter_map(|pair| match pair {
        [start, end] => Some((usize::try_from(*start).ok()?, usize::try_from(*end).ok()?)),
        _ => None,
    });
    let mut many = HashSet::new();
    for (start, end) in bounds {
        // A few keys are compared faster than hashed.
        let mut rows = start..end;
        let reference = if end - start <= 8 {
            rows.find(|row| (start..*row).any(|before| keys.value(before) == keys.value(*row)))
        } else {
            many.clear();
            rows.find(|row| !many.insert(keys.value(*row)))
        };
        if let Some(row) = reference {
            let name = camel_case(field.name());
            return Err(damaged(format!(
                "{name} contains the key {:?} twice",
                keys.value(row)
            )));
        }
    }
    Ok(())
}

/// Whether the types differ only in width or encoding. A cast would convert strings to numbers, and drop
/// fractions.
fn is_of_kind(found: &DataType, wanted: &DataType) -> bool {
    match (found, wanted) {
        (DataType::Dictionary(_, found), wanted) => is_of_kind(found, wanted),
        (found, wanted) if wanted.is_integer() => found.is_integer(),
        // Some writers do not mark their byte columns as strings.
        (found, wanted) if wanted.is_string() => found.is_string() || found.is_binary(),
        (found, DataType::Boolean) => *found == DataType::Boolean,
        _ => true,
    }
}

fn fill_below_null(part: ArrayRef, parent: &StructArray) -> Result<ArrayRef> {
    let lost = part.nulls().is_some_and(|nulls| {
        nulls
            .iter()
            .enumerate()
            .any(|(row, valid)| !valid && parent.is_valid(row))
    });
    if lost {
        // Only `offset` may be NULL in a present descriptor; `try_new` validates the others.
        return Ok(part);
    }
    if part.null_count() == 0 {
        return Ok(part);
    }
    let data = part
        .to_data()
        .into_builder()
        .nulls(None)
        .build()
        .map_err(damaged)?;
    Ok(arrow_array::make_array(data))
}

/// Decodes rare actions by converting them to JSON, so that they are parsed like those of a commit.
pub(super) fn values_of<T: DeserializeOwned>(batch: &RecordBatch, action: &str) -> Result<Vec<T>> {
    let Some(rows) = rows_of(batch, action)? else {
        return Ok(Vec::new());
    };
    // Some writers do not mark their byte columns as strings.
    let text = with_text(&DataType::Struct(rows.fields().clone()));
    let options = arrow_cast::CastOptions {
        safe: false,
        ..Default::default()
    };
    let rows = arrow_cast::cast_with_options(&rows, &text, &options)
        .map_err(|error| damaged(format!("{action}: {error}")))?;
    let batch = RecordBatch::from(rows.as_struct());
    let mut json = Vec::new();
    let mut writer = arrow_json::LineDelimitedWriter::new(&mut json);
    writer
        .write(&batch)
        .and_then(|()| writer.finish())
        .map_err(damaged)?;
    json.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let text = std::str::from_utf8(line).unwrap_or_default();
            ensure_strict(text, None).map_err(|error| damaged(format!("{action}: {error}")))?;
            serde_json::from_str(text).map_err(|error| damaged(format!("{action}: {error}")))
        })
        .collect()
}

/// Returns a type with strings instead of bytes, at every level.
fn with_text(data_type: &DataType) -> DataType {
    let retyped = |field: &Field| field.clone().with_data_type(with_text(field.data_type()));
    match data_type {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => DataType::Utf8,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| retyped(field)).collect()),
        DataType::List(element) => DataType::List(Arc::new(retyped(element))),
        DataType::Map(entries, sorted) => DataType::Map(Arc::new(retyped(entries)), *sorted),
        other => other.clone(),
    }
}
