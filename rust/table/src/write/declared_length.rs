//! Applies the declared lengths of `char(n)` and `varchar(n)` columns, as Spark does when it writes: text of more than
//! `n` characters is an error unless the excess is spaces, which are cut off; `char(n)` is padded with spaces.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use deltaic_protocol::schema::{DeclaredLength, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// The string columns of a table with a declared length.
#[derive(Debug, Default)]
pub(super) struct DeclaredLengths(Vec<(String, DeclaredLength)>);

impl DeclaredLengths {
    pub(super) fn of(schema: &StructType) -> Self {
        let lengths = schema
            .fields
            .iter()
            .filter_map(|field| Some((field.name.clone(), field.declared_length()?)));
        Self(lengths.collect())
    }

    /// Returns the rows with the text that is stored.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` with the `field` and the `row` of the batch if a text is too long.
    pub(super) fn apply(&self, rows: RecordBatch) -> Result<RecordBatch> {
        if self.0.is_empty() {
            return Ok(rows);
        }
        let mut columns = rows.columns().to_vec();
        for (name, length) in &self.0 {
            let index = rows.schema_ref().index_of(name).ok();
            let Some(column) = index.and_then(|index| columns.get_mut(index)) else {
                continue;
            };
            if let Some(texts) = column.as_string_opt::<i32>() {
                *column = stored(texts, *length, name)?;
            }
        }
        RecordBatch::try_new(rows.schema(), columns)
            .map_err(|error| Error::internal(format!("the lengths of texts cannot be applied: {error}")))
    }
}

fn stored(texts: &StringArray, length: DeclaredLength, name: &str) -> Result<ArrayRef> {
    let (limit, pads, declared) = match length {
        DeclaredLength::Char(limit) => (limit, true, "char"),
        DeclaredLength::Varchar(limit) => (limit, false, "varchar"),
    };
    let limit_chars = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut found: Vec<Option<Cow<'_, str>>> = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        let text = text.map(|text| {
            let Some(text) = cut(text, limit_chars) else {
                let characters = text.chars().count();
                return Err(Error::new(
                    ErrorKind::ConstraintViolation,
                    format!("the text of column {name} has {characters} characters, more than its type {declared}({limit}) allows"),
                )
                .with("field", name)
                .with("row", i64::try_from(row).unwrap_or(i64::MAX))
                .hint("shorten the text, or change the type of the column"));
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
        let stored = stored(&StringArray::from(texts.to_vec()), length, "c").ok()?;
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
