//! Checks NOT NULL within a column: a NULL that is visible is rejected, others are ignored.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::NullBuffer;
use deltaic_protocol::{Error, ErrorKind, Result};

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
