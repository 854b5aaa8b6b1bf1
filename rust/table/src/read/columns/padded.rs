//! Pads texts of `char(n)`, as Spark does when it reads: not every writer pads those that it stores.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use deltaic_protocol::schema::{DeclaredLength, DeclaredType};
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::declared_text::{DeclaredTexts, convert_texts};

/// Returns a column in which texts of `char(n)` are padded, at any depth; the same column if they are already.
pub(crate) fn padded(column: &ArrayRef, declared: &DeclaredType, name: &str) -> Result<ArrayRef> {
    convert_texts(column, declared, name, &padded_texts)
}

fn padded_texts(part: DeclaredTexts<'_>) -> Result<ArrayRef> {
    let texts = part.texts;
    let DeclaredLength::Char(length) = part.length else {
        return Ok(Arc::new(texts.clone()));
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let is_ascii = texts.value_data().is_ascii();
    let missing = |text: &str| match is_ascii {
        true => length.saturating_sub(text.len()),
        false => length.saturating_sub(text.chars().count()),
    };
    let more = texts
        .iter()
        .flatten()
        .map(missing)
        .fold(0usize, usize::saturating_add);
    if more == 0 {
        return Ok(Arc::new(texts.clone()));
    }
    if i32::try_from(texts.value_data().len().saturating_add(more)).is_err() {
        let what = format!("the padded texts of column {} exceed 2 GiB in a batch", part.path);
        return Err(Error::new(ErrorKind::UnsupportedFeature, what)
            .with("field", part.path)
            .hint("change the type of the column to varchar or string"));
    }
    let padded = texts.iter().map(|text| text.map(|text| part.length.padded(text)));
    Ok(Arc::new(padded.collect::<StringArray>()))
}

#[cfg(test)]
mod tests {
    use arrow_array::StructArray;
    use arrow_array::cast::AsArray;
    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn only_texts_of_char_are_padded() -> Result<()> {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("é"), None, Some("abc"), Some("")]));
        let part = |name: &str| Arc::new(Field::new(name, DataType::Utf8, true));
        let rows: ArrayRef = Arc::new(StructArray::from(vec![
            (part("c"), Arc::clone(&texts)),
            (part("v"), Arc::clone(&texts)),
            (part("s"), Arc::clone(&texts)),
        ]));
        let declared = DeclaredType::Struct(vec![
            ("v".to_owned(), DeclaredType::Length(DeclaredLength::Varchar(3))),
            ("c".to_owned(), DeclaredType::Length(DeclaredLength::Char(3))),
        ]);
        let found = padded(&rows, &declared, "r")?;
        let found = found.as_struct();
        let expected = StringArray::from(vec![Some("é  "), None, Some("abc"), Some("   ")]);
        assert_eq!(found.column(0).as_string::<i32>(), &expected);
        assert_eq!(found.column(1), &texts);
        assert_eq!(found.column(2), &texts);
        Ok(())
    }

    #[test]
    fn texts_that_exceed_an_array_are_an_error() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
        let declared = DeclaredType::Length(DeclaredLength::Char(1 << 30));
        let error = padded(&texts, &declared, "c").expect_err("4 GiB");
        assert_eq!(error.kind(), ErrorKind::UnsupportedFeature);
    }
}
