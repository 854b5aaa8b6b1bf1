//! The error for invalid metadata of mapped columns.

use crate::{Error, ErrorKind};

pub(super) fn corrupt(field: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .with("field", field)
        .hint("the metadata is damaged: restore the commit that contains it from a backup of the table")
}
