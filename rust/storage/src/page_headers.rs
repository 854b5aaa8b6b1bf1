//! The page headers of a column chunk: sizes of the pages and numbers of their values.
//!
//! The Parquet reader trusts a header before it reads the page, so headers are validated first.

use crate::thrift::{Compact, INTEGERS, STRUCT};

/// The sizes and counts that a page header claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageClaims {
    /// Size of the page as stored, in bytes.
    pub compressed: u64,
    /// Size of the page after decompression, in bytes.
    pub uncompressed: u64,
    /// Number of values of a data page, including NULLs; 0 for a dictionary page.
    pub values: u64,
    /// Whether this is a dictionary page.
    pub is_dictionary: bool,
    /// Whether values are encoded as prefixes of the previous value plus a suffix, so that few bytes expand
    /// to many.
    pub is_by_prefix: bool,
}

impl PageClaims {
    /// Returns the claims of a header and its length in bytes; `None` if the header is incomplete or invalid.
    #[must_use]
    pub fn of_header(bytes: &[u8]) -> Option<(Self, usize)> {
        let (found, rest) = Header::read(bytes)?;
        Some((found.claims()?, bytes.len() - rest.len()))
    }
}

/// The encoding `DELTA_BYTE_ARRAY`.
const BY_PREFIX: i32 = 7;
/// Maximum nesting depth of structs in a header; the format has three levels.
const DEPTH: usize = 8;
/// Iterator over the pages of a chunk, up to the first invalid header.
#[derive(Debug)]
pub struct Pages<'a> {
    bytes: &'a [u8],
}

impl<'a> Pages<'a> {
    /// Creates the iterator for a chunk's bytes.
    #[must_use]
    pub fn of(chunk: &'a [u8]) -> Self {
        Self { bytes: chunk }
    }
}

impl Iterator for Pages<'_> {
    type Item = Option<PageClaims>;

    /// Returns the claims of the next page; `Some(None)` if the remaining bytes are not a page.
    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let read = Header::read(self.bytes).and_then(|(found, rest)| {
            let compressed = usize::try_from(found.compressed?).ok()?;
            Some((found.claims()?, rest.get(compressed..)?))
        });
        match read {
            Some((claims, rest)) => {
                self.bytes = rest;
                Some(Some(claims))
            }
            None => {
                self.bytes = &[];
                Some(None)
            }
        }
    }
}

/// Page types.
const DATA_PAGE: i32 = 0;
const INDEX_PAGE: i32 = 1;
const DICTIONARY_PAGE: i32 = 2;
const DATA_PAGE_V2: i32 = 3;

/// The relevant fields of a header and of its structs. A header is valid only if each of them occurs once,
/// with its own type and within 32 bits: readers may disagree on anything else.
#[derive(Default)]
struct Found {
    kind: Option<i32>,
    uncompressed: Option<i32>,
    compressed: Option<i32>,
    /// Values and encoding of a data page, version 1 and version 2.
    data: (Option<i32>, Option<i32>),
    data_v2: (Option<i32>, Option<i32>),
    /// Which structs occur, by field number.
    structs: [bool; 9],
}

impl Found {
    /// Returns the slot of a number by its field and the field of the enclosing struct, 0 for the header
    /// itself.
    fn number(&mut self, parent: i16, field: i16) -> Option<&mut Option<i32>> {
        Some(match (parent, field) {
            (0, 1) => &mut self.kind,
            (0, 2) => &mut self.uncompressed,
            (0, 3) => &mut self.compressed,
            (5, 1) => &mut self.data.0,
            (5, 2) => &mut self.data.1,
            (8, 1) => &mut self.data_v2.0,
            (8, 4) => &mut self.data_v2.1,
            _ => return None,
        })
    }

    /// Records a struct of the header; `None` if it occurs twice.
    fn note_struct(&mut self, field: i16) -> Option<()> {
        let seen = self.structs.get_mut(usize::try_from(field).ok()?);
        let is_first = seen.is_none_or(|seen| !std::mem::replace(seen, true));
        is_first.then_some(())
    }

    fn claims(&self) -> Option<PageClaims> {
        let [_, _, _, _, _, data, _, dictionary, data_v2] = self.structs;
        let kind = self.kind?;
        let (values, encoding) = match (kind, data, dictionary, data_v2) {
            (DATA_PAGE, true, false, false) => (self.data.0?, self.data.1),
            (DATA_PAGE_V2, false, false, true) => (self.data_v2.0?, self.data_v2.1),
            (DICTIONARY_PAGE, false, true, false) | (INDEX_PAGE, false, false, false) => (0, None),
            _ => return None,
        };
        Some(PageClaims {
            compressed: u64::try_from(self.compressed?).ok()?,
            uncompressed: u64::try_from(self.uncompressed?).ok()?,
            values: u64::try_from(values).ok()?,
            is_dictionary: kind == DICTIONARY_PAGE,
            is_by_prefix: encoding == Some(BY_PREFIX),
        })
    }
}

/// Reader of a page header.
struct Header<'a> {
    bytes: Compact<'a>,
    found: Found,
}

impl<'a> Header<'a> {
    /// Reads a header; returns it and the bytes after it.
    fn read(bytes: &'a [u8]) -> Option<(Found, &'a [u8])> {
        let mut header = Header {
            bytes: Compact { rest: bytes },
            found: Found::default(),
        };
        header.fields(0, DEPTH)?;
        Some((header.found, header.bytes.rest))
    }

    /// Reads the fields of a struct up to its end.
    fn fields(&mut self, parent: i16, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let mut last = 0i16;
        while let Some((field, kind)) = self.bytes.field(last)? {
            last = field;
            let is_struct = parent == 0 && matches!(field, 5..=8);
            if self.found.number(parent, field).is_some() {
                if !INTEGERS.contains(&kind) {
                    return None;
                }
                let number = i32::try_from(self.bytes.zigzag()?).ok()?;
                let before = self.found.number(parent, field)?.replace(number);
                if before.is_some() {
                    return None;
                }
            } else if is_struct != (parent == 0 && kind == STRUCT && field <= 8) {
                return None;
            } else if is_struct {
                self.found.note_struct(field)?;
                self.fields(field, depth)?;
            } else {
                self.bytes.skip_field(kind, depth)?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a typical header: type, sizes, and a data page header with an arbitrary list.
    fn data_page(uncompressed: u8, compressed: u8, values: u8, encoding: u8) -> Vec<u8> {
        let even = |number: u8| number * 2;
        vec![
            0x15,
            0,
            0x15,
            even(uncompressed),
            0x15,
            even(compressed),
            0x2c,
            0x15,
            even(values),
            0x15,
            even(encoding),
            0x15,
            6,
            0x15,
            6,
            0x1c,
            0x18,
            1,
            b'z',
            0,
            0,
            0,
        ]
    }

    #[test]
    fn claims_are_read_page_by_page() {
        let mut chunk = vec![
            0x15, 4, 0x15, 20, 0x15, 4, 0x4c, 0x15, 6, 0x15, 0, 0, 0, b'a', b'b',
        ];
        chunk.extend(data_page(9, 1, 3, 8));
        chunk.push(b'x');
        chunk.extend(data_page(60, 0, 50, 7));
        let pages: Vec<_> = Pages::of(&chunk).collect();
        let data = |uncompressed, compressed, values, is_by_prefix| {
            Some(PageClaims {
                compressed,
                uncompressed,
                values,
                is_dictionary: false,
                is_by_prefix,
            })
        };
        let dictionary = PageClaims {
            compressed: 2,
            uncompressed: 10,
            is_dictionary: true,
            ..PageClaims::default()
        };
        assert_eq!(
            pages,
            [Some(dictionary), data(9, 1, 3, false), data(60, 0, 50, true)]
        );
    }

    #[test]
    fn an_invalid_page_header_ends_the_pages() {
        for bytes in [
            &[0xff; 40][..],
            &[0x15, 0, 0x15, 2],
            // A negative size, and a size past the end.
            &[0x15, 0, 0x15, 1, 0x15, 0, 0],
            &[0x15, 0, 0x15, 2, 0x15, 80, 0],
            &[0x1c; 100],
            // A size twice, a size that is text, a size past 32 bits, a field past 16 bits.
            &[0x15, 4, 0x15, 2, 0x05, 4, 2, 0x15, 0, 0x4c, 0, 0],
            &[0x15, 4, 0x18, 0, 0x15, 0, 0x4c, 0, 0],
            &[0x15, 4, 0x15, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x15, 0, 0x4c, 0, 0],
            &[0x15, 4, 0x05, 0x84, 0x80, 0x08, 2, 0x15, 0, 0x4c, 0, 0],
            // The header of another page type than declared, of two types, and of none.
            &[0x15, 0, 0x15, 2, 0x15, 0, 0x4c, 0x15, 2, 0, 0],
            &[
                0x15, 0, 0x15, 2, 0x15, 0, 0x2c, 0x15, 2, 0x15, 0, 0, 0x3c, 0x15, 2, 0, 0,
            ],
            &[0x15, 0, 0x15, 2, 0x15, 0, 0],
            // A list that claims 2^32 elements of one byte.
            &[0x19, 0xf3, 0xff, 0xff, 0xff, 0xff, 0x0f],
        ] {
            assert_eq!(Pages::of(bytes).collect::<Vec<_>>(), [None], "{bytes:?}");
        }
        assert_eq!(Pages::of(&[]).next(), None);
    }
}
