//! The errors for unusable version checksums.

use crate::{Error, ErrorKind};

pub(super) fn unreadable(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .hint("the table can be read without its version checksums: remove the file, or ignore it")
}

pub(super) fn corrupt(field: impl Into<String>, message: impl Into<String>) -> Error {
    unreadable(message).with("field", field.into())
}
