//! Counts the non-NULL values of a page by its definition levels, since NULLs need no memory.

use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::schema::types::ColumnDescriptor;

/// Returns how many values of a data page are not NULL; all of them if its levels are invalid.
pub(super) fn present(page: &Page, column: &ColumnDescriptor) -> u64 {
    let (Ok(most), Ok(repeated)) = (
        u64::try_from(column.max_def_level()),
        u64::try_from(column.max_rep_level()),
    ) else {
        return u64::from(page.num_values());
    };
    let values = u64::from(page.num_values());
    if most == 0 {
        return values;
    }
    let levels = match page {
        Page::DictionaryPage { .. } => return 0,
        Page::DataPage {
            buf,
            def_level_encoding,
            ..
        } => {
            if *def_level_encoding != Encoding::RLE {
                return values;
            }
            let below = if repeated > 0 {
                split(buf).map(|(_, below)| below)
            } else {
                Some(buf.as_ref())
            };
            below.and_then(split).map(|(levels, _)| levels)
        }
        Page::DataPageV2 {
            buf,
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => {
            let start = usize::try_from(*rep_levels_byte_len).unwrap_or(usize::MAX);
            let length = usize::try_from(*def_levels_byte_len).unwrap_or(usize::MAX);
            buf.get(start..).and_then(|below| below.get(..length))
        }
    };
    levels
        .and_then(|levels| count(levels, most, values))
        .unwrap_or(values)
}

/// Splits off bytes that are prefixed by their length in four bytes; returns them and the rest.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, below) = bytes.split_first_chunk::<4>()?;
    below.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// Counts how many of the first `values` levels are `most`, the maximum level.
///
/// Parquet format: *RLE / Bit-Packing Hybrid*.
fn count(mut levels: &[u8], most: u64, values: u64) -> Option<u64> {
    let width = u64::BITS - most.leading_zeros();
    let (mut found, mut left) = (0u64, values);
    while left > 0 {
        let head = varint(&mut levels)?;
        let length = head >> 1;
        if head & 1 == 0 {
            let bytes = usize::try_from(width.div_ceil(8)).ok()?;
            let (level, rest) = levels.split_at_checked(bytes)?;
            levels = rest;
            let level = level
                .iter()
                .rev()
                .fold(0u64, |level, byte| (level << 8) | u64::from(*byte));
            let run = length.min(left);
            left -= run;
            found += if level == most { run } else { 0 };
        } else {
            // `length` groups of eight levels, each in `width` bytes.
            let bytes = usize::try_from(length.checked_mul(u64::from(width))?).ok()?;
            let (packed, rest) = levels.split_at_checked(bytes)?;
            levels = rest;
            for group in packed.chunks(usize::try_from(width).ok()?) {
                let bits = group
                    .iter()
                    .rev()
                    .fold(0u128, |bits, byte| (bits << 8) | u128::from(*byte));
                for place in 0..left.min(8) {
                    let shift = u32::try_from(place).ok()? * width;
                    found += u64::from((bits >> shift) & ((1 << width) - 1) == u128::from(most));
                }
                left = left.saturating_sub(8);
            }
        }
    }
    Some(found)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_levels_are_counted() {
        // 5 times the level 1, then 3 times the level 0.
        assert_eq!(count(&[10, 1, 6, 0], 1, 8), Some(5));
        // A run that extends beyond the page counts only up to the end of the page.
        assert_eq!(count(&[200, 1, 1], 1, 8), Some(8));
        // Levels of two bits, packed: 3 0 3 1 2 3 0 0, of which six count.
        let packed = [0b0111_0011, 0b0000_1110];
        assert_eq!(count(&[3, packed[0], packed[1]], 3, 8), Some(3));
        assert_eq!(count(&[3, packed[0], packed[1]], 3, 5), Some(2));
    }

    #[test]
    fn levels_that_make_no_sense_are_not_counted() {
        for levels in [
            &[][..],
            &[10],
            &[0, 0],
            &[1],
            &[0xff; 20],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            assert_eq!(count(levels, 1, 8), None, "{levels:?}");
        }
    }
}
