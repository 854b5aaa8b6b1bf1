//! Tests of results and values.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use crate::{Error, ErrorKind, Result};

/// Whether each value is NaN; FALSE for NULL.
pub(super) fn is_nan(values: &ArrayRef) -> Result<BooleanArray> {
    let answers = if let Some(floats) = values.as_primitive_opt::<Float32Type>() {
        BooleanArray::from_unary(floats, f32::is_nan)
    } else if let Some(doubles) = values.as_primitive_opt::<Float64Type>() {
        BooleanArray::from_unary(doubles, f64::is_nan)
    } else {
        return Err(Error::new(
            ErrorKind::InvalidPredicate,
            "isnan needs a floating point number",
        ));
    };
    Ok(is(&answers, Some(true)))
}

/// TRUE values that are not NULL.
fn known_and(answers: BooleanBuffer, nulls: Option<&NullBuffer>) -> BooleanBuffer {
    match nulls {
        Some(nulls) => &answers & nulls.inner(),
        None => answers,
    }
}

/// Whether each result is TRUE, FALSE, or NULL.
pub(super) fn is(answers: &BooleanArray, truth: Option<bool>) -> BooleanArray {
    let found = match (truth, answers.nulls()) {
        (Some(true), nulls) => known_and(answers.values().clone(), nulls),
        (Some(false), nulls) => known_and(!answers.values(), nulls),
        (None, Some(nulls)) => !nulls.inner(),
        (None, None) => BooleanBuffer::new_unset(answers.len()),
    };
    BooleanArray::new(found, None)
}
