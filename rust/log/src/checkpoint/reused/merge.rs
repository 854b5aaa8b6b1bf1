//! Which small sidecars are merged with the actions that are written anyway.
//!
//! Each checkpoint writes at least one sidecar. As in a log-structured merge tree, sidecars of similar size are merged,
//! so that a table has few of them, and an action is written again only a number of times that is logarithmic in the
//! size of a sidecar.

/// Returns the sidecars that are not merged. `written` is the number of actions that are written anyway; `most` the
/// maximum number in a sidecar. A sidecar is merged if it is not full and has at most twice as many actions as are
/// written with it, the smallest first.
pub(super) fn unmerged<T>(
    mut sidecars: Vec<T>,
    rows: impl Fn(&T) -> u64,
    mut written: u64,
    most: u64,
) -> Vec<T> {
    let mut by_size: Vec<usize> = (0..sidecars.len()).collect();
    by_size.sort_by_key(|place| sidecars.get(*place).map_or(0, &rows));
    let mut merged = vec![false; sidecars.len()];
    for place in by_size {
        let size = sidecars.get(place).map_or(0, &rows);
        if written == 0 || written >= most || size >= most || size > written.saturating_mul(2) {
            break;
        }
        written += size;
        if let Some(is_merged) = merged.get_mut(place) {
            *is_merged = true;
        }
    }
    let mut merged = merged.into_iter();
    sidecars.retain(|_| merged.next() == Some(false));
    sidecars
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(sidecars: &[u64], written: u64) -> Vec<u64> {
        unmerged(sidecars.to_vec(), |rows| *rows, written, 100)
    }

    #[test]
    fn sidecars_of_similar_size_are_merged() {
        assert_eq!(kept(&[], 5), [0; 0]);
        assert_eq!(kept(&[10, 10], 5), [0; 0]);
        assert_eq!(kept(&[40, 11], 5), [40, 11]);
        assert_eq!(kept(&[40, 10], 5), [40]);
        assert_eq!(kept(&[30, 10], 5), [0; 0]);
        // Full sidecars remain, and nothing is merged if nothing is written, or a full sidecar is.
        assert_eq!(kept(&[100, 90, 60], 60), [100, 90]);
        assert_eq!(kept(&[1, 1], 0), [1, 1]);
        assert_eq!(kept(&[1, 1], 100), [1, 1]);
    }

    /// The sidecars after writing actions together with the merged ones, and the number of actions written.
    fn step(sidecars: Vec<u64>, added: u64, most: u64) -> (Vec<u64>, u64) {
        let before: u64 = sidecars.iter().sum();
        let mut kept = unmerged(sidecars, |rows| *rows, added, most);
        let written = added + before - kept.iter().sum::<u64>();
        let mut left = written;
        while left > 0 {
            kept.push(left.min(most));
            left -= left.min(most);
        }
        (kept, written)
    }

    proptest! {
        /// Whatever the sizes of the additions, there are few sidecars, and few actions are written again.
        #[test]
        fn costs_are_logarithmic(added in proptest::collection::vec(1u64..3_000, 1..400), most in 1_000u64..20_000) {
            let (mut sidecars, mut written, mut total) = (Vec::new(), 0, 0);
            for added in &added {
                let (next, rows) = step(sidecars, *added, most);
                (sidecars, written, total) = (next, written + rows, total + added);
                prop_assert_eq!(sidecars.iter().sum::<u64>(), total);
                let full = total.div_ceil(most);
                prop_assert!(sidecars.len() as u64 <= 2 * full + 16, "{:?}", sidecars);
            }
            // An action is written again when its sidecar grows by half: at most log(20,000) / log(1.5) times.
            prop_assert!(written <= 26 * total, "{} of {}", written, total);
        }

        /// Equal additions, as of a regular job, are written about as often as a binary counter changes its bits.
        #[test]
        fn equal_additions_are_written_a_few_times(added in 100u64..2_000) {
            let (mut sidecars, mut written) = (Vec::new(), 0);
            for _ in 0..200 {
                let (next, rows) = step(sidecars, added, 50_000);
                (sidecars, written) = (next, written + rows);
            }
            prop_assert!(written <= 10 * 200 * added, "{}", written / added);
            prop_assert!(sidecars.len() as u64 <= (200 * added).div_ceil(50_000) + 10, "{:?}", sidecars);
        }
    }
}
