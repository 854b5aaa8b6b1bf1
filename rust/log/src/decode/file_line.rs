//! Parses the file action of a line in one pass without a tree: the fast path for lines as writers usually
//! write them.
//!
//! It accepts a line only if it is certain of every byte, and then returns what serde would return. Other
//! lines (with spaces, escapes, unknown structures, damage) are left to
//! [`deltaic_protocol::actions::parse_line`], its reference implementation, which also reports errors.

use super::json_text::{escaped_end, plain_end};

/// A deletion vector descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Descriptor<'a> {
    pub(super) storage_type: &'a str,
    pub(super) path_or_inline_dv: &'a str,
    pub(super) offset: Option<i32>,
    pub(super) size_in_bytes: i32,
    pub(super) cardinality: i64,
}

/// The fields of an `add` that replay needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileAdd<'a> {
    pub(super) path: &'a str,
    pub(super) size: i64,
    pub(super) modification_time: i64,
    pub(super) deletion_vector: Option<Descriptor<'a>>,
    /// Position of the statistics in the line, including their quotes.
    pub(super) stats: Option<(usize, usize)>,
    pub(super) base_row_id: Option<i64>,
    pub(super) default_row_commit_version: Option<i64>,
}

/// The fields of a `remove` that replay needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileRemove<'a> {
    pub(super) path: &'a str,
    pub(super) deletion_timestamp: Option<i64>,
    pub(super) size: Option<i64>,
    pub(super) has_partition_values: bool,
    pub(super) deletion_vector: Option<Descriptor<'a>>,
}

/// The file action of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileLine<'a> {
    Add(FileAdd<'a>),
    Remove(FileRemove<'a>),
}

/// Partition values of a line, in its order.
pub(super) type PartitionPairs<'a> = Vec<(&'a str, Option<&'a str>)>;

/// Parses a line; its partition values are stored in `pairs`. `None` means that the slow path must parse it.
pub(super) fn parse_file_line<'a>(line: &'a [u8], pairs: &mut PartitionPairs<'a>) -> Option<FileLine<'a>> {
    pairs.clear();
    let mut cursor = Cursor { bytes: line, at: 0 };
    let parsed = if cursor.takes(b"{\"add\":{") {
        FileLine::Add(cursor.add(pairs)?)
    } else if cursor.takes(b"{\"remove\":{") {
        FileLine::Remove(cursor.remove(pairs)?)
    } else {
        return None;
    };
    (cursor.takes(b"}") && cursor.at == line.len()).then_some(parsed)
}

/// Fields that occurred, to detect duplicates.
#[derive(Default)]
struct SeenFields(u32);

impl SeenFields {
    fn first(&mut self, field: u32) -> Option<()> {
        let bit = 1u32 << field;
        let is_first = self.0 & bit == 0;
        self.0 |= bit;
        is_first.then_some(())
    }

    fn has(&self, fields: &[u32]) -> bool {
        fields.iter().all(|field| self.0 & (1 << field) != 0)
    }
}

const PATH: u32 = 0;
const PARTITION_VALUES: u32 = 1;
const SIZE: u32 = 2;
const TIME: u32 = 3;
const DATA_CHANGE: u32 = 4;
const STATS: u32 = 5;
const VECTOR: u32 = 6;
const BASE_ROW_ID: u32 = 7;
const ROW_COMMIT_VERSION: u32 = 8;
const TAGS: u32 = 9;
const EXTENDED: u32 = 10;

/// Maximum number of tags of a line; more are left to the slow path.
const MOST_TAGS: usize = 16;

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn takes(&mut self, token: &[u8]) -> bool {
        let taken = self
            .bytes
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(token));
        if taken {
            self.at += token.len();
        }
        taken
    }

    fn take(&mut self, token: &[u8]) -> Option<()> {
        self.takes(token).then_some(())
    }

    /// Whether another member or element follows. `None` if the next byte is neither a comma nor the end.
    fn has_next(&mut self, end: u8) -> Option<bool> {
        let next = self.peek()?;
        self.at += 1;
        match next {
            b',' => Some(true),
            next if next == end => Some(false),
            _ => None,
        }
    }

    /// Parses a string without escapes.
    fn text(&mut self) -> Option<&'a str> {
        self.take(b"\"")?;
        let end = plain_end(self.bytes, self.at)?;
        let text = std::str::from_utf8(self.bytes.get(self.at..end)?).ok()?;
        self.at = end + 1;
        Some(text)
    }

    /// Parses a member's name and its colon.
    fn name(&mut self) -> Option<&'a str> {
        let name = self.text()?;
        self.take(b":")?;
        Some(name)
    }

    fn null(&mut self) -> bool {
        self.takes(b"null")
    }

    fn or_null<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.null() {
            Some(None)
        } else {
            read(self).map(Some)
        }
    }

    /// Parses an integer of at most 18 digits, which always fits into `i64`.
    fn integer(&mut self) -> Option<i64> {
        let negative = self.takes(b"-");
        let start = self.at;
        let mut value = 0i64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
            self.at += 1;
        }
        let digits = self.at - start;
        let leading_zero = digits > 1 && self.bytes.get(start) == Some(&b'0');
        let has_next = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        if digits == 0 || digits > 18 || leading_zero || has_next || (negative && value == 0) {
            return None;
        }
        Some(if negative { -value } else { value })
    }

    fn boolean(&mut self) -> Option<()> {
        (self.takes(b"true") || self.takes(b"false")).then_some(())
    }

    /// Parses a string with escapes; returns its position including the quotes.
    fn escaped(&mut self) -> Option<(usize, usize)> {
        let start = self.at;
        self.take(b"\"")?;
        let (end, is_ascii) = escaped_end(self.bytes, self.at)?;
        if !is_ascii {
            std::str::from_utf8(self.bytes.get(self.at..end)?).ok()?;
        }
        self.at = end + 1;
        Some((start, self.at))
    }

    fn partition_values(&mut self, pairs: &mut PartitionPairs<'a>) -> Option<()> {
        self.take(b"{")?;
        if self.takes(b"}") {
            return Some(());
        }
        loop {
            let name = self.name()?;
            // A duplicate column is invalid, and very many columns are left to the slow path.
            if pairs.len() > 64 || pairs.iter().any(|(known, _)| *known == name) {
                return None;
            }
            let value = self.or_null(Self::text)?;
            pairs.push((name, value));
            if !self.has_next(b'}')? {
                return Some(());
            }
        }
    }

    fn descriptor(&mut self) -> Option<Descriptor<'a>> {
        self.take(b"{")?;
        let mut seen = SeenFields::default();
        let mut found = Descriptor {
            storage_type: "",
            path_or_inline_dv: "",
            offset: None,
            size_in_bytes: 0,
            cardinality: 0,
        };
        loop {
            match self.name()? {
                "storageType" => {
                    seen.first(0)?;
                    found.storage_type = self.text()?;
                }
                "pathOrInlineDv" => {
                    seen.first(1)?;
                    found.path_or_inline_dv = self.text()?;
                }
                "offset" => {
                    seen.first(2)?;
                    found.offset = match self.or_null(Self::integer)? {
                        Some(offset) => Some(i32::try_from(offset).ok()?),
                        None => None,
                    };
                }
                "sizeInBytes" => {
                    seen.first(3)?;
                    found.size_in_bytes = i32::try_from(self.integer()?).ok()?;
                }
                "cardinality" => {
                    seen.first(4)?;
                    found.cardinality = self.integer()?;
                }
                _ => return None,
            }
            if !self.has_next(b'}')? {
                break;
            }
        }
        seen.has(&[0, 1, 3, 4]).then_some(found)
    }

    fn add(&mut self, pairs: &mut PartitionPairs<'a>) -> Option<FileAdd<'a>> {
        let mut seen = SeenFields::default();
        let mut found = FileAdd {
            path: "",
            size: 0,
            modification_time: 0,
            deletion_vector: None,
            stats: None,
            base_row_id: None,
            default_row_commit_version: None,
        };
        loop {
            match self.name()? {
                "path" => {
                    seen.first(PATH)?;
                    found.path = self.text()?;
                }
                "partitionValues" => {
                    seen.first(PARTITION_VALUES)?;
                    self.partition_values(pairs)?;
                }
                "size" => {
                    seen.first(SIZE)?;
                    found.size = self.integer().filter(|size| *size >= 0)?;
                }
                "modificationTime" => {
                    seen.first(TIME)?;
                    found.modification_time = self.integer()?;
                }
                "dataChange" => {
                    seen.first(DATA_CHANGE)?;
                    self.boolean()?;
                }
                "stats" => {
                    seen.first(STATS)?;
                    found.stats = self.or_null(Self::escaped)?;
                }
                "deletionVector" => {
                    seen.first(VECTOR)?;
                    found.deletion_vector = self.or_null(Self::descriptor)?;
                }
                "baseRowId" => {
                    seen.first(BASE_ROW_ID)?;
                    found.base_row_id = self.or_null(Self::integer)?;
                }
                "defaultRowCommitVersion" => {
                    seen.first(ROW_COMMIT_VERSION)?;
                    found.default_row_commit_version = self.or_null(Self::integer)?;
                }
                "tags" => {
                    seen.first(TAGS)?;
                    self.tags()?;
                }
                _ => return None,
            }
            if !self.has_next(b'}')? {
                break;
            }
        }
        seen.has(&[PATH, PARTITION_VALUES, SIZE, TIME, DATA_CHANGE])
            .then_some(found)
    }

    fn remove(&mut self, pairs: &mut PartitionPairs<'a>) -> Option<FileRemove<'a>> {
        let mut seen = SeenFields::default();
        let mut found = FileRemove {
            path: "",
            deletion_timestamp: None,
            size: None,
            has_partition_values: false,
            deletion_vector: None,
        };
        loop {
            match self.name()? {
                "path" => {
                    seen.first(PATH)?;
                    found.path = self.text()?;
                }
                "deletionTimestamp" => {
                    seen.first(TIME)?;
                    found.deletion_timestamp = self.or_null(Self::integer)?;
                }
                "dataChange" => {
                    seen.first(DATA_CHANGE)?;
                    self.boolean()?;
                }
                "extendedFileMetadata" => {
                    seen.first(EXTENDED)?;
                    self.or_null(Self::boolean)?;
                }
                "partitionValues" => {
                    seen.first(PARTITION_VALUES)?;
                    found.has_partition_values =
                        self.or_null(|cursor| cursor.partition_values(pairs))?.is_some();
                }
                "size" => {
                    seen.first(SIZE)?;
                    found.size = self.or_null(|cursor| cursor.integer().filter(|size| *size >= 0))?;
                }
                "deletionVector" => {
                    seen.first(VECTOR)?;
                    found.deletion_vector = self.or_null(Self::descriptor)?;
                }
                "stats" => {
                    seen.first(STATS)?;
                    self.or_null(Self::escaped)?;
                }
                "baseRowId" => {
                    seen.first(BASE_ROW_ID)?;
                    self.or_null(Self::integer)?;
                }
                "defaultRowCommitVersion" => {
                    seen.first(ROW_COMMIT_VERSION)?;
                    self.or_null(Self::integer)?;
                }
                "tags" => {
                    seen.first(TAGS)?;
                    self.tags()?;
                }
                _ => return None,
            }
            if !self.has_next(b'}')? {
                break;
            }
        }
        seen.has(&[PATH, DATA_CHANGE]).then_some(found)
    }

    /// Parses tags, which serde requires to be a map of strings.
    fn tags(&mut self) -> Option<()> {
        if self.null() {
            return Some(());
        }
        self.take(b"{")?;
        if self.takes(b"}") {
            return Some(());
        }
        let mut names = [""; MOST_TAGS];
        for count in 0..MOST_TAGS {
            let name = self.name()?;
            if names.get(..count)?.contains(&name) {
                return None;
            }
            *names.get_mut(count)? = name;
            self.or_null(Self::escaped)?;
            if !self.has_next(b'}')? {
                return Some(());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
