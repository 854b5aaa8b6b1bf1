//! Ranges and masks agree with the set for each row.

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::Config;
use proptest::{collection::vec, prop_oneof};

use super::written_containers::{Form, bytes_of, vector};
use crate::deletion_vector::Bitmap;

proptest! {
    #![proptest_config(Config::with_cases(400))]

    #[test]
    fn every_part_of_a_file_is_masked(made in vector(), at in 0usize..1000, before in 0u64..200_000, count in 0u64..150_000) {
        let bitmap = Bitmap::decode(&bytes_of(&made, Form::Portable)).unwrap();
        // A row near a deleted one.
        let near = bitmap.iter().step_by(997).nth(at % 200).or(bitmap.min()).unwrap_or(1 << 33);
        let start = near.saturating_sub(before);
        let rows = start..start + count;
        agree(&bitmap, rows)?;
    }

    #[test]
    fn small_parts_are_masked(
        positions in vec(prop_oneof![0u64..200, 65_500u64..65_600, (1u64 << 32) - 20..(1 << 32) + 20], 0..120),
        start in prop_oneof![0u64..200, 65_400u64..65_600, (1u64 << 32) - 100..(1 << 32) + 20],
        count in 0u64..200,
    ) {
        agree(&Bitmap::from_positions(positions).unwrap(), start..start + count)?;
    }
}

fn agree(bitmap: &Bitmap, rows: std::ops::Range<u64>) -> Result<(), proptest::test_runner::TestCaseError> {
    let mask = bitmap.keep_mask(rows.clone()).unwrap();
    prop_assert_eq!(mask.len() as u64, rows.end - rows.start);
    for (kept, row) in mask.iter().zip(rows.clone()) {
        prop_assert_eq!(kept, !bitmap.contains(row), "{}", row);
    }
    prop_assert_eq!(
        rows.end - rows.start - mask.count_set_bits() as u64,
        bitmap.count_below(rows.end) - bitmap.count_below(rows.start)
    );
    for (ranges, kept) in [
        (bitmap.deleted_ranges(rows.clone()).collect::<Vec<_>>(), false),
        (bitmap.kept_ranges(rows.clone()).collect(), true),
    ] {
        prop_assert!(
            ranges
                .iter()
                .all(|range| rows.start <= range.start && range.start < range.end)
        );
        prop_assert!(ranges.iter().all(|range| range.end <= rows.end));
        prop_assert!(
            ranges.windows(2).all(|pair| pair[0].end < pair[1].start),
            "they touch: {ranges:?}"
        );
        let inside = rows
            .clone()
            .zip(mask.iter())
            .filter(|(_, is_kept)| *is_kept == kept)
            .map(|(row, _)| row);
        prop_assert!(ranges.into_iter().flatten().eq(inside));
    }
    Ok(())
}

/// The range of all possible positions is not counted row by row.
#[test]
fn the_ends_are_not_reason_to_overflow() {
    let most = i64::MAX as u64;
    let bitmap = Bitmap::from_positions([0, most]).unwrap();
    assert!(bitmap.deleted_ranges(0..u64::MAX).eq([0..1, most..most + 1]));
    assert!(bitmap.kept_ranges(0..u64::MAX).eq([1..most, most + 1..u64::MAX]));
    assert!(bitmap.kept_ranges(most..most).next().is_none());
    #[expect(clippy::reversed_empty_ranges, reason = "it is what must not panic")]
    let turned = 9..3;
    assert!(bitmap.deleted_ranges(turned.clone()).next().is_none());
    assert!(bitmap.kept_ranges(turned.clone()).next().is_none());
    assert_eq!(bitmap.keep_mask(turned).unwrap().len(), 0);
    let error = bitmap.keep_mask(0..u64::MAX).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::InvalidArgument);
    assert_eq!(
        (
            bitmap.count_below(0),
            bitmap.count_below(1),
            bitmap.count_below(u64::MAX)
        ),
        (0, 1, 2)
    );
}
