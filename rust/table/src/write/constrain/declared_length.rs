//! Applies the declared lengths of `char(n)` and `varchar(n)`, at any depth, as Spark does when it writes: text of more than
//! `n` characters is an error unless the excess is spaces, which are cut off; `char(n)` is padded with spaces.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::ArrowError;
use deltaic_protocol::schema::{DeclaredLength, DeclaredType, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::not_null::counting_within;

/// The columns of a table with strings of a declared length.
#[derive(Debug, Default)]
pub(in crate::write) struct DeclaredLengths(Vec<(String, DeclaredType)>);

impl DeclaredLengths {
    pub(in crate::write) fn of(schema: &StructType) -> Self {
        let lengths = schema
            .fields
            .iter()
            .filter_map(|field| Some((field.name.clone(), field.declared_lengths()?)));
        Self(lengths.collect())
    }

    pub(in crate::write) fn contains(&self, column: &str) -> bool {
        self.0.iter().any(|(name, _)| name == column)
    }

    /// Returns the rows with the text that is stored.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` with the `field` if a text is too long, and the `row` of the batch if it is a column's.
    pub(in crate::write) fn apply(&self, rows: RecordBatch) -> Result<RecordBatch> {
        if self.0.is_empty() {
            return Ok(rows);
        }
        let mut columns = rows.columns().to_vec();
        for (name, declared) in &self.0 {
            let index = rows.schema_ref().index_of(name).ok();
            let Some(column) = index.and_then(|index| columns.get_mut(index)) else {
                continue;
            };
            *column = stored(column, declared, name, None)?;
        }
        RecordBatch::try_new(rows.schema(), columns).map_err(|error| failed(&error))
    }
}

fn failed(error: &ArrowError) -> Error {
    Error::internal(format!("the lengths of texts cannot be applied: {error}"))
}

/// Returns a column, or a part of one, with the text that is stored. Values that `counting` masks out are ignored.
fn stored(
    array: &ArrayRef,
    declared: &DeclaredType,
    path: &str,
    counting: Option<&NullBuffer>,
) -> Result<ArrayRef> {
    let failed = |error: ArrowError| failed(&error);
    match declared {
        DeclaredType::Other => Ok(Arc::clone(array)),
        DeclaredType::Length(length) => match array.as_string_opt::<i32>() {
            Some(texts) => texts_of_length(texts, *length, path, counting),
            None => Ok(Arc::clone(array)),
        },
        DeclaredType::Struct(fields) => {
            let Some(rows) = array.as_struct_opt() else {
                return Ok(Arc::clone(array));
            };
            let counting = NullBuffer::union(counting, rows.nulls());
            let parts = rows.fields().iter().zip(rows.columns());
            let parts = parts.map(|(field, part)| {
                let name = field.name();
                match fields.iter().find(|(declared, _)| declared == name) {
                    Some((_, declared)) => {
                        stored(part, declared, &format!("{path}.{name}"), counting.as_ref())
                    }
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
            let rows = NullBuffer::union(counting, list.nulls());
            let counting = counting_within(list.offsets(), rows.as_ref(), list.values().len());
            let values = stored(
                list.values(),
                element,
                &format!("{path}.element"),
                counting.as_ref(),
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
            let rows = NullBuffer::union(counting, map.nulls());
            let counting = counting_within(map.offsets(), rows.as_ref(), map.entries().len());
            let keys = stored(map.keys(), key, &format!("{path}.key"), counting.as_ref())?;
            let values = stored(map.values(), value, &format!("{path}.value"), counting.as_ref())?;
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

fn texts_of_length(
    texts: &StringArray,
    length: DeclaredLength,
    path: &str,
    counting: Option<&NullBuffer>,
) -> Result<ArrayRef> {
    let (limit, pads, declared) = match length {
        DeclaredLength::Char(limit) => (limit, true, "char"),
        DeclaredLength::Varchar(limit) => (limit, false, "varchar"),
    };
    let limit_chars = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut found: Vec<Option<Cow<'_, str>>> = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        let counts = counting.is_none_or(|counting| counting.is_valid(row));
        let text = text.map(|text| {
            let Some(text) = cut(text, limit_chars) else {
                if !counts {
                    return Ok(Cow::Borrowed(""));
                }
                let characters = text.chars().count();
                let error = Error::new(
                    ErrorKind::ConstraintViolation,
                    format!("the text of column {path} has {characters} characters, more than its type {declared}({limit}) allows"),
                )
                .with("field", path)
                .hint("shorten the text, or change the type of the column");
                // In a list or map, the position is not that of a row.
                return Err(match path.contains('.') {
                    true => error,
                    false => error.with("row", i64::try_from(row).unwrap_or(i64::MAX)),
                });
            };
            let missing = limit_chars.saturating_sub(text.chars().count());
            Ok(match pads && missing > 0 {
                true => Cow::Owned(format!("{text}{}", " ".repeat(missing))),
                false => Cow::Borrowed(text),
            })
        });
        found.push(text.transpose()?);
    }
    Ok(Arc::new(
        found.iter().map(Option::as_deref).collect::<StringArray>(),
    ))
}

/// Returns the first `limit` characters if all others are spaces.
fn cut(text: &str, limit: usize) -> Option<&str> {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return Some(text);
    };
    let (kept, excess) = text.split_at_checked(end)?;
    excess.chars().all(|character| character == ' ').then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored_texts(length: DeclaredLength, texts: &[Option<&str>]) -> Option<Vec<Option<String>>> {
        let stored = texts_of_length(&StringArray::from(texts.to_vec()), length, "c", None).ok()?;
        let stored = stored.as_string::<i32>().iter();
        Some(stored.map(|text| text.map(str::to_owned)).collect())
    }

    #[test]
    fn texts_are_cut_and_padded_as_by_spark() {
        let owned = |texts: &[Option<&str>]| -> Option<Vec<Option<String>>> {
            Some(texts.iter().map(|text| text.map(str::to_owned)).collect())
        };
        let texts = [Some("ab"), None, Some("äöü"), Some("abc  "), Some("")];
        assert_eq!(
            stored_texts(DeclaredLength::Varchar(3), &texts),
            owned(&[Some("ab"), None, Some("äöü"), Some("abc"), Some("")])
        );
        assert_eq!(
            stored_texts(DeclaredLength::Char(3), &texts),
            owned(&[Some("ab "), None, Some("äöü"), Some("abc"), Some("   ")])
        );
        assert_eq!(stored_texts(DeclaredLength::Varchar(3), &[Some("abcd")]), None);
        assert_eq!(stored_texts(DeclaredLength::Char(3), &[Some("abc d")]), None);
    }
}
