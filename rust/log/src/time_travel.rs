//! Time travel: the version of the table at a timestamp.
//!
//! Protocol: *In-Commit Timestamps*, *Recommendations for Readers of Tables with In-Commit Timestamps*.

use std::sync::Arc;

use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use crate::file_times::adjusted_file_times;
use crate::history::{in_commit_timestamp, in_commit_timestamps, is_in_commit, read_commit_info};
use crate::listing::{Listing, LogFile};
use crate::segment::{not_a_table, version_range};
use crate::snapshot::LoadOptions;
use deltaic_storage::clock::now_ms;
use deltaic_storage::location::TableLocation;

/// Returns the newest version that was committed at or before a time. Fails with `VersionNotFound` with the
/// available range if the time is out of range.
///
/// With in-commit timestamps, a binary search reads only some of the commits.
pub async fn version_at(
    location: &Arc<TableLocation>,
    timestamp_ms: i64,
    options: LoadOptions,
) -> Result<Version> {
    Commits::of(location, options)
        .await?
        .at(location, timestamp_ms)
        .await
}

/// The same; a time between the newest commit and now is that of the newest version.
pub async fn version_at_or_newest(
    location: &Arc<TableLocation>,
    timestamp_ms: i64,
    options: LoadOptions,
) -> Result<Version> {
    let commits = Commits::of(location, options).await?;
    if timestamp_ms > commits.last.1 && timestamp_ms <= now_ms() {
        return Ok(commits.last.0);
    }
    commits.at(location, timestamp_ms).await
}

/// Returns the oldest version in the log that was committed at or after a time. Fails with `VersionNotFound` with
/// the available range if the time is after the newest commit.
pub async fn version_since(
    location: &Arc<TableLocation>,
    timestamp_ms: i64,
    options: LoadOptions,
) -> Result<Version> {
    let commits = Commits::of(location, options).await?;
    if timestamp_ms <= commits.first.1 {
        return Ok(commits.first.0);
    }
    if timestamp_ms > commits.last.1 {
        return Err(out_of_range(location, timestamp_ms, commits.first, commits.last));
    }
    commits.at(location, timestamp_ms.saturating_sub(1)).await?.next()
}

/// Returns the newest listed commit that is not later than a time; `None` if all are later or there are no
/// commits.
pub(crate) async fn newest_not_after(
    location: &Arc<TableLocation>,
    listing: &Listing,
    enabled: &InCommitTimestamps,
    timestamp_ms: i64,
) -> Result<Option<Version>> {
    if listing.commits().next().is_none() {
        return Ok(None);
    }
    let commits = Commits::among(location, listing, enabled).await?;
    commits.newest_not_after(location, timestamp_ms).await
}

/// The commits of a log, prepared for a search by time.
struct Commits {
    /// Commits whose timestamp is that of their file, with this timestamp.
    by_file: Vec<(Version, i64)>,
    /// Commits with an in-commit timestamp.
    by_commit: Vec<Arc<LogFile>>,
    first_in_commit: Option<(Version, i64)>,
    first: (Version, i64),
    last: (Version, i64),
}

impl Commits {
    async fn of(location: &Arc<TableLocation>, options: LoadOptions) -> Result<Self> {
        let listing = Listing::whole(location).await?;
        let Some((_, newest)) = version_range(&listing) else {
            return Err(not_a_table(&listing, location.uri()));
        };
        let enabled = in_commit_timestamps(location, &listing, newest, options).await?;
        Self::among(location, &listing, &enabled).await
    }

    async fn among(
        location: &Arc<TableLocation>,
        listing: &Listing,
        enabled: &InCommitTimestamps,
    ) -> Result<Self> {
        let Some((oldest, _)) = version_range(listing) else {
            return Err(not_a_table(listing, location.uri()));
        };
        let (mut by_file, mut by_commit): (Vec<Arc<LogFile>>, Vec<Arc<LogFile>>) = listing
            .commits()
            .filter(|file| file.path.version >= oldest)
            .cloned()
            .partition(|file| !is_in_commit(enabled, file.path.version));
        by_file.sort_by_key(|file| file.path.version);
        by_commit.sort_by_key(|file| file.path.version);
        let times = adjusted_file_times(listing, enabled);
        let by_file: Vec<(Version, i64)> = by_file
            .iter()
            .map(|file| {
                let version = file.path.version;
                (version, times.get(&version).copied().unwrap_or(file.modified_ms))
            })
            .collect();
        let first_in_commit = match by_commit.first() {
            Some(file) => Some(in_commit(location, file).await?),
            None => None,
        };
        let last_in_commit = match by_commit.last() {
            Some(file) if by_commit.len() > 1 => Some(in_commit(location, file).await?),
            _ => first_in_commit,
        };
        let first = by_file.first().copied().or(first_in_commit);
        let last = last_in_commit.or(by_file.last().copied());
        let (Some(first), Some(last)) = (first, last) else {
            return Err(
                Error::new(ErrorKind::VersionNotFound, "the log contains no commit")
                    .with("table", location.uri()),
            );
        };
        Ok(Self {
            by_file,
            by_commit,
            first_in_commit,
            first,
            last,
        })
    }

    /// Returns the newest commit that is not later than the time.
    async fn at(&self, location: &Arc<TableLocation>, timestamp_ms: i64) -> Result<Version> {
        let absent = || out_of_range(location, timestamp_ms, self.first, self.last);
        if timestamp_ms < self.first.1 || timestamp_ms > self.last.1 {
            return Err(absent());
        }
        let newest = self.newest_not_after(location, timestamp_ms).await?;
        newest.ok_or_else(absent)
    }

    /// Returns the newest commit that is not later than the time; `None` if all are later.
    async fn newest_not_after(
        &self,
        location: &Arc<TableLocation>,
        timestamp_ms: i64,
    ) -> Result<Option<Version>> {
        match self.first_in_commit {
            Some((mut found, time)) if time <= timestamp_ms => {
                // Binary search; the first commit is known not to be later.
                let mut rest = self.by_commit.get(1..).unwrap_or_default();
                while !rest.is_empty() {
                    let (before, after) = rest.split_at(rest.len() / 2);
                    let Some((middle, after)) = after.split_first() else {
                        break;
                    };
                    let (version, time) = in_commit(location, middle).await?;
                    if time <= timestamp_ms {
                        found = version;
                        rest = after;
                    } else {
                        rest = before;
                    }
                }
                Ok(Some(found))
            }
            _ => {
                let mut by_file = self.by_file.iter().rev();
                let newest = by_file.find(|(_, time)| *time <= timestamp_ms);
                Ok(newest.map(|(version, _)| *version))
            }
        }
    }
}

async fn in_commit(location: &Arc<TableLocation>, file: &Arc<LogFile>) -> Result<(Version, i64)> {
    let info = read_commit_info(location, file).await?;
    let version = file.path.version;
    Ok((version, in_commit_timestamp(info.as_deref(), version)?))
}

fn out_of_range(
    location: &TableLocation,
    timestamp_ms: i64,
    (first, first_ms): (Version, i64),
    (last, last_ms): (Version, i64),
) -> Error {
    Error::new(
        ErrorKind::VersionNotFound,
        format!(
            "no version was committed at {}: the log covers {} (version {first}) to {} (version {last})",
            spelled(timestamp_ms),
            spelled(first_ms),
            spelled(last_ms)
        ),
    )
    .with("table", location.uri())
    .with("timestamp_ms", timestamp_ms)
    .with("oldest", first)
    .with("newest", last)
    .hint(if timestamp_ms > last_ms {
        format!("the newest version is {last}: omit the timestamp to read it")
    } else {
        "specify a timestamp in this range, or a version".to_owned()
    })
}

fn spelled(timestamp_ms: i64) -> String {
    timestamp_ms
        .checked_mul(1000)
        .and_then(|micros| deltaic_protocol::expr::format_timestamp(micros, 'T'))
        .map_or_else(|| format!("{timestamp_ms} ms"), |text| text + "Z")
}
