//! Damaged variants: their columns, and the errors.

use std::fmt;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, StructArray};
use arrow_schema::ArrowError;
use deltaic_protocol::schema::arrow_type_name;
use deltaic_protocol::{Error, ErrorKind};

pub(super) const NO_METADATA: &str = "a row has no metadata";

/// Returns a binary column of a group; `None` if the group does not have it.
pub(super) fn binary(group: &StructArray, name: &str) -> Result<Option<BinaryArray>, String> {
    let Some(column) = group.column_by_name(name) else {
        return Ok(None);
    };
    match column.as_binary_opt::<i32>() {
        Some(bytes) => Ok(Some(bytes.clone())),
        None => Err(format!(
            "its {name} is {} and not bytes",
            arrow_type_name(column.data_type())
        )),
    }
}

/// Returns the message of an error of the variant crate, without the name of its class.
pub(super) fn reported(error: &ArrowError) -> String {
    let text = error.to_string();
    text.split_once("error: ")
        .map_or(text.as_str(), |(_, what)| what)
        .to_owned()
}

pub(super) fn damaged(path: &str, what: impl fmt::Display) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("the variant {path} cannot be read: {what}"),
    )
    .with("field", path)
    .hint("the file is damaged or was not written for this table: restore it, or remove it from the table")
}
