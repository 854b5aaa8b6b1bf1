//! The approximate sizes of values and rows, by which rows are divided before they are copied.

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteViewType, Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef, GenericByteViewArray, OffsetSizeTrait, RecordBatch, RunArray};
use arrow_buffer::{ArrowNativeType, OffsetBuffer};
use arrow_data::ByteView;
use arrow_schema::DataType;

/// The maximum size of copied rows in bytes, unless it is a single row.
pub(crate) const COPIED_BYTES: usize = 8 << 20;

/// The maximum size of a split batch in bytes, unless it is a single row.
pub(super) const PIECE_BYTES: usize = 64 << 20;

/// Returns the approximate size in bytes of the rows of a batch, which may be a slice of a larger one.
pub(crate) fn bytes_of(batch: &RecordBatch) -> usize {
    sum(batch.columns())
}

fn sum(columns: &[ArrayRef]) -> usize {
    columns.iter().map(weight).fold(0, usize::saturating_add)
}

/// Returns the approximate size in bytes of an array's values once they are expanded.
pub(super) fn weight(array: &ArrayRef) -> usize {
    let rows = array.len();
    let own = match array.data_type() {
        DataType::Utf8 => span(array.as_string::<i32>().offsets()).len(),
        DataType::LargeUtf8 => span(array.as_string::<i64>().offsets()).len(),
        DataType::Binary => span(array.as_binary::<i32>().offsets()).len(),
        DataType::LargeBinary => span(array.as_binary::<i64>().offsets()).len(),
        DataType::Utf8View => of_views(array.as_string_view()),
        DataType::BinaryView => of_views(array.as_binary_view()),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values();
            let of_key = |key: &usize| match *key < values.len() {
                true => weight(&values.slice(*key, 1)),
                false => 0,
            };
            // A slice of a batch has the dictionary of the whole batch.
            if values.len() > rows {
                let keys = dictionary.normalized_keys();
                return keys
                    .iter()
                    .map(of_key)
                    .fold(rows.saturating_mul(size_of::<i32>()), usize::saturating_add);
            }
            let least = rows.saturating_mul(longest_value(values));
            // Which values the rows use matters only if one of them is long.
            if values.is_empty() || least <= PIECE_BYTES / 16 {
                least
            } else {
                let lengths: Vec<usize> = (0..values.len())
                    .map(|value| size_of_value(values, value))
                    .collect();
                let keys = dictionary.normalized_keys();
                let of_key = |key: &usize| lengths.get(*key).copied().unwrap_or(0);
                keys.iter().map(of_key).fold(0, usize::saturating_add)
            }
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => of_runs(array.as_run::<Int16Type>()),
            DataType::Int32 => of_runs(array.as_run::<Int32Type>()),
            _ => of_runs(array.as_run::<Int64Type>()),
        },
        DataType::Struct(_) => sum(array.as_struct().columns()),
        DataType::List(_) => within(array.as_list::<i32>().offsets(), array.as_list::<i32>().values()),
        DataType::LargeList(_) => within(array.as_list::<i64>().offsets(), array.as_list::<i64>().values()),
        DataType::Map(..) => {
            let map = array.as_map();
            within(
                map.offsets(),
                &(std::sync::Arc::new(map.entries().clone()) as ArrayRef),
            )
        }
        DataType::ListView(_) => (0..rows)
            .map(|row| weight(&array.as_list_view::<i32>().value(row)))
            .fold(0, usize::saturating_add),
        DataType::LargeListView(_) => (0..rows)
            .map(|row| weight(&array.as_list_view::<i64>().value(row)))
            .fold(0, usize::saturating_add),
        DataType::FixedSizeList(..) => weight(array.as_fixed_size_list().values()),
        DataType::FixedSizeBinary(width) => rows.saturating_mul(usize::try_from(*width).unwrap_or(0)),
        other => return rows.saturating_mul(other.primitive_width().unwrap_or(1)),
    };
    own.saturating_add(rows.saturating_mul(size_of::<i32>()))
}

fn of_runs<R: RunEndIndexType>(array: &RunArray<R>) -> usize {
    let ends = array.run_ends();
    let (mut at, end) = (ends.offset(), ends.offset() + ends.len());
    let mut sum = 0_usize;
    let runs = ends.values().iter().enumerate();
    for (run, run_end) in runs.skip(ends.get_start_physical_index()) {
        let run_end = run_end.as_usize().min(end);
        let value = weight(&array.values().slice(run, 1));
        sum = sum.saturating_add(run_end.saturating_sub(at).saturating_mul(value));
        at = run_end;
        if at == end {
            break;
        }
    }
    sum
}

fn of_views<T: ByteViewType + ?Sized>(array: &GenericByteViewArray<T>) -> usize {
    let length = |view: &u128| usize::try_from(ByteView::from(*view).length).unwrap_or(usize::MAX);
    array.views().iter().map(length).fold(0, usize::saturating_add)
}

fn within<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, values: &ArrayRef) -> usize {
    let span = span(offsets);
    weight(&values.slice(span.start, span.len()))
}

/// Returns the range of values that the rows of an array use; others belong to the array that it is a slice of.
pub(super) fn span<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> std::ops::Range<usize> {
    let first = offsets.first().as_usize();
    first..offsets.last().as_usize().max(first)
}

/// Returns the approximate size of a value of an array in bytes.
pub(crate) fn size_of_value(array: &ArrayRef, row: usize) -> usize {
    let length = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value_length(row),
        DataType::Binary => array.as_binary::<i32>().value_length(row),
        other => {
            let width = width_of(other);
            return width.unwrap_or_else(|| weight(&array.slice(row, 1)));
        }
    };
    usize::try_from(length).unwrap_or(0) + size_of::<i32>()
}

/// Returns the size of the largest value of an array in bytes.
pub(crate) fn longest_value(array: &ArrayRef) -> usize {
    match width_of(array.data_type()) {
        Some(width) => width,
        None => {
            let sizes = (0..array.len()).map(|row| size_of_value(array, row));
            sizes.max().unwrap_or(0)
        }
    }
}

/// The size of a value, if it is the same for all values of a type.
fn width_of(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Boolean => Some(1),
        other => other.primitive_width(),
    }
}

/// Divides rows, so that those of each part have at most `most_bytes`, or are one. `longest` is a limit of the size of each.
pub(crate) fn divided<R>(
    rows: &[R],
    longest: usize,
    most_bytes: usize,
    size_of: impl Fn(&R) -> usize,
) -> Vec<&[R]> {
    if rows.is_empty() {
        return Vec::new();
    }
    if rows.len().saturating_mul(longest) <= most_bytes {
        return vec![rows];
    }
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0_usize);
    for (index, row) in rows.iter().enumerate() {
        let more = size_of(row);
        if index > start && bytes.saturating_add(more) > most_bytes {
            parts.extend(rows.get(start..index));
            (start, bytes) = (index, 0);
        }
        bytes = bytes.saturating_add(more);
    }
    parts.extend(rows.get(start..));
    parts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BinaryArray, BooleanArray, Int64Array, ListArray, StringArray};

    use super::*;

    #[test]
    fn rows_are_divided_by_their_sizes() {
        let sizes = [1, 1, 5, 9, 1, 1];
        let parts = divided(&sizes, 9, 6, |size| *size);
        assert_eq!(parts, [&sizes[..2], &sizes[2..3], &sizes[3..4], &sizes[4..]]);
        assert_eq!(divided(&sizes, 1, 6, |_| 7), [&sizes[..]]);
        assert!(divided(&sizes[..0], 1, 0, |size| *size).is_empty());
    }

    #[test]
    fn the_largest_value_has_the_size_of_its_bytes() {
        let list = ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>([
            Some(vec![Some(1)]),
            Some(vec![Some(2), Some(3)]),
        ]);
        let columns: [(ArrayRef, usize, usize); 5] = [
            (Arc::new(StringArray::from(vec!["a", "bcd"])), 7, 5),
            (Arc::new(BinaryArray::from_vec(vec![b"a", b"bcd"])), 7, 5),
            (Arc::new(Int64Array::from(vec![1, 2])), 8, 8),
            (Arc::new(BooleanArray::from(vec![true, false])), 1, 1),
            (Arc::new(list), 20, 12),
        ];
        for (column, longest, first) in columns {
            let name = column.data_type();
            assert_eq!(longest_value(&column), longest, "{name}");
            assert!(size_of_value(&column, 0) <= longest, "{name}");
            assert_eq!(size_of_value(&column, 0), first, "{name}");
        }
    }
}
