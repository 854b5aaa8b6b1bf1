//! Thrift's compact protocol, as far as needed to validate Parquet metadata before the reader trusts it.

/// Thrift's wire types.
const BYTE: u8 = 3;
pub(crate) const INTEGERS: std::ops::RangeInclusive<u8> = 4..=6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
pub(crate) const LISTS: std::ops::RangeInclusive<u8> = 9..=10;
const MAP: u8 = 11;
pub(crate) const STRUCT: u8 = 12;

/// Sequential reader of bytes; methods return `None` for invalid input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compact<'a> {
    /// The bytes that have not been read.
    pub(crate) rest: &'a [u8],
}

impl Compact<'_> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some(i64::try_from(number >> 1).ok()? ^ -i64::from(number & 1 == 1))
    }

    fn skip_bytes(&mut self, length: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(length).ok()?..)?;
        Some(())
    }

    /// Reads the field number, relative to the previous one, and the type of the next field; `Some(None)` at
    /// the end of the struct.
    pub(crate) fn field(&mut self, before: i16) -> Option<Option<(i16, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        let field = match byte >> 4 {
            0 => i16::try_from(self.zigzag()?).ok()?,
            step => before.checked_add(i16::from(step))?,
        };
        Some(Some((field, byte & 0x0f)))
    }

    /// Reads the length of a list and the type of its elements.
    pub(crate) fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.varint()?,
            length => u64::from(length),
        };
        Some((length, head & 0x0f))
    }

    /// Skips a field's value.
    pub(crate) fn skip_field(&mut self, kind: u8, depth: usize) -> Option<()> {
        // A boolean field has no value bytes: its type contains the value.
        if matches!(kind, 1 | 2) {
            return Some(());
        }
        self.skip(kind, depth)
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // Booleans in a list take one byte.
            1 | 2 | BYTE => self.skip_bytes(1),
            DOUBLE => self.skip_bytes(8),
            BINARY => {
                let length = self.varint()?;
                self.skip_bytes(length)
            }
            STRUCT => {
                let mut last = 0;
                while let Some((field, kind)) = self.field(last)? {
                    last = field;
                    self.skip_field(kind, depth.checked_sub(1)?)?;
                }
                Some(())
            }
            kind if INTEGERS.contains(&kind) => self.varint().map(|_| ()),
            kind if LISTS.contains(&kind) => {
                let (length, kind) = self.list()?;
                (0..length).try_for_each(|_| self.skip(kind, depth))
            }
            MAP => {
                let length = self.varint()?;
                if length == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..length).try_for_each(|_| {
                    self.skip(kinds >> 4, depth)?;
                    self.skip(kinds & 0x0f, depth)
                })
            }
            _ => None,
        }
    }
}
