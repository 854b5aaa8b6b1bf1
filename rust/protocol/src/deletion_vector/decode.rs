//! Validates deletion vector descriptors and decodes the bytes of deletion vectors.
//!
//! Protocol: *Deletion Vector Descriptor Schema*, *Deletion Vector Format*.

use super::bitmap::damaged;
use super::descriptor::{Descriptor, RESTORE};
use super::location::VectorLocation;
use super::{Bitmap, z85};
use crate::{Error, ErrorKind, Result};

impl Descriptor {
    /// Validates everything except the bytes of the deletion vector (the storage type, the numbers and
    /// the path or inline data) and returns its location.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog`, or `PathEscape` if a prefix points outside of the table; both with the
    /// field.
    pub fn validate(&self) -> Result<VectorLocation<'_>> {
        self.size()?;
        let place = VectorLocation::of(self)?;
        if self.cardinality < 0 {
            let what = format!("its cardinality is {}", self.cardinality);
            return Err(self.wrong("deletionVector.cardinality", what));
        }
        match &place {
            VectorLocation::Inline(text) => {
                if let Some(offset) = self.offset {
                    let what = format!("it is inline, but has the offset {offset}");
                    return Err(self.wrong("deletionVector.offset", what));
                }
                self.inline_bytes(text)?;
            }
            VectorLocation::File(_) => {
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
        let VectorLocation::Inline(text) = self.validate()? else {
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
                "it has {} bytes, but {} according to the log",
                vector.len(),
                self.size_in_bytes
            );
            return Err(wrong("deletionVector.sizeInBytes", &what));
        }
        let bitmap = Bitmap::read(vector).map_err(|what| wrong("deletionVector", &what))?;
        if u64::try_from(self.cardinality) != Ok(bitmap.len()) {
            let what = format!(
                "it deletes {} rows, but {} according to the log",
                bitmap.len(),
                self.cardinality
            );
            return Err(wrong("deletionVector.cardinality", &what));
        }
        Ok(bitmap)
    }

    /// The bytes of an inline deletion vector.
    fn inline_bytes(&self, text: &str) -> Result<Vec<u8>> {
        let size = usize::try_from(self.size()?).unwrap_or(usize::MAX);
        z85::decode_sized(text, size).map_err(|what| self.wrong("deletionVector.pathOrInlineDv", what))
    }
}
