//! Splits batches, so that converting and encoding them takes bounded memory whatever their size.
//!
//! Strings and lists have 32-bit offsets in the arrays that are written, and 64-bit offsets in some incoming arrays.

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteViewType, Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef, GenericByteViewArray, OffsetSizeTrait, RecordBatch, RunArray};
use arrow_buffer::{ArrowNativeType, OffsetBuffer};
use arrow_data::ByteView;
use arrow_schema::DataType;

/// The maximum size of a split batch in bytes, unless it is a single row.
pub(super) const PIECE_BYTES: usize = 64 << 20;

/// Splits a batch into slices of at most `most_bytes` or one row, in order. A row counts as at least `row_bytes`, its
/// minimum size in the table's columns: NULLs, runs or rows without columns may take no space in the batch.
pub(super) fn pieces(
    batch: &RecordBatch,
    most_bytes: usize,
    row_bytes: usize,
) -> impl Iterator<Item = RecordBatch> + use<> {
    let mut left = vec![batch.clone()];
    std::iter::from_fn(move || {
        loop {
            let piece = left.pop()?;
            let rows = piece.num_rows();
            let bytes = sum(piece.columns()).max(rows.saturating_mul(row_bytes));
            if rows <= 1 || bytes <= most_bytes {
                return Some(piece);
            }
            left.push(piece.slice(rows / 2, rows - rows / 2));
            left.push(piece.slice(0, rows / 2));
        }
    })
}

/// Returns the minimum size in bytes of a row of a type.
pub(super) fn least_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => {
            let parts = fields.iter().map(|field| least_bytes(field.data_type()));
            parts.fold(1, usize::saturating_add)
        }
        other => other.primitive_width().unwrap_or(size_of::<i32>()),
    }
}

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
            let least = rows.saturating_mul(longest(values));
            // Which values the rows use matters only if one of them is long.
            if values.is_empty() || least <= PIECE_BYTES / 16 {
                least
            } else {
                let lengths: Vec<usize> = (0..values.len())
                    .map(|value| weight(&values.slice(value, 1)))
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

/// Returns the size of the longest value of an array.
fn longest(values: &ArrayRef) -> usize {
    match values.data_type().primitive_width() {
        Some(width) => width,
        None => (0..values.len())
            .map(|value| weight(&values.slice(value, 1)))
            .max()
            .unwrap_or(0),
    }
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

/// Returns the same lengths as 32-bit offsets from 0; `None` if they exceed 32 bits.
pub(super) fn rebased<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> Option<OffsetBuffer<i32>> {
    let span = span(offsets);
    i32::try_from(span.len()).ok()?;
    Some(OffsetBuffer::from_lengths(offsets.windows(2).map(
        |pair| match pair {
            [start, end] => end.as_usize() - start.as_usize(),
            _ => 0,
        },
    )))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        DictionaryArray, Int32Array, Int64Array, LargeListArray, LargeStringArray, ListArray, NullArray,
        StringArray, StringViewArray, StructArray,
    };
    use arrow_schema::Field;

    use super::*;

    fn batch(column: ArrayRef) -> RecordBatch {
        RecordBatch::try_from_iter([("c", column)]).expect("a batch")
    }

    fn rows_of(column: ArrayRef, most_bytes: usize) -> Vec<usize> {
        let batch = batch(column);
        let pieces: Vec<_> = pieces(&batch, most_bytes, 1).collect();
        let whole = arrow_select::concat::concat_batches(&batch.schema(), &pieces).expect("alike");
        assert_eq!(whole, batch);
        pieces.iter().map(RecordBatch::num_rows).collect()
    }

    #[test]
    fn a_piece_is_small_or_one_row() {
        let texts = || (0..8).map(|row| Some("x".repeat(if row == 5 { 1000 } else { 10 })));
        let columns: [ArrayRef; 5] = [
            Arc::new(texts().collect::<StringArray>()),
            Arc::new(texts().collect::<LargeStringArray>()),
            Arc::new(texts().collect::<StringViewArray>()),
            Arc::new(StructArray::from(vec![(
                Arc::new(Field::new("f", DataType::Utf8, true)),
                Arc::new(texts().collect::<StringArray>()) as ArrayRef,
            )])),
            Arc::new(ListArray::new(
                Arc::new(Field::new("item", DataType::Utf8, true)),
                OffsetBuffer::from_lengths([1; 8]),
                Arc::new(texts().collect::<StringArray>()),
                None,
            )),
        ];
        for column in columns {
            let name = column.data_type().to_string();
            assert_eq!(rows_of(Arc::clone(&column), 100), [4, 1, 1, 2], "{name}");
            assert_eq!(rows_of(column, 10_000), [8], "{name}");
        }
    }

    #[test]
    fn rows_of_a_dictionary_weigh_what_their_values_do() {
        let values: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(PIECE_BYTES), "y".to_owned()]));
        let keys = Int32Array::from(vec![
            Some(1),
            Some(1),
            None,
            Some(1),
            Some(0),
            Some(0),
            Some(1),
            Some(1),
        ]);
        let column: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
        let pieces = pieces(&batch(column), PIECE_BYTES, 1);
        let rows: Vec<_> = pieces.map(|piece| piece.num_rows()).collect();
        assert_eq!(rows.iter().sum::<usize>(), 8);
        assert!(rows.len() >= 3, "{rows:?}");
    }

    /// An array that claims this many rows costs its producer nothing, so it must not cause one huge allocation.
    #[test]
    fn rows_that_take_no_bytes_are_cut_by_what_the_table_stores() {
        let nulls: ArrayRef = Arc::new(NullArray::new(1 << 40));
        let mut pieces = pieces(&batch(nulls), PIECE_BYTES, 64);
        assert_eq!(pieces.next().map(|piece| piece.num_rows()), Some(1 << 20));
        let fields = vec![
            Field::new("a", DataType::Int64, true),
            Field::new("b", DataType::Utf8, true),
        ];
        assert_eq!(least_bytes(&DataType::Struct(fields.into())), 13);
    }

    #[test]
    fn offsets_start_at_zero_and_fit_32_bits() {
        let large = OffsetBuffer::new(vec![5i64 << 40, (5 << 40) + 2, (5 << 40) + 2, (5 << 40) + 9].into());
        assert_eq!(
            rebased(&large).as_deref().map(|offsets| offsets.to_vec()),
            Some(vec![0, 2, 2, 9])
        );
        assert_eq!(rebased(&OffsetBuffer::new(vec![0i64, 1 << 31].into())), None);
        let lists = LargeListArray::new(
            Arc::new(Field::new("item", DataType::Int64, true)),
            OffsetBuffer::from_lengths([2, 1]),
            Arc::new(Int64Array::from(vec![1, 2, 3])),
            None,
        );
        assert_eq!(span(lists.slice(1, 1).offsets()), 2..3);
    }
}
