//! Policy of log compaction: when and which range.

use std::ops::RangeInclusive;

use deltaic_protocol::Version;

/// Returns the range to compact after a commit, if one is due: the newest `interval` commits, aligned to
/// multiples of `interval` and not covered by a checkpoint. An interval of less than two disables compaction.
///
/// ```
/// use deltaic_log::compaction::range_due;
/// use deltaic_protocol::Version;
/// let version = Version::try_new;
/// assert_eq!(range_due(version(9)?, 5, None), Some(version(5)?..=version(9)?));
/// assert_eq!(range_due(version(8)?, 5, None), None);
/// assert_eq!(range_due(version(9)?, 5, Some(version(7)?)), None);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[must_use]
pub fn range_due(
    committed: Version,
    interval: u32,
    newest_checkpoint: Option<Version>,
) -> Option<RangeInclusive<Version>> {
    let interval = i64::from(interval);
    // Versions start at 0, so the first range ends one version before its length.
    let commits = committed.as_i64().checked_add(1)?;
    if interval < 2 || commits % interval != 0 {
        return None;
    }
    let from = Version::try_new(commits.checked_sub(interval)?).ok()?;
    let is_behind = newest_checkpoint.is_none_or(|checkpoint| checkpoint < from);
    is_behind.then_some(from..=committed)
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::Result;

    use super::*;

    #[test]
    fn each_commit_is_in_one_range() -> Result<()> {
        for interval in 2..8 {
            let mut covered = Vec::new();
            for number in 0..60 {
                if let Some(range) = range_due(Version::try_new(number)?, interval, None) {
                    assert_eq!(range.end().as_i64(), number);
                    covered.extend(range.start().as_i64()..=number);
                }
            }
            let expected: Vec<i64> = (0..i64::try_from(covered.len()).unwrap_or(0)).collect();
            assert_eq!(covered, expected, "{interval}");
            assert!(60 - covered.len() < usize::try_from(interval).unwrap_or(0));
        }
        Ok(())
    }

    #[test]
    fn a_range_without_savings_is_not_compacted() -> Result<()> {
        let version = Version::try_new;
        for interval in [0, 1] {
            assert_eq!(range_due(version(9)?, interval, None), None);
        }
        assert_eq!(range_due(version(i64::MAX)?, 2, None), None);
        for (checkpoint, is_due) in [(4, true), (5, false), (9, false), (20, false)] {
            let due = range_due(version(9)?, 5, Some(version(checkpoint)?));
            assert_eq!(due.is_some(), is_due, "{checkpoint}");
        }
        Ok(())
    }
}
