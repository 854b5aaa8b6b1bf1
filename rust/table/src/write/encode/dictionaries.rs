//! Chooses the columns of a file that get no dictionary: those of mostly different values.
//!
//! The dictionary of such a column exceeds its limit, and its values are then written without it. Collecting it first is
//! a large part of the time that encoding takes.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType, Schema};
use arrow_select::take::take;
use parquet::schema::types::ColumnPath;

use crate::write::sizes::weight;

/// The number of rows that are sampled.
const SAMPLED_ROWS: usize = 4096;

/// Fewer values are not representative.
const MIN_VALUES: usize = 512;

/// The size in bytes that the Parquet library permits a dictionary.
const DICTIONARY_BYTES: usize = 1 << 20;

/// Returns the columns that get no dictionary, judged by the first rows of a file, whose schema has their names in the
/// file. Nested columns keep theirs.
pub(in crate::write) fn columns_without_dictionary(file: &Schema, first: &RecordBatch) -> Vec<ColumnPath> {
    let fields = file.fields().iter();
    fields
        .zip(first.columns())
        .filter(|(_, column)| can_have_dictionary(column.data_type()) && has_too_many_values(column))
        .map(|(field, _)| ColumnPath::new(vec![field.name().clone()]))
        .collect()
}

fn can_have_dictionary(data_type: &DataType) -> bool {
    let is_text = matches!(data_type, DataType::Utf8 | DataType::Binary);
    is_text || data_type.primitive_width().is_some()
}

/// Whether a sample has fewer equal values than a column whose dictionary just reaches its limit. A column that cannot be
/// sampled keeps its dictionary.
fn has_too_many_values(column: &ArrayRef) -> bool {
    let rows = sampled_rows(column);
    if rows.len() < MIN_VALUES {
        return false;
    }
    let values = rows.len();
    let Ok((different, bytes)) = count_different(column, rows) else {
        return false;
    };
    let most = DICTIONARY_BYTES.saturating_mul(values) / bytes.max(values);
    // Of n values among d equally frequent ones, about n² / 2d repeat an earlier one.
    let repeated = values - different;
    repeated.saturating_mul(2).saturating_mul(most) < values.saturating_mul(values)
}

/// Returns rows with a value, without a pattern: rows at even distances would miss that values occur in turns.
fn sampled_rows(column: &ArrayRef) -> Vec<u32> {
    let len = column.len();
    let picked: BTreeSet<usize> = match len {
        0..=SAMPLED_ROWS => (0..len).collect(),
        _ => (0..SAMPLED_ROWS as u64)
            .filter_map(|number| usize::try_from(mixed(number) % len as u64).ok())
            .collect(),
    };
    let present = picked.into_iter().filter(|row| column.is_valid(*row));
    present.filter_map(|row| u32::try_from(row).ok()).collect()
}

/// The numbers of splitmix64.
const fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Returns the number of different values in some rows, and the size of all of them in bytes.
fn count_different(column: &ArrayRef, rows: Vec<u32>) -> Result<(usize, usize), ArrowError> {
    let taken = take(column, &UInt32Array::from(rows), None)?;
    let converter = RowConverter::new(vec![SortField::new(taken.data_type().clone())])?;
    let values = converter.convert_columns(&[Arc::clone(&taken)])?;
    let different: HashSet<&[u8]> = (0..values.num_rows()).map(|row| values.row(row).data()).collect();
    Ok((different.len(), weight(&taken)))
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int64Array, StringArray};

    use super::*;

    fn chosen(columns: Vec<(&str, ArrayRef)>) -> Vec<String> {
        let first = RecordBatch::try_from_iter(columns).expect("a batch");
        let paths = columns_without_dictionary(&first.schema(), &first);
        paths.iter().map(|path| path.parts().join("/")).collect()
    }

    /// Columns whose values repeat get a dictionary, also if they repeat only after many others.
    #[test]
    fn columns_of_mostly_different_values_get_no_dictionary() {
        let rows = 0..50_000i64;
        let mixed = |row: i64| mixed(row.cast_unsigned()).cast_signed();
        let numbers = |value: &dyn Fn(i64) -> i64| {
            Arc::new(Int64Array::from_iter_values(rows.clone().map(value))) as ArrayRef
        };
        let texts = |value: &dyn Fn(i64) -> String| {
            Arc::new(StringArray::from_iter_values(rows.clone().map(value))) as ArrayRef
        };
        let with_nulls = rows.clone().map(|row| (row % 3 == 0).then(|| mixed(row)));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", numbers(&|row| row)),
            ("key", numbers(&mixed)),
            ("a.b", texts(&|row| mixed(row).to_string())),
            ("some NULLs", Arc::new(Int64Array::from_iter(with_nulls))),
            ("one value", numbers(&|_| 7)),
            ("in turns", numbers(&|row| row % 10_000)),
            ("20,000 values", numbers(&|row| mixed(row).rem_euclid(20_000))),
            ("regions", texts(&|row| format!("region {}", row % 8))),
            ("NULL", arrow_array::new_null_array(&DataType::Int64, 50_000)),
        ];
        assert_eq!(chosen(columns), ["id", "key", "a.b", "some NULLs"]);
    }

    #[test]
    fn few_values_are_not_judged() {
        let few: ArrayRef = Arc::new(Int64Array::from_iter_values(0..500));
        assert!(chosen(vec![("id", few)]).is_empty());
    }
}
