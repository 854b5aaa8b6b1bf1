//! Checks NOT NULL within a column: a NULL that is visible is rejected, others are ignored.
//!
//! Values inside a NULL row, and values outside of the slice of an array, are not visible.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use deltaic_protocol::{Error, ErrorKind, Result};

/// Returns which values of lists are visible: those in a visible row. `None` if all are.
pub(in crate::write) fn counting_within(
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
    let mut counting = BooleanBufferBuilder::new(values);
    counting.append_n(first.min(values), false);
    for (row, range) in offsets.windows(2).enumerate() {
        if let &[start, end] = range {
            let count = place(end).saturating_sub(place(start));
            counting.append_n(count, rows.is_none_or(|rows| rows.is_valid(row)));
        }
    }
    counting.append_n(values.saturating_sub(counting.len()), false);
    Some(NullBuffer::new(counting.finish()))
}

/// Returns the values of a NOT NULL part of a column; `ConstraintViolation` if a visible value is NULL.
pub(in crate::write) fn ensure_present(
    part: ArrayRef,
    counting: Option<&NullBuffer>,
    path: &str,
) -> Result<ArrayRef> {
    let Some(nulls) = part.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok(part);
    };
    let counts = |row: usize| counting.is_none_or(|counting| counting.is_valid(row));
    if (0..part.len()).any(|row| nulls.is_null(row) && counts(row)) {
        return Err(is_null(format!("{path} must not be NULL, but is in a row"), path));
    }
    // A NULL slot may contain invalid UTF-8, so it becomes an empty string.
    if let Some(text) = part.as_string_opt::<i32>() {
        let present = text.iter().map(Option::unwrap_or_default);
        return Ok(Arc::new(StringArray::from_iter_values(present)));
    }
    let present = part.to_data().into_builder().nulls(None).build();
    present
        .map(arrow_array::make_array)
        .map_err(|error| Error::internal(error.to_string()).with("field", path))
}

/// The error for a NULL.
pub(in crate::write) fn is_null(message: String, path: &str) -> Error {
    Error::new(ErrorKind::ConstraintViolation, message)
        .with("field", path)
        .hint("fill in the values, or drop the rows")
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;

    use super::*;

    #[test]
    fn values_of_valid_rows_are_validated() {
        let offsets = OffsetBuffer::new(vec![1, 2, 4, 4, 5].into());
        let rows = NullBuffer::from(vec![true, false, true, true]);
        let counting = counting_within(&offsets, Some(&rows), 6).map(|counting| counting.iter().collect());
        assert_eq!(counting, Some(vec![false, true, false, false, true, false]));
        let whole = OffsetBuffer::new(vec![0, 2, 3].into());
        assert_eq!(counting_within(&whole, None, 3), None);
        assert_eq!(counting_within(&whole, Some(&NullBuffer::new_valid(2)), 3), None);
    }

    #[test]
    fn a_null_that_counts_is_refused_and_others_go() {
        let part: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, None]));
        let seen = NullBuffer::from(vec![true, false, false]);
        let present = ensure_present(Arc::clone(&part), Some(&seen), "c.element");
        assert_eq!(present.map(|present| present.null_count()).ok(), Some(0));
        for counting in [None, Some(NullBuffer::from(vec![true, false, true]))] {
            let error = ensure_present(Arc::clone(&part), counting.as_ref(), "c.element").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
        }
    }
}
