//! Curves: single orders of rows by several columns, in which rows that are near each other have near values in every
//! column.

use deltaic_protocol::schema::ColumnName;

/// The number of bits of a key.
const KEY_BITS: usize = 128;

/// More bits of a rank separate no more rows.
const MOST_RANK_BITS: usize = 16;

/// The number of bits of each rank in a key of so many columns.
pub(super) fn rank_bits(columns: usize) -> u32 {
    let bits = (KEY_BITS / columns.max(1)).clamp(1, MOST_RANK_BITS);
    u32::try_from(bits).unwrap_or(1)
}

/// How rows are sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct SortOrder {
    pub(super) columns: Vec<ColumnName>,
    pub(super) curve: Curve,
}

impl SortOrder {
    pub(super) fn of(columns: Vec<ColumnName>, curve: Curve) -> Self {
        Self { columns, curve }
    }
}

/// A curve through the ranks of several columns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Curve {
    #[default]
    ZOrder,
    /// Neighbours on it differ by one in the rank of one column.
    Hilbert,
}

impl Curve {
    /// Returns the place of ranks of so many bits on the curve. The ranks are changed.
    pub(super) fn key(self, ranks: &mut [u32], bits: u32) -> u128 {
        if let Self::Hilbert = self {
            let used = ranks.len().min(KEY_BITS);
            turn(ranks.get_mut(..used).unwrap_or_default(), bits);
        }
        z_order(ranks, bits)
    }
}

/// Replaces ranks by numbers whose Z-order is the Hilbert curve of the ranks.
///
/// The curve passes through the halves of each column in the order of a Gray code, and through each part of the cube in
/// its own direction. From the highest bit to the lowest, this undoes the reflections and exchanges of columns in the
/// parts; then it undoes the Gray code. See John Skilling, "Programming the Hilbert curve", 2004.
fn turn(ranks: &mut [u32], bits: u32) {
    for bit in (1..bits).rev() {
        let lower = (1_u32 << bit) - 1;
        for column in 0..ranks.len() {
            let (Some(&first), Some(&rank)) = (ranks.first(), ranks.get(column)) else {
                return;
            };
            if rank >> bit & 1 == 1 {
                set(ranks, 0, first ^ lower);
            } else {
                let differing = (first ^ rank) & lower;
                set(ranks, column, rank ^ differing);
                set(ranks, 0, first ^ differing);
            }
        }
    }
    let mut before = 0;
    for rank in ranks.iter_mut() {
        *rank ^= before;
        before = *rank;
    }
    // The parity of the higher bits of the last rank reflects each bit of all.
    let mut reflected = 0;
    for bit in 1..bits {
        if before >> bit & 1 == 1 {
            reflected ^= (1_u32 << bit) - 1;
        }
    }
    for rank in ranks {
        *rank ^= reflected;
    }
}

fn set(ranks: &mut [u32], column: usize, value: u32) {
    if let Some(rank) = ranks.get_mut(column) {
        *rank = value;
    }
}

/// Returns the place of ranks on the Z-order curve: their bits in turns, the highest ones first. Columns beyond 128 are ignored.
fn z_order(ranks: &[u32], bits: u32) -> u128 {
    let mut key = 0;
    for bit in (0..bits).rev() {
        for rank in ranks.iter().take(KEY_BITS) {
            key = (key << 1) | u128::from((rank >> bit) & 1);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bits_of_ranks_alternate() {
        assert_eq!(z_order(&[0b10, 0b11], 2), 0b1101);
        assert_eq!(z_order(&[0b011, 0b101, 0b110], 3), 0b011_101_110);
        assert_eq!(z_order(&[], 16), 0);
    }

    #[test]
    fn all_bits_fit_into_a_key() {
        for columns in 1..200 {
            let bits = rank_bits(columns);
            assert!((1..=16).contains(&bits));
            let highest = vec![(1 << bits) - 1; columns];
            let used = bits as usize * columns.min(KEY_BITS);
            assert_eq!(z_order(&highest, bits).count_ones() as usize, used.min(KEY_BITS));
        }
    }

    /// All places of a cube, in the order of the Hilbert curve.
    fn hilbert_walk(columns: u32, bits: u32) -> Vec<Vec<u32>> {
        let place =
            |number: u32| (0..columns).map(move |column| number >> (column * bits) & ((1 << bits) - 1));
        let mut walk: Vec<(u128, Vec<u32>)> = (0..1 << (columns * bits))
            .map(|number| {
                let ranks: Vec<u32> = place(number).collect();
                (Curve::Hilbert.key(&mut ranks.clone(), bits), ranks)
            })
            .collect();
        walk.sort_unstable();
        for (expected, (key, _)) in (0..).zip(&walk) {
            assert_eq!(*key, expected, "each place has a key of its own");
        }
        walk.into_iter().map(|(_, ranks)| ranks).collect()
    }

    #[test]
    fn neighbours_on_the_hilbert_curve_are_neighbours_in_one_column() {
        for (columns, bits) in [(1, 6), (2, 1), (2, 5), (3, 4), (4, 3), (5, 2)] {
            let walk = hilbert_walk(columns, bits);
            for (one, other) in walk.iter().zip(walk.iter().skip(1)) {
                let steps: Vec<u32> = one.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).collect();
                assert_eq!(steps.iter().sum::<u32>(), 1, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn of_one_column_the_hilbert_curve_is_its_order() {
        assert_eq!(
            hilbert_walk(1, 4),
            (0..16).map(|rank| vec![rank]).collect::<Vec<_>>()
        );
    }

    /// A square of 4 × 4 that starts at the corner and goes through its quarters.
    #[test]
    fn the_hilbert_curve_of_two_columns_is_known() {
        let quarters: Vec<Vec<u32>> = hilbert_walk(2, 2)
            .chunks(4)
            .map(|quarter| {
                quarter
                    .iter()
                    .map(|place| place[0] / 2 * 2 + place[1] / 2)
                    .collect()
            })
            .collect();
        for (quarter, expected) in quarters.iter().zip([0, 1, 3, 2].map(|n| vec![n; 4])) {
            let mirrored: Vec<u32> = expected.iter().map(|n| n % 2 * 2 + n / 2).collect();
            assert!(*quarter == expected || *quarter == mirrored, "{quarters:?}");
        }
        assert_eq!(hilbert_walk(2, 2)[0], [0, 0]);
    }

    #[test]
    fn many_columns_have_keys() {
        for columns in [0, 100, 128, 200] {
            let mut ranks = vec![1; columns];
            Curve::Hilbert.key(&mut ranks, rank_bits(columns));
        }
    }

    proptest! {
        /// A row that is nowhere greater is nowhere later.
        #[test]
        fn the_order_is_monotonic(ranks in prop::collection::vec((0u32..1 << 16, 0u32..1 << 16), 1..8)) {
            let lower: Vec<u32> = ranks.iter().map(|(one, other)| *one.min(other)).collect();
            let upper: Vec<u32> = ranks.iter().map(|(one, other)| *one.max(other)).collect();
            prop_assert!(z_order(&lower, 16) <= z_order(&upper, 16));
            prop_assert_eq!(z_order(&lower, 16) == z_order(&upper, 16), lower == upper);
        }
    }
}
