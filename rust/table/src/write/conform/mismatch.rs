//! The errors for data that does not fit the schema of a table.

use arrow_schema::ArrowError;
use deltaic_protocol::{Error, ErrorKind};

pub(super) fn mismatch(path: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::SchemaMismatch, message).with("field", path)
}

pub(super) fn failed(error: &ArrowError, path: &str) -> Error {
    let text = error.to_string();
    let text = text
        .split_once("error: ")
        .map_or(text.as_str(), |(_, what)| what)
        .to_owned();
    mismatch(path, format!("the data does not fit the table's schema: {text}"))
}
