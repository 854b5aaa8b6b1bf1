//! Replaces empty text in partition columns by NULL, if the caller allows it: every reader reads it back as NULL.
//!
//! Protocol: *Partition Value Serialization*.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, StringArray};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, Result};

use super::not_null::is_null;

/// The partition columns of a table, with whether they may be NULL.
#[derive(Clone, Debug, Default)]
pub(in crate::write) struct EmptyText(Vec<(usize, String, bool)>);

impl EmptyText {
    pub(in crate::write) fn of(schema: &StructType, partition_columns: &[String]) -> Self {
        let columns = schema.fields.iter().enumerate();
        let columns = columns.filter(|(_, field)| partition_columns.contains(&field.name));
        Self(
            columns
                .map(|(index, field)| (index, field.name.clone(), field.nullable))
                .collect(),
        )
    }

    /// Returns the rows with NULL for empty text and bytes.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` with the `field` if the column must not be NULL.
    pub(in crate::write) fn apply(&self, rows: RecordBatch) -> Result<RecordBatch> {
        let mut columns = rows.columns().to_vec();
        let mut is_changed = false;
        for (index, name, nullable) in &self.0 {
            let Some((column, nulled)) = columns.get_mut(*index).and_then(|column| {
                let nulled = without_empty(column)?;
                Some((column, nulled))
            }) else {
                continue;
            };
            if !nullable {
                let message = format!("the column {name} must not be NULL, which its empty text becomes");
                return Err(is_null(message, name));
            }
            *column = nulled;
            is_changed = true;
        }
        match is_changed {
            false => Ok(rows),
            true => RecordBatch::try_new(rows.schema(), columns)
                .map_err(|error| Error::internal(format!("empty text cannot be replaced: {error}"))),
        }
    }
}

/// Returns the column with NULL for empty values; `None` if it has none.
fn without_empty(column: &ArrayRef) -> Option<ArrayRef> {
    if let Some(texts) = column.as_string_opt::<i32>() {
        let is_empty = |row: usize| texts.is_valid(row) && texts.value(row).is_empty();
        (0..texts.len()).any(is_empty).then(|| {
            let kept = texts.iter().map(|text| text.filter(|text| !text.is_empty()));
            Arc::new(kept.collect::<StringArray>()) as ArrayRef
        })
    } else {
        let bytes = column.as_binary_opt::<i32>()?;
        let is_empty = |row: usize| bytes.is_valid(row) && bytes.value(row).is_empty();
        (0..bytes.len()).any(is_empty).then(|| {
            let kept = bytes.iter().map(|value| value.filter(|value| !value.is_empty()));
            Arc::new(kept.collect::<BinaryArray>()) as ArrayRef
        })
    }
}
