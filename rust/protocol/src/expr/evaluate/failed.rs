//! The error of an evaluation that fails in Arrow.

use arrow_schema::ArrowError;

use crate::{Error, ErrorKind};

pub(super) fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::InvalidPredicate,
        format!("the expression cannot be evaluated: {error}"),
    )
}
