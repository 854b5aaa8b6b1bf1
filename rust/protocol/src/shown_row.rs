//! Rows and values as errors show them.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};

/// The number of characters of a value that are shown.
const CHARACTERS: usize = 60;
/// The number of columns of a row that are shown.
const COLUMNS: usize = 8;

/// Returns a value as text, cut after some characters.
#[must_use]
pub fn shown_value(values: &ArrayRef, row: usize) -> String {
    let options = FormatOptions::new().with_null("NULL");
    let text = match ArrayFormatter::try_new(values, &options) {
        Ok(values) => values.value(row).try_to_string().unwrap_or_default(),
        Err(_) => String::new(),
    };
    text.chars().take(CHARACTERS).collect()
}

/// Returns the values of a row in its first columns, as `id = 1, name = x`; `None` if it has no columns.
#[must_use]
pub fn shown_row(rows: &RecordBatch, row: usize) -> Option<String> {
    let schema = rows.schema_ref();
    let values = schema.fields().iter().zip(rows.columns()).take(COLUMNS);
    let values: Vec<String> = values
        .map(|(field, column)| format!("{} = {}", field.name(), shown_value(column, row)))
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}
