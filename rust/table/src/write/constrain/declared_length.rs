//! Applies the declared lengths of `char(n)` and `varchar(n)`, at any depth, as Spark does when it writes: text of more than
//! `n` characters is an error unless the excess is spaces, which are cut off; `char(n)` is padded with spaces.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use deltaic_protocol::schema::{DeclaredLength, DeclaredType, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::declared_text::{DeclaredTexts, convert_texts, failed};

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
            *column = convert_texts(column, declared, name, &stored)?;
        }
        RecordBatch::try_new(rows.schema(), columns).map_err(failed)
    }
}

/// Returns the text that is stored. What is not visible is ignored.
fn stored(part: DeclaredTexts<'_>) -> Result<ArrayRef> {
    let DeclaredTexts {
        texts,
        length,
        path,
        visible,
    } = part;
    let (limit, declared) = match length {
        DeclaredLength::Char(limit) => (limit, "char"),
        DeclaredLength::Varchar(limit) => (limit, "varchar"),
    };
    let limit_chars = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut found: Vec<Option<Cow<'_, str>>> = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        let text = text.map(|text| {
            let Some(text) = cut(text, limit_chars) else {
                if visible.is_some_and(|visible| visible.is_null(row)) {
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
            Ok(length.padded(text))
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
    use arrow_array::cast::AsArray;

    use super::*;

    fn stored_texts(length: DeclaredLength, texts: &[Option<&str>]) -> Option<Vec<Option<String>>> {
        let texts: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        let stored = convert_texts(&texts, &DeclaredType::Length(length), "c", &stored).ok()?;
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
