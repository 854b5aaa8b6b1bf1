//! Deletion vector descriptors of file actions, and how a deletion vector must match its descriptor.
//!
//! Protocol: *Deletion Vector Descriptor Schema*.

use serde::{Deserialize, Serialize};

use super::Bitmap;
use super::bitmap::damaged;
use crate::json_string::Text;
use crate::{Error, ErrorKind, Result};

/// A borrowed descriptor, not validated.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DescriptorText<'a> {
    /// `u`, `i` or `p`.
    #[serde(borrow)]
    pub storage_type: Text<'a>,
    /// The location of the deletion vector, or the inline deletion vector.
    #[serde(borrow)]
    pub path_or_inline_dv: Text<'a>,
    /// Offset in the file.
    pub offset: Option<i32>,
    /// Size in bytes.
    pub size_in_bytes: i32,
    /// Number of rows that are deleted.
    pub cardinality: i64,
}

/// An owned descriptor, not validated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// `u`, `i` or `p`.
    pub storage_type: String,
    /// The location of the deletion vector, or the inline deletion vector.
    pub path_or_inline_dv: String,
    /// Offset in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i32>,
    /// Size in bytes.
    pub size_in_bytes: i32,
    /// Number of rows that are deleted.
    pub cardinality: i64,
}

impl Descriptor {
    /// The part of the logical file key that identifies the deletion vector: its storage type, path or
    /// inline data, and offset.
    #[must_use]
    pub fn key(&self) -> (&str, &str, Option<i32>) {
        (&self.storage_type, &self.path_or_inline_dv, self.offset)
    }

    /// Validates a decoded deletion vector against the number of records of its data file.
    ///
    /// # Errors
    ///
    /// Returns `CorruptData` if it deletes a row that the file does not have.
    pub fn check_rows(&self, bitmap: &Bitmap, num_records: u64) -> Result<()> {
        match bitmap.max() {
            Some(last) if last >= num_records => {
                let what = format!("it deletes the row at {last} of a file that has {num_records} rows");
                Err(Error::new(ErrorKind::CorruptData, damaged(&what))
                    .with("field", "deletionVector")
                    .hint(RESTORE))
            }
            _ => Ok(()),
        }
    }

    /// The size of the deletion vector in bytes.
    pub(super) fn size(&self) -> Result<u64> {
        u64::try_from(self.size_in_bytes).map_err(|_| {
            let what = format!("its size is {} bytes", self.size_in_bytes);
            self.wrong("deletionVector.sizeInBytes", what)
        })
    }

    /// An error about the descriptor itself.
    pub(super) fn wrong(&self, field: &str, what: impl std::fmt::Display) -> Error {
        Error::new(
            ErrorKind::CorruptLog,
            format!("a deletion vector's descriptor is wrong: {what}"),
        )
        .with("field", field)
        .hint(RESTORE)
    }
}

/// The hint for an invalid deletion vector.
pub(super) const RESTORE: &str =
    "the deleted rows of its data file are unknown without it: restore the file from a backup of the table";

impl From<&DescriptorText<'_>> for Descriptor {
    fn from(text: &DescriptorText<'_>) -> Self {
        Self {
            storage_type: text.storage_type.0.clone().into_owned(),
            path_or_inline_dv: text.path_or_inline_dv.0.clone().into_owned(),
            offset: text.offset,
            size_in_bytes: text.size_in_bytes,
            cardinality: text.cardinality,
        }
    }
}
