//! Which values of nested columns are visible.
//!
//! Values inside a NULL row, and values outside of the slice of an array, are not visible.

use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer};

/// Returns which values of lists are visible: those in a visible row. `None` if all are.
pub(crate) fn visible_within(
    offsets: &OffsetBuffer<i32>,
    rows: Option<&NullBuffer>,
    values: usize,
) -> Option<NullBuffer> {
    let place = |offset: i32| usize::try_from(offset).unwrap_or(0);
    let rows = rows.filter(|rows| rows.null_count() > 0);
    let (first, last) = (place(offsets.first()), place(offsets.last()));
    if rows.is_none() && first == 0 && last == values {
        return None;
    }
    let mut visible = BooleanBufferBuilder::new(values);
    visible.append_n(first.min(values), false);
    for (row, range) in offsets.windows(2).enumerate() {
        if let &[start, end] = range {
            let count = place(end).saturating_sub(place(start));
            visible.append_n(count, rows.is_none_or(|rows| rows.is_valid(row)));
        }
    }
    visible.append_n(values.saturating_sub(visible.len()), false);
    Some(NullBuffer::new(visible.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_valid_rows_are_visible() {
        let offsets = OffsetBuffer::new(vec![1, 2, 4, 4, 5].into());
        let rows = NullBuffer::from(vec![true, false, true, true]);
        let visible = visible_within(&offsets, Some(&rows), 6).map(|visible| visible.iter().collect());
        assert_eq!(visible, Some(vec![false, true, false, false, true, false]));
        let whole = OffsetBuffer::new(vec![0, 2, 3].into());
        assert_eq!(visible_within(&whole, None, 3), None);
        assert_eq!(visible_within(&whole, Some(&NullBuffer::new_valid(2)), 3), None);
    }
}
