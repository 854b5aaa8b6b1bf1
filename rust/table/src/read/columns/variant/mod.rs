//! Reads columns of type variant: validates them, and reconstructs shredded ones.
//!
//! The types are those of the protocol's accepted sections on variants; the bytes are Parquet's *Variant Binary Encoding*
//! and *Variant Shredding*.

mod damaged;
mod json;
mod leaf;
mod shredded;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, StructArray};
use arrow_schema::DataType as ArrowType;
use deltaic_protocol::Result;
use deltaic_protocol::schema::{PrimitiveType, arrow_type_name};
use parquet_variant::Variant;

use damaged::{NO_METADATA, binary, damaged, reported};
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

#[cfg(test)]
mod tests;
