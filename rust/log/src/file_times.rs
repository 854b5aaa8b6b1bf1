//! The modification times of commits, as a history orders them.

use std::collections::BTreeMap;

use deltaic_protocol::Version;
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;

use crate::listing::Listing;
use crate::segment::version_range;

/// Returns the modification times of the commits, strictly increasing: each at least one millisecond after
/// the previous one.
///
/// Commits before the enablement of in-commit timestamps precede it, even if copying the table gave their
/// files later times: a search for a time at or after the enablement never considers them.
pub(crate) fn adjusted_file_times(listing: &Listing, times: &InCommitTimestamps) -> BTreeMap<Version, i64> {
    let mut adjusted = BTreeMap::new();
    let mut last = i64::MIN;
    let first = first_of_history(listing);
    for file in listing.commits().filter(|file| file.path.version >= first) {
        last = file.modified_ms.max(last.saturating_add(1));
        adjusted.insert(file.path.version, last);
    }
    if let InCommitTimestamps::Since(enablement) = times
        && adjusted.range(enablement.version..).next().is_some()
    {
        let mut next = enablement.timestamp_ms;
        for (_, time) in adjusted.range_mut(..enablement.version).rev() {
            next = next.saturating_sub(1).min(*time);
            *time = next;
        }
    }
    adjusted
}

/// Returns the first version of the history: the oldest readable version, or an earlier commit from which all
/// commits up to it exist.
///
/// A commit before a gap is not part of the history: a stalled writer may have written it after the log was
/// cleaned up.
pub(crate) fn first_of_history(listing: &Listing) -> Version {
    let mut first = version_range(listing).map_or(Version::ZERO, |(oldest, _)| oldest);
    for file in listing.commits().rev() {
        let version = file.path.version;
        match version.next() {
            _ if version >= first => {}
            Ok(next) if next == first => first = version,
            _ => break,
        }
    }
    first
}
