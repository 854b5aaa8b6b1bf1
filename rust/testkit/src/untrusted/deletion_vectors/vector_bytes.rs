//! Arbitrary bytes as a deletion vector: a naive reader finds the same rows, and the serialized vector reads the same.

use std::ops::Range;

use deltaic_protocol::ErrorKind;
use deltaic_protocol::deletion_vector::Bitmap;

use super::vector_naive;
use crate::untrusted::memory::{Bound, bounded};

/// A container of ten bytes takes a struct and its own list, and lists double as they grow. Adjacent to runs that
/// touch, a bitset is also represented as runs: four bytes for two of its bits.
pub(super) const BOUND: Bound = Bound {
    per_byte: 48,
    spare: 32 * 1024,
};

/// The valid row indexes of a vector.
const ROWS: Range<u64> = 0..1 << 63;

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    let read = bounded(BOUND, bytes.len(), || Bitmap::decode(bytes));
    match (read, vector_naive::ranges(bytes)) {
        (Ok(bitmap), Some(rows)) => {
            holds(
                &bitmap,
                &joined(rows.iter().map(|run| *run.start()..*run.end() + 1)),
            );
        }
        (Err(error), None) => assert_eq!(error.kind(), ErrorKind::CorruptData),
        (read, naive) => panic!("{read:?}, and naively {naive:?}"),
    }
}

/// Merges adjacent ranges.
pub(super) fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut found: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match found.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => found.push(range),
        }
    }
    found
}

/// Verifies by every method that a bitmap has exactly these rows, also after it is serialized and read.
pub(super) fn holds(bitmap: &Bitmap, rows: &[Range<u64>]) {
    assert!(bitmap.deleted_ranges(ROWS).eq(rows.iter().cloned()));
    let count = |rows: &[Range<u64>]| rows.iter().map(|run| run.end - run.start).sum::<u64>();
    assert_eq!(bitmap.len(), count(rows));
    assert_eq!(bitmap.is_empty(), rows.is_empty());
    assert_eq!(bitmap.min(), rows.first().map(|run| run.start));
    assert_eq!(bitmap.max(), rows.last().map(|run| run.end - 1));
    let few = || rows.iter().take(3).chain(rows.iter().rev().take(3));
    for run in few() {
        assert!(bitmap.contains(run.start) && bitmap.contains(run.end - 1));
        assert!(!bitmap.contains(run.end) && (run.start == 0 || !bitmap.contains(run.start - 1)));
        let before: u64 = rows
            .iter()
            .take_while(|other| other.start < run.start)
            .map(|other| other.end - other.start)
            .sum();
        assert_eq!(bitmap.count_below(run.start), before);
        masks(bitmap, run.start.saturating_sub(70)..run.start.saturating_add(70));
    }
    let again = bitmap.encode().expect("a decoded vector can be encoded");
    let decoded = Bitmap::decode(&again).expect("an encoded vector can be decoded");
    assert_eq!(&decoded, bitmap);
    let naive = vector_naive::ranges(&again).expect("the encoded bytes are a vector");
    assert_eq!(
        joined(naive.into_iter().map(|run| *run.start()..*run.end() + 1)),
        rows
    );
    assert_eq!(
        decoded.encode().ok(),
        Some(again),
        "the encoding is not deterministic"
    );
}

/// Mask, kept rows and deleted rows of a range agree with `contains`.
fn masks(bitmap: &Bitmap, rows: Range<u64>) {
    let kept = |row: &u64| !bitmap.contains(*row);
    let mask = bitmap.keep_mask(rows.clone()).expect("the mask fits into memory");
    assert!(mask.iter().eq(rows.clone().map(|row| kept(&row))));
    let ranges = bitmap.kept_ranges(rows.clone()).flatten();
    assert!(ranges.eq(rows.filter(kept)));
}
