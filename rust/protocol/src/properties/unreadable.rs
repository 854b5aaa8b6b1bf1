//! The error for a property whose value is not valid.

use crate::{Error, ErrorKind};

pub(super) fn unreadable(key: &str, text: &str) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the table property {key} is {text:?}, which is not a valid value"),
    )
    .with("field", key)
    .hint("set the property to a valid value; the table itself is readable")
}
