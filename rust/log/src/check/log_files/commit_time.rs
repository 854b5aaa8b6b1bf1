//! Checks that commit timestamps are within the calendar.
//!
//! Protocol: *Commit Provenance Information*, *In-Commit Timestamps*.

use std::ops::RangeInclusive;

use deltaic_protocol::actions::CommitInfo;

use crate::check::findings::diagnosis::IMPOSSIBLE_TIME;
use crate::check::findings::finding::Finding;

/// The range of the years 1 to 9999 in milliseconds since the epoch, which date types of most languages
/// support.
const MOMENTS_MS: RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// Returns findings for times of a `commitInfo` that are outside of the years 1 to 9999.
pub(super) fn validate_times(info: &CommitInfo) -> impl Iterator<Item = Finding> + use<> {
    let times = [
        ("inCommitTimestamp", info.in_commit_timestamp),
        ("timestamp", info.timestamp),
    ];
    times.into_iter().filter_map(|(field, time)| {
        let time = time.filter(|time| !MOMENTS_MS.contains(time))?;
        let message = format!("the commit timestamp, {time} ms, is outside the years 1 to 9999");
        Some(Finding::new(&IMPOSSIBLE_TIME, message).in_field(format!("commitInfo.{field}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_limited_to_the_range_of_dates() {
        for (time, odd) in [
            (0, 0),
            (-62_135_596_800_000, 0),
            (253_402_300_799_999, 0),
            (-62_135_596_800_001, 2),
            (253_402_300_800_000, 2),
            (i64::MAX, 2),
            (i64::MIN, 2),
        ] {
            let info = CommitInfo {
                timestamp: Some(time),
                in_commit_timestamp: Some(time),
                ..CommitInfo::default()
            };
            assert_eq!(validate_times(&info).count(), odd, "{time}");
        }
    }
}
