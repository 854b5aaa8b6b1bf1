//! The location of a deletion vector: inline in the log, or in a file.
//!
//! Protocol: *Deletion Vector Descriptor Schema*, *Derived Fields*.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

use super::descriptor::Descriptor;
use super::z85;
use crate::{Error, ErrorKind, Result};

/// The number of characters of a file name: a UUID in Z85.
const NAME_DIGITS: usize = 20;

/// The field that contains the location.
const FIELD: &str = "deletionVector.pathOrInlineDv";

/// Characters of a prefix that are not percent-encoded in a path of the log, which is decoded once:
/// letters, digits and these.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The location of the bytes of a deletion vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VectorLocation<'a> {
    /// Inline in the log, Z85-encoded.
    Inline(&'a str),
    /// In a file. The path is encoded like the `path` of a file action: percent-encoded, and relative to
    /// the table or absolute.
    File(Cow<'a, str>),
}

impl<'a> VectorLocation<'a> {
    /// The location in a descriptor. The other fields are not validated.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog`, or `PathEscape` if a prefix points outside of the table; both with the
    /// field.
    ///
    /// ```
    /// use deltaic_protocol::deletion_vector::{Descriptor, VectorLocation};
    /// let descriptor: Descriptor = serde_json::from_str(
    ///     r#"{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6}"#,
    /// )?;
    /// let path = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";
    /// assert_eq!(VectorLocation::of(&descriptor)?, VectorLocation::File(path.into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(descriptor: &'a Descriptor) -> Result<Self> {
        let text = descriptor.path_or_inline_dv.as_str();
        match descriptor.storage_type.as_str() {
            "i" => Ok(Self::Inline(text)),
            "u" => relative(descriptor, text).map(|path| Self::File(path.into())),
            "p" if is_absolute(text) => Ok(Self::File(text.into())),
            "p" => Err(descriptor.wrong(FIELD, "its storage type is \"p\", and its path is not absolute")),
            other => {
                let what = format!("the storage type {other:?} is not known");
                Err(descriptor.wrong("deletionVector.storageType", what))
            }
        }
    }
}

/// The name of a new deletion vector file in the root of the table, from a UUID, and the text that refers
/// to it in descriptors of storage type `u`.
///
/// Protocol: *Deletion Vector Descriptor Schema*, *Deletion Vector File Storage Format*.
///
/// # Errors
///
/// Returns `ValueError` if the text is not a UUID.
///
/// ```
/// use deltaic_protocol::deletion_vector::name_of_file;
/// let (name, text) = name_of_file("d2c639aa-8816-431a-aaf6-d3fe2512ff61")?;
/// assert_eq!(name, "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin");
/// assert_eq!(text, "^-aqEH.-t@S}K{vb[*k^");
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn name_of_file(id: &str) -> Result<(String, String)> {
    let id = Uuid::try_parse(id).map_err(|error| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("{id:?} is not a UUID: {error}"),
        )
    })?;
    Ok((file_name(&id), z85::encode(id.as_bytes())))
}

fn file_name(id: &Uuid) -> String {
    format!("deletion_vector_{}.bin", id.hyphenated())
}

/// Whether a path starts at a root or is a URI.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
        || path
            .split_once(':')
            .is_some_and(|(scheme, _)| !scheme.contains('/'))
}

/// The path of a file that is specified by a prefix and a UUID.
fn relative(descriptor: &Descriptor, text: &str) -> Result<String> {
    let split = text
        .len()
        .checked_sub(NAME_DIGITS)
        .and_then(|at| text.split_at_checked(at));
    let Some((prefix, name)) = split else {
        let what = format!("its text does not end in the {NAME_DIGITS} characters of a file's name");
        return Err(descriptor.wrong(FIELD, what));
    };
    let id = z85::decode(name).map_err(|what| descriptor.wrong(FIELD, what))?;
    let id = Uuid::from_slice(&id).map_err(|error| descriptor.wrong(FIELD, error))?;
    let file = file_name(&id);
    if prefix.is_empty() {
        return Ok(file);
    }
    if prefix.split('/').any(|folder| folder == "..") {
        let what = "the prefix of a deletion vector's file leads out of its folder";
        return Err(Error::new(ErrorKind::PathEscape, what)
            .with("field", FIELD)
            .with("path", prefix));
    }
    if prefix.split('/').any(|folder| folder.is_empty() || folder == ".") {
        return Err(descriptor.wrong(FIELD, "its prefix is not the name of a folder"));
    }
    Ok(format!("{}/{file}", utf8_percent_encode(prefix, ENCODED)))
}
