//! Deleted and surviving rows in a part of a file, as ranges and as a mask.

use std::iter;
use std::ops::Range;

use arrow_buffer::{BooleanBuffer, Buffer};
use roaring::bitmap::Iter;

use super::Bitmap;
use crate::{Error, ErrorKind, Result};

impl Bitmap {
    /// The deleted rows in `rows` as ascending ranges that neither overlap nor touch.
    ///
    /// It iterates over containers and runs, not over single rows.
    ///
    /// ```
    /// use deltaic_protocol::deletion_vector::Bitmap;
    /// let bitmap = Bitmap::from_positions([1, 2, 3, 7])?;
    /// assert!(bitmap.deleted_ranges(2..8).eq([2..4, 7..8]));
    /// assert!(bitmap.kept_ranges(2..8).eq([4..7]));
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn deleted_ranges(&self, rows: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut found = self
            .buckets_of(rows)
            .flat_map(|(base, mut inside)| {
                iter::from_fn(move || {
                    let range = inside.next_range()?;
                    Some(base + u64::from(*range.start())..base + u64::from(*range.end()) + 1)
                })
            })
            .peekable();
        // A run may continue in the next container.
        iter::from_fn(move || {
            let mut range = found.next()?;
            while let Some(next) = found.next_if(|next| next.start == range.end) {
                range.end = next.end;
            }
            Some(range)
        })
    }

    /// The rows in `rows` that are not deleted, as ascending ranges that neither overlap nor touch.
    pub fn kept_ranges(&self, rows: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut deleted = self.deleted_ranges(rows.clone());
        let mut next = rows.start;
        iter::from_fn(move || {
            while next < rows.end {
                let hole = deleted.next().unwrap_or(rows.end..rows.end);
                let kept = next..hole.start;
                next = hole.end;
                if !kept.is_empty() {
                    return Some(kept);
                }
            }
            None
        })
    }

    /// A mask of `rows` with a set bit for each surviving row. It allocates one bit per row, so `rows`
    /// must come from the data file, not from the log.
    ///
    /// # Errors
    ///
    /// Returns `ValueError` if the mask cannot be allocated.
    ///
    /// ```
    /// use deltaic_protocol::deletion_vector::Bitmap;
    /// let mask = Bitmap::from_positions([1, 2, 7])?.keep_mask(1..5)?;
    /// assert!(mask.iter().eq([false, false, true, true]));
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn keep_mask(&self, rows: Range<u64>) -> Result<BooleanBuffer> {
        let too_many = "there are too many rows for one mask";
        let too_many = || Error::new(ErrorKind::InvalidArgument, too_many);
        let count = usize::try_from(rows.end.saturating_sub(rows.start)).map_err(|_| too_many())?;
        let mut words = Vec::new();
        words
            .try_reserve_exact(count.div_ceil(64))
            .map_err(|_| too_many())?;
        words.resize(count.div_ceil(64), u64::MAX);
        if self.has_runs() {
            for range in self.deleted_ranges(rows.clone()) {
                clear(&mut words, range.start - rows.start, range.end - rows.start);
            }
        } else {
            // If few rows are adjacent, one range per row is ten times slower than iterating over the
            // rows.
            let mut room = [0; ROWS_AT_ONCE];
            for (base, mut inside) in self.buckets_of(rows.clone()) {
                loop {
                    let found = inside.next_many(&mut room);
                    if found.is_empty() {
                        break;
                    }
                    for low in found {
                        clear_one(&mut words, base + u64::from(*low) - rows.start);
                    }
                }
            }
        }
        for word in &mut words {
            // Arrow counts bits from the lowest bit of the first byte.
            *word = word.to_le();
        }
        Ok(BooleanBuffer::new(Buffer::from_vec(words), 0, count))
    }

    /// The buckets that overlap `rows`: the position of the first possible row, and the deleted rows of
    /// the overlap, relative to it.
    fn buckets_of(&self, rows: Range<u64>) -> impl Iterator<Item = (u64, Iter<'_>)> + '_ {
        let end = rows.end;
        self.buckets()
            .bitmaps()
            .map(|(key, bitmap)| (u64::from(key) << 32, bitmap))
            .take_while(move |(base, _)| *base < end)
            .filter_map(move |(base, bitmap)| {
                let first = u32::try_from(rows.start.saturating_sub(base)).ok()?;
                let last = u32::try_from(rows.end.checked_sub(base)?.checked_sub(1)?).unwrap_or(u32::MAX);
                // `range` panics if the start is after the end.
                (first <= last).then(|| (base, bitmap.range(first..=last)))
            })
    }
}

/// Number of rows that are taken from a bitmap at once.
const ROWS_AT_ONCE: usize = 256;

fn clear_one(words: &mut [u64], bit: u64) {
    let word = usize::try_from(bit / 64).ok().and_then(|at| words.get_mut(at));
    if let Some(word) = word {
        *word &= !(1 << (bit % 64));
    }
}

/// Clears the bits from `start` to `end`, exclusive; `end` is greater than `start`.
fn clear(words: &mut [u64], start: u64, end: u64) {
    let index = |bit: u64| usize::try_from(bit / 64).unwrap_or(usize::MAX);
    let (first, last) = (index(start), index(end - 1));
    let from = u64::MAX << (start % 64);
    let to = u64::MAX >> (63 - (end - 1) % 64);
    let Some(words) = words.get_mut(first..=last) else {
        return;
    };
    match words {
        [word] => *word &= !(from & to),
        [head, middle @ .., tail] => {
            *head &= !from;
            middle.fill(0);
            *tail &= !to;
        }
        [] => {}
    }
}
