//! The headers of a column chunk's pages, read only for what they claim: how large the pages are and how many values
//! they hold.
//!
//! The Parquet reader believes a header before it has seen the page, so somebody must look at it first.

use crate::thrift::{Compact, INTEGERS, STRUCT};

/// What the header of a page claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageClaims {
    /// Bytes of the page as it is stored.
    pub compressed: u64,
    /// Bytes of the page once they are decompressed.
    pub uncompressed: u64,
    /// Values of a data page, NULL or not; of a dictionary none.
    pub values: u64,
    /// Whether it is a dictionary.
    pub is_dictionary: bool,
    /// Whether values are spelled by what they have in common with the one before, so that a few bytes are many.
    pub is_by_prefix: bool,
}

impl PageClaims {
    /// What a header claims, and how many bytes it has; none where it does not end within these bytes.
    #[must_use]
    pub fn of_header(bytes: &[u8]) -> Option<(Self, usize)> {
        let (found, rest) = Header::read(bytes)?;
        Some((found.claims()?, bytes.len() - rest.len()))
    }
}

/// The encoding `DELTA_BYTE_ARRAY`.
const BY_PREFIX: i32 = 7;
/// How deep a header's structs may nest; those of the format do three times.
const DEPTH: usize = 8;
/// The pages of a chunk, up to where its headers make no sense.
#[derive(Debug)]
pub struct Pages<'a> {
    bytes: &'a [u8],
}

impl<'a> Pages<'a> {
    /// The pages of a chunk's bytes.
    #[must_use]
    pub fn of(chunk: &'a [u8]) -> Self {
        Self { bytes: chunk }
    }
}

impl Iterator for Pages<'_> {
    type Item = Option<PageClaims>;

    /// The claims of the next page; `Some(None)` where there are bytes left that are no page.
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

/// The kinds of pages.
const DATA_PAGE: i32 = 0;
const INDEX_PAGE: i32 = 1;
const DICTIONARY_PAGE: i32 = 2;
const DATA_PAGE_V2: i32 = 3;

/// The fields of a header that count here, and those of the structs in it. A header is taken only when each of them
/// stands there once, in its own type and within 32 bits: about all else readers may be of two minds.
#[derive(Default)]
struct Found {
    kind: Option<i32>,
    uncompressed: Option<i32>,
    compressed: Option<i32>,
    /// Values and encoding of a data page of the first and of the second form.
    data: (Option<i32>, Option<i32>),
    data_v2: (Option<i32>, Option<i32>),
    /// The structs that stand there, by their fields.
    structs: [bool; 9],
}

impl Found {
    /// Where a number goes by its field and the field of the struct that holds it, 0 for the header itself.
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

    /// Notes a struct of the header's; none where it stands there twice.
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

/// A page's header.
struct Header<'a> {
    bytes: Compact<'a>,
    found: Found,
}

impl<'a> Header<'a> {
    /// A header and the bytes behind it.
    fn read(bytes: &'a [u8]) -> Option<(Found, &'a [u8])> {
        let mut header = Header {
            bytes: Compact { rest: bytes },
            found: Found::default(),
        };
        header.fields(0, DEPTH)?;
        Some((header.found, header.bytes.rest))
    }

    /// The fields of a struct, up to its end.
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

    /// A header as writers write it: type, sizes, and the header of a data page with a list of nothing in particular.
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
    fn what_is_no_page_ends_the_pages() {
        for bytes in [
            &[0xff; 40][..],
            &[0x15, 0, 0x15, 2],
            // A negative size, and one past the end.
            &[0x15, 0, 0x15, 1, 0x15, 0, 0],
            &[0x15, 0, 0x15, 2, 0x15, 80, 0],
            &[0x1c; 100],
            // A size twice, a size that is text, a size past 32 bits, a field past 16 bits.
            &[0x15, 4, 0x15, 2, 0x05, 4, 2, 0x15, 0, 0x4c, 0, 0],
            &[0x15, 4, 0x18, 0, 0x15, 0, 0x4c, 0, 0],
            &[0x15, 4, 0x15, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x15, 0, 0x4c, 0, 0],
            &[0x15, 4, 0x05, 0x84, 0x80, 0x08, 2, 0x15, 0, 0x4c, 0, 0],
            // The header of another kind of page than it says it is, of two kinds, and of none.
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
