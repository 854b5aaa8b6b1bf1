//! The frames of a deletion vector file: after one byte for the version, each frame has a size, the
//! deletion vector and a checksum.
//!
//! Protocol: *Deletion Vector File Storage Format*. Unlike in the deletion vectors, numbers are
//! big-endian.

use std::ops::Range;

use super::bitmap::damaged;
use super::bytes::Bytes;
use super::descriptor::RESTORE;
use super::{Bitmap, Descriptor};
use crate::{Error, ErrorKind, Result};

/// The version of the format.
const VERSION: u8 = 1;

/// The offset of the first frame.
const FIRST: u64 = 1;

/// The bytes of a frame in addition to the deletion vector: its size before and its checksum after it.
const AROUND: u64 = 8;

impl Descriptor {
    /// The byte range of the frame in its file: the size, the deletion vector, the checksum. Without an
    /// offset, it is the first frame.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` if the size is negative or the offset is before the first frame.
    pub fn bytes_in_file(&self) -> Result<Range<u64>> {
        let start = self
            .offset
            .map_or(Some(FIRST), |offset| u64::try_from(offset).ok());
        match start.filter(|start| *start >= FIRST) {
            Some(start) => Ok(start..start.saturating_add(self.size()?).saturating_add(AROUND)),
            None => {
                let what = format!("its offset is {}", self.offset.unwrap_or_default());
                Err(self.wrong("deletionVector.offset", what))
            }
        }
    }
}

/// Validates the version of a deletion vector file from its first bytes.
///
/// # Errors
///
/// Returns `CorruptData` if the version is missing or not 1.
pub fn check_version(beginning: &[u8]) -> Result<()> {
    match beginning.first() {
        Some(&VERSION) => Ok(()),
        Some(other) => Err(wrong(
            "version",
            &format!("the version of its file is {other}, not {VERSION}"),
        )),
        None => Err(wrong("version", "its file is empty")),
    }
}

/// Extracts the bytes of a deletion vector from its frame, which is located at
/// [`Descriptor::bytes_in_file`].
///
/// # Errors
///
/// Returns `CorruptData` if the frame is truncated, has a different size than the descriptor, or fails
/// its checksum.
pub fn unframe<'a>(frame: &'a [u8], descriptor: &Descriptor) -> Result<&'a [u8]> {
    let in_size = |what: String| wrong("deletionVector.sizeInBytes", &what);
    let mut bytes = Bytes(frame);
    let (size, stated) = (bytes.u32_be("its size").map_err(in_size)?, descriptor.size()?);
    if u64::from(size) != stated {
        let what = format!("it has {size} bytes according to its file, but {stated} according to the log");
        return Err(in_size(what));
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let vector = bytes.take(size, "its bytes").map_err(in_size)?;
    let checksum = bytes.u32_be("its checksum").map_err(in_size)?;
    let is = crc32fast::hash(vector);
    if checksum != is {
        let what = format!("its checksum is {is:08x}, but {checksum:08x} according to its file");
        return Err(wrong("checksum", &what));
    }
    Ok(vector)
}

/// Extracts the bytes of a deletion vector from a complete file.
///
/// # Errors
///
/// Returns the errors of [`check_version`] and [`unframe`]; `CorruptData` if the file ends before the
/// deletion vector starts; `CorruptLog` if the numbers of the descriptor are invalid.
pub fn parse_frame<'a>(file: &'a [u8], descriptor: &Descriptor) -> Result<&'a [u8]> {
    check_version(file)?;
    let place = descriptor.bytes_in_file()?;
    let frame = usize::try_from(place.start)
        .ok()
        .and_then(|start| file.get(start..));
    let Some(frame) = frame else {
        let (offset, length) = (place.start, file.len());
        let what = format!("its offset is {offset}, and its file has {length} bytes");
        return Err(wrong("deletionVector.offset", &what));
    };
    unframe(frame, descriptor)
}

fn wrong(field: &str, what: &str) -> Error {
    Error::new(ErrorKind::CorruptData, damaged(what))
        .with("field", field)
        .hint(RESTORE)
}

/// Builds a deletion vector file in memory.
///
/// ```
/// use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, VectorFile, parse_frame};
/// let bitmap = Bitmap::from_positions([3, 4, 7])?;
/// let mut file = VectorFile::new();
/// let (offset, size_in_bytes) = file.push(&bitmap)?;
/// let descriptor = Descriptor {
///     storage_type: "u".to_owned(),
///     path_or_inline_dv: "ab^-aqEH.-t@S}K{vb[*k^".to_owned(),
///     offset: Some(offset),
///     size_in_bytes,
///     cardinality: 3,
/// };
/// let bytes = file.into_bytes();
/// assert_eq!(descriptor.decode(parse_frame(&bytes, &descriptor)?)?, bitmap);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VectorFile(Vec<u8>);

impl VectorFile {
    /// Creates a file without deletion vectors.
    #[must_use]
    pub fn new() -> Self {
        Self(vec![VERSION])
    }

    /// Adds a deletion vector; returns the offset and the size in bytes for its descriptor.
    ///
    /// # Errors
    ///
    /// Returns `ValueError` if the file would exceed the maximum offset; nothing is added then.
    pub fn push(&mut self, bitmap: &Bitmap) -> Result<(i32, i32)> {
        let vector = bitmap.encode()?;
        let full = |_| {
            Error::new(
                ErrorKind::InvalidArgument,
                "a file of deletion vectors has 2 GiB at most",
            )
        };
        let offset = i32::try_from(self.0.len()).map_err(full)?;
        let size = i32::try_from(vector.len()).map_err(full)?;
        self.0.extend_from_slice(&size.to_be_bytes());
        self.0.extend_from_slice(&vector);
        self.0.extend_from_slice(&crc32fast::hash(&vector).to_be_bytes());
        Ok((offset, size))
    }

    /// The size of the file in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// The bytes of the file.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl Default for VectorFile {
    fn default() -> Self {
        Self::new()
    }
}
