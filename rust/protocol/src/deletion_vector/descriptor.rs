//! Deletion vector descriptors of file actions, and how a deletion vector must match its descriptor.
//!
//! Protocol: *Deletion Vector Descriptor Schema*.

use serde::{Deserialize, Serialize};

use super::bitmap::damaged;
use super::{Bitmap, Place, z85};
use crate::actions::Text;
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

    /// Validates everything except the bytes of the deletion vector (the storage type, the numbers and
    /// the path or inline data) and returns its location.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog`, or `PathEscape` if a prefix points outside of the table; both with the
    /// field.
    pub fn validate(&self) -> Result<Place<'_>> {
        self.size()?;
        let place = Place::of(self)?;
        if self.cardinality < 0 {
            let what = format!("its cardinality is {}", self.cardinality);
            return Err(self.wrong("deletionVector.cardinality", what));
        }
        match &place {
            Place::Inline(text) => {
                if let Some(offset) = self.offset {
                    let what = format!("it has the offset {offset} and lies in the log, where there is none");
                    return Err(self.wrong("deletionVector.offset", what));
                }
                self.inline_bytes(text)?;
            }
            Place::File(_) => {
                self.bytes_in_file()?;
            }
        }
        Ok(place)
    }

    /// Decodes an inline deletion vector; returns `None` if it is in a file.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` with the field.
    ///
    /// ```
    /// use deltaic_protocol::deletion_vector::Descriptor;
    /// let descriptor: Descriptor = serde_json::from_str(
    ///     r#"{"storageType":"i","pathOrInlineDv":"^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000f5","sizeInBytes":36,"cardinality":2}"#,
    /// )?;
    /// let bitmap = descriptor.decode_inline()?.ok_or("it is inline")?;
    /// assert!(bitmap.iter().eq([0, 5]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_inline(&self) -> Result<Option<Bitmap>> {
        let Place::Inline(text) = self.validate()? else {
            return Ok(None);
        };
        let bytes = self.inline_bytes(text)?;
        self.read(&bytes, ErrorKind::CorruptLog).map(Some)
    }

    /// Decodes the bytes of a deletion vector, as returned by [`super::unframe`].
    ///
    /// # Errors
    ///
    /// Returns `CorruptData` if the bytes are invalid or if their cardinality differs from that of the
    /// descriptor.
    pub fn decode(&self, vector: &[u8]) -> Result<Bitmap> {
        self.read(vector, ErrorKind::CorruptData)
    }

    fn read(&self, vector: &[u8], kind: ErrorKind) -> Result<Bitmap> {
        let wrong =
            |field: &str, what: &str| Error::new(kind, damaged(what)).with("field", field).hint(RESTORE);
        if u64::try_from(vector.len()).ok() != self.size().ok() {
            let what = format!(
                "it takes {} bytes, and the log says {}",
                vector.len(),
                self.size_in_bytes
            );
            return Err(wrong("deletionVector.sizeInBytes", &what));
        }
        let bitmap = Bitmap::read(vector).map_err(|what| wrong("deletionVector", &what))?;
        if u64::try_from(self.cardinality) != Ok(bitmap.len()) {
            let what = format!(
                "it deletes {} rows, and the log says {}",
                bitmap.len(),
                self.cardinality
            );
            return Err(wrong("deletionVector.cardinality", &what));
        }
        Ok(bitmap)
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

    /// The bytes of an inline deletion vector.
    fn inline_bytes(&self, text: &str) -> Result<Vec<u8>> {
        let size = usize::try_from(self.size()?).unwrap_or(usize::MAX);
        z85::decode_sized(text, size).map_err(|what| self.wrong("deletionVector.pathOrInlineDv", what))
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
    "the rows of its data file cannot be told apart without it: restore the file from a backup of the table";

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
