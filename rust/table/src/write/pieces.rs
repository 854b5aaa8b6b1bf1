//! Splits batches, so that converting and encoding them takes bounded memory whatever their size.
//!
//! Strings and lists have 32-bit offsets in the arrays that are written, and 64-bit offsets in some incoming arrays.

use arrow_array::{OffsetSizeTrait, RecordBatch};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;

use super::sizes::{bytes_of, span};

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
            let bytes = bytes_of(&piece).max(rows.saturating_mul(row_bytes));
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
        ArrayRef, DictionaryArray, Int32Array, Int64Array, LargeListArray, LargeStringArray, ListArray,
        NullArray, StringArray, StringViewArray, StructArray,
    };
    use arrow_schema::Field;

    use super::*;
    use crate::write::sizes::PIECE_BYTES;

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
