//! Reads columns of type variant: validates them, and reconstructs shredded ones.
//!
//! The types are those of the protocol's accepted sections on variants; the bytes are Parquet's *Variant Binary Encoding*
//! and *Variant Shredding*.

mod json;
mod leaf;
mod shredded;

use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, StructArray};
use arrow_schema::{ArrowError, DataType as ArrowType};
use deltaic_protocol::schema::{PrimitiveType, arrow_type_name};
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet_variant::Variant;

pub(crate) use json::comparable_variants;
pub(crate) use json::to_json;
use shredded::Shredded;

/// Converts the column to Arrow's storage of variants: `metadata` and `value` bytes. A NULL row is a NULL variant; a
/// variant null is a value.
///
/// # Errors
///
/// `CorruptData` with the column, for an invalid variant.
pub(super) fn conform_variant(array: &ArrayRef, path: &str) -> Result<ArrayRef> {
    let group = array.as_struct_opt().ok_or_else(|| {
        damaged(
            path,
            format!("it is {} in the file", arrow_type_name(array.data_type())),
        )
    })?;
    unshredded(group).map_err(|what| damaged(path, what))
}

/// Returns the variants of a group in Arrow's storage, after validating them; otherwise what is wrong.
pub(crate) fn unshredded(group: &StructArray) -> Result<ArrayRef, String> {
    let metadata = binary(group, "metadata")?.ok_or_else(|| "the file has no metadata of it".to_owned())?;
    let shredded = Shredded::of(group)?;
    let value = match shredded.unshredded() {
        Some(value) => {
            validate(group, &metadata, value)?;
            value.clone()
        }
        None => shredded.join(&metadata)?,
    };
    let storage = PrimitiveType::Variant
        .to_arrow()
        .map_err(|error| error.to_string())?;
    let ArrowType::Struct(fields) = storage else {
        return Err("it has no Arrow type".to_owned());
    };
    let columns: Vec<ArrayRef> = vec![Arc::new(metadata), Arc::new(value)];
    let joined = StructArray::try_new(fields, columns, group.nulls().cloned());
    Ok(Arc::new(joined.map_err(|error| reported(&error))?))
}

/// Verifies that each row that is not NULL is a valid variant at every level.
fn validate(group: &StructArray, metadata: &BinaryArray, value: &BinaryArray) -> Result<(), String> {
    for row in (0..group.len()).filter(|row| group.is_valid(*row)) {
        if metadata.is_null(row) {
            return Err(NO_METADATA.to_owned());
        }
        Variant::try_new(metadata.value(row), value.value(row)).map_err(|error| reported(&error))?;
    }
    Ok(())
}

const NO_METADATA: &str = "a row has no metadata";

/// Returns a binary column of a group; `None` if the group does not have it.
fn binary(group: &StructArray, name: &str) -> Result<Option<BinaryArray>, String> {
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
fn reported(error: &ArrowError) -> String {
    let text = error.to_string();
    text.split_once("error: ")
        .map_or(text.as_str(), |(_, what)| what)
        .to_owned()
}

fn damaged(path: &str, what: impl fmt::Display) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("the variant {path} cannot be read: {what}"),
    )
    .with("field", path)
    .hint("the file is damaged or was not written for this table: restore it, or remove it from the table")
}

#[cfg(test)]
mod tests;
