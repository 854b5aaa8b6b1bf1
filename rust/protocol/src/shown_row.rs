//! Rows and values as errors show them.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;

/// The number of characters of a value that are shown.
const CHARACTERS: usize = 60;
/// The number of columns of a row that are shown.
const COLUMNS: usize = 8;

/// Returns a value as text, cut after some characters.
#[must_use]
pub fn shown_value(values: &ArrayRef, row: usize) -> String {
    let options = FormatOptions::new().with_null("NULL");
    let text = match ArrayFormatter::try_new(values, &options) {
        Ok(shown) => {
            let text = shown.value(row).try_to_string();
            text.unwrap_or_else(|_| shown_number(values, row))
        }
        Err(_) => String::new(),
    };
    text.chars().take(CHARACTERS).collect()
}

/// Returns a time that no calendar has, as its number of units since 1970.
fn shown_number(values: &ArrayRef, row: usize) -> String {
    let number = cast(&values.slice(row, 1), &DataType::Int64).ok();
    let number = number
        .as_ref()
        .and_then(|number| number.as_primitive_opt::<Int64Type>());
    number.map_or_else(String::new, |number| number.value(0).to_string())
}

/// Returns the values of a row in its first columns, as `id = 1, name = x`; `None` if it has none to show.
///
/// Of a struct only fields that are not NULL are shown: a merge reads only some columns of its sides.
#[must_use]
pub fn shown_row(rows: &RecordBatch, row: usize) -> Option<String> {
    let schema = rows.schema_ref();
    // Names of operands of expressions begin with NUL.
    let values = schema.fields().iter().zip(rows.columns());
    let values = values.filter(|(field, _)| !field.name().starts_with('\0'));
    let shown = values.filter_map(|(field, column)| {
        let value = match column.as_struct_opt() {
            Some(_) if column.is_valid(row) => shown_fields(column, row)?,
            _ => shown_value(column, row),
        };
        Some(format!("{} = {value}", field.name()))
    });
    let shown: Vec<String> = shown.take(COLUMNS).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Returns the fields of a struct that are not NULL, as `{id: 1, name: x}`; `None` if there are none.
#[must_use]
pub fn shown_fields(values: &ArrayRef, row: usize) -> Option<String> {
    let rows = values.as_struct_opt().filter(|rows| row < rows.len())?;
    let parts = rows.fields().iter().zip(rows.columns());
    let parts = parts.filter(|(_, part)| part.is_valid(row));
    let parts = parts.map(|(field, part)| format!("{}: {}", field.name(), shown_value(part, row)));
    let parts: Vec<String> = parts.take(COLUMNS).collect();
    (!parts.is_empty()).then(|| format!("{{{}}}", parts.join(", ")))
}
