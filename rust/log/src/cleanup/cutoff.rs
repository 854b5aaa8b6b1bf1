//! Computes the oldest retained commit from a time and a retention period.
//!
//! Protocol: *Metadata Cleanup*: days begin at midnight UTC, and a commit at midnight is an acceptable cutoff.

use std::collections::BTreeMap;

use deltaic_protocol::Version;

const DAY_MS: i64 = 86_400_000;

/// Tables with a shorter retention may lose commits at any time. Other tables retain every commit this long after the
/// store wrote it, whatever its in-commit timestamp: slower writers list the log again.
pub(crate) const SHORT_RETENTION_MS: i64 = 3_600_000;

/// The point up to which a log may be truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// The midnight up to which the log has expired, in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// The newest commit at or before it, or an older one: it and all later commits are retained. `None` if every
    /// commit is newer.
    pub commit: Option<Version>,
}

impl Cutoff {
    /// The cutoff for commits with these times, in milliseconds since the epoch.
    ///
    /// ```
    /// use deltaic_log::cleanup::Cutoff;
    /// use deltaic_protocol::Version;
    /// let times = [(Version::ZERO, 10), (Version::try_new(1)?, 20)].into();
    /// assert_eq!(Cutoff::of(&times, 20).commit, Some(Version::try_new(1)?));
    /// assert_eq!(Cutoff::of(&times, 19).commit, Some(Version::ZERO));
    /// assert_eq!(Cutoff::of(&times, 9).commit, None);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    #[must_use]
    pub fn of(times: &BTreeMap<Version, i64>, timestamp_ms: i64) -> Self {
        // Times should increase with the version; if not, no commit that follows a newer one counts as expired.
        let expired = times.iter().take_while(|(_, time)| **time <= timestamp_ms);
        Self {
            timestamp_ms,
            commit: expired.last().map(|(version, _)| *version),
        }
    }
}

/// The midnight UTC up to which a log has expired, all in milliseconds since the epoch.
///
/// ```
/// use deltaic_log::cleanup::cutoff_ms;
/// const DAY: i64 = 86_400_000;
/// assert_eq!(cutoff_ms(40 * DAY + 1, 30 * DAY), 10 * DAY);
/// assert_eq!(cutoff_ms(40 * DAY, 30 * DAY), 10 * DAY);
/// assert_eq!(cutoff_ms(40 * DAY - 1, 30 * DAY), 9 * DAY);
/// ```
#[must_use]
pub fn cutoff_ms(now_ms: i64, retention_ms: i64) -> i64 {
    let expired = now_ms.saturating_sub(retention_ms);
    expired.saturating_sub(expired.rem_euclid(DAY_MS))
}

/// The midnight before which an unreferenced file counts as orphaned and not as in progress: no checkpoint or commit
/// takes a day.
pub(super) fn left_behind_ms(now_ms: i64) -> i64 {
    cutoff_ms(now_ms, DAY_MS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// protocol: metadata-cleanup.1
        #[test]
        fn files_within_the_retention_are_not_deleted(
            now in 0i64..4_000_000_000_000, retention in 0i64..10_000_000_000,
        ) {
            let cutoff = cutoff_ms(now, retention);
            prop_assert_eq!(cutoff.rem_euclid(DAY_MS), 0);
            prop_assert!(cutoff <= now - retention && now - retention < cutoff + DAY_MS);
            prop_assert!(left_behind_ms(now) <= now - DAY_MS);
        }

        #[test]
        fn the_cutoff_is_the_newest_that_is_not_newer(mut times in proptest::collection::vec(0i64..50, 0..8), at in 0i64..50) {
            times.sort_unstable();
            let times: BTreeMap<Version, i64> = times
                .into_iter()
                .enumerate()
                .filter_map(|(version, time)| Some((Version::try_new(i64::try_from(version).ok()?).ok()?, time)))
                .collect();
            let expected = times.iter().filter(|(_, time)| **time <= at).map(|(version, _)| *version).max();
            prop_assert_eq!(Cutoff::of(&times, at).commit, expected);
        }
    }

    #[test]
    fn no_time_is_too_far_away() {
        assert!(cutoff_ms(i64::MIN, i64::MAX) <= i64::MIN + DAY_MS);
        assert!(cutoff_ms(i64::MAX, 0) > i64::MAX - DAY_MS);
    }
}
