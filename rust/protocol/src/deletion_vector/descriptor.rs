//! A deletion vector's descriptor as a file action of a commit holds it, and what a vector must have in common with it.
//!
//! Protocol: *Deletion Vector Descriptor Schema*.

use serde::{Deserialize, Serialize};

use super::bitmap::damaged;
use super::{Bitmap, Place, z85};
use crate::actions::Text;
use crate::{Error, ErrorKind, Result};

/// The descriptor, not yet judged.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DescriptorText<'a> {
    /// `u`, `i` or `p`.
    #[serde(borrow)]
    pub storage_type: Text<'a>,
    /// Where the vector is, or the vector itself.
    #[serde(borrow)]
    pub path_or_inline_dv: Text<'a>,
    /// Where in its file it starts.
    pub offset: Option<i32>,
    /// How many bytes it takes.
    pub size_in_bytes: i32,
    /// How many rows it deletes.
    pub cardinality: i64,
}

/// The descriptor, not yet judged, on its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// `u`, `i` or `p`.
    pub storage_type: String,
    /// Where the vector is, or the vector itself.
    pub path_or_inline_dv: String,
    /// Where in its file it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i32>,
    /// How many bytes it takes.
    pub size_in_bytes: i32,
    /// How many rows it deletes.
    pub cardinality: i64,
}

impl Descriptor {
    /// The part of a logical file's key that the vector makes: its storage type, text and offset.
    #[must_use]
    pub fn key(&self) -> (&str, &str, Option<i32>) {
        (&self.storage_type, &self.path_or_inline_dv, self.offset)
    }

    /// Judges what can be judged without the vector's bytes: the storage type, the numbers, and the text, whose place
    /// is given.
    ///
    /// Errors: `CorruptLog`, or `PathEscape` for a prefix that leads out of the table; both name the field.
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

    /// The vector that stands in the log itself; none where it is in a file.
    ///
    /// Errors: `CorruptLog`, naming the field.
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

    /// The vector whose bytes these are, as [`super::unframe`] gives them.
    ///
    /// Errors: `CorruptData` where they are damaged, or hold another number of rows than the descriptor says.
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

    /// Judges a decoded vector against the number of records of its data file.
    ///
    /// Errors: `CorruptData` where it deletes a row that the file does not have.
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

    /// How many bytes the vector takes.
    pub(super) fn size(&self) -> Result<u64> {
        u64::try_from(self.size_in_bytes).map_err(|_| {
            let what = format!("its size is {} bytes", self.size_in_bytes);
            self.wrong("deletionVector.sizeInBytes", what)
        })
    }

    /// The bytes of a vector in the log.
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

/// What helps against a vector that is not what it should be.
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
