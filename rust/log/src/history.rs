//! When versions were committed, and by whom.
//!
//! Protocol: *Commit Provenance Information*, *In-Commit Timestamps*, *Recommendations for Readers of Tables with
//! In-Commit Timestamps*.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::{ActionLine, CommitInfo, Metadata, parse_line};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::{StreamExt, TryStreamExt};

use crate::listing::{Listing, LogFile};
use crate::location::TableLocation;
use crate::segment::version_range;
use crate::snapshot::{LoadOptions, Snapshot};
use crate::store_error::store_error;

const COMMITS_IN_FLIGHT: usize = 32;

/// A commit of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRecord {
    /// The version it made.
    pub version: Version,
    /// When, in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// The `commitInfo` action as JSON text, where the commit has one.
    pub commit_info: Option<String>,
}

/// The commits that are still in the log, newest first, at most `limit` of them.
pub async fn history(
    location: &Arc<TableLocation>,
    limit: Option<usize>,
    options: LoadOptions,
) -> Result<Vec<CommitRecord>> {
    let snapshot = Snapshot::load(Arc::clone(location), None, options).await?;
    let listing = Listing::whole(location).await?;
    let commits: Vec<&LogFile> = listing
        .commits()
        .rev()
        .take(limit.unwrap_or(usize::MAX))
        .collect();
    let infos = commit_infos(location, commits.iter().copied()).await?;
    let file_times = adjusted_file_times(&listing);
    let in_commit = InCommitTimestamps::of(snapshot.metadata());
    commits
        .into_iter()
        .map(|file| {
            let version = file.path.version;
            let commit_info = infos.get(&version).cloned().flatten();
            let timestamp_ms = match &in_commit {
                Some(enabled) if enabled.holds_at(version) => {
                    in_commit_timestamp(commit_info.as_deref(), version)?
                }
                _ => file_times.get(&version).copied().unwrap_or(file.modified_ms),
            };
            Ok(CommitRecord {
                version,
                timestamp_ms,
                commit_info,
            })
        })
        .collect()
}

/// When a snapshot's version was committed.
pub async fn timestamp_of(snapshot: &Snapshot) -> Result<i64> {
    let (location, version) = (snapshot.location(), snapshot.version());
    let listing = Listing::whole(location).await?;
    let file = listing.commits().find(|file| file.path.version == version);
    if InCommitTimestamps::of(snapshot.metadata()).is_some_and(|enabled| enabled.holds_at(version)) {
        let infos = commit_infos(location, file.into_iter()).await?;
        return in_commit_timestamp(infos.get(&version).and_then(Option::as_deref), version);
    }
    let checkpoint = || {
        listing
            .files
            .iter()
            .find(|file| file.path.version == version)
            .map(|file| file.modified_ms)
    };
    adjusted_file_times(&listing)
        .get(&version)
        .copied()
        .or_else(checkpoint)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::VersionNotFound,
                "the commit's time is not known: its file is no longer in the log",
            )
            .with("version", version)
        })
}

/// The newest version that was committed at or before a time. Out of range is a `VersionNotFound` that gives the
/// range.
pub async fn version_at(
    location: &Arc<TableLocation>,
    timestamp_ms: i64,
    options: LoadOptions,
) -> Result<Version> {
    let newest = Snapshot::load(Arc::clone(location), None, options).await?;
    let listing = Listing::whole(location).await?;
    let mut times = adjusted_file_times(&listing);
    if let Some(enabled) = InCommitTimestamps::of(newest.metadata()) {
        let files = listing
            .commits()
            .filter(|file| enabled.holds_at(file.path.version));
        for (version, info) in commit_infos(location, files).await? {
            times.insert(version, in_commit_timestamp(info.as_deref(), version)?);
        }
    }
    if let Some((oldest, _)) = version_range(&listing) {
        times.retain(|version, _| *version >= oldest);
    }
    let found = times
        .iter()
        .rev()
        .find(|(_, time)| **time <= timestamp_ms)
        .map(|(version, _)| *version);
    let (first, last) = (times.first_key_value(), times.last_key_value());
    match (found, first, last) {
        (Some(version), _, Some((_, last))) if timestamp_ms <= *last => Ok(version),
        (_, Some((first, first_ms)), Some((last, last_ms))) => Err(Error::new(
            ErrorKind::VersionNotFound,
            format!(
                "no version was committed at {}: the log reaches from {} (version {first}) to {} (version {last})",
                spelled(timestamp_ms),
                spelled(*first_ms),
                spelled(*last_ms)
            ),
        )
        .with("table", location.uri())
        .with("timestamp_ms", timestamp_ms)
        .with("oldest", *first)
        .with("newest", *last)
        .hint("ask for a time in the range, or for a version")),
        _ => Err(Error::new(ErrorKind::VersionNotFound, "the log holds no commit").with("table", location.uri())),
    }
}

fn spelled(timestamp_ms: i64) -> String {
    timestamp_ms
        .checked_mul(1000)
        .and_then(|micros| deltaic_protocol::expr::format_timestamp(micros, 'T'))
        .map_or_else(|| format!("{timestamp_ms} ms"), |text| text + "Z")
}

/// The commits' file times, made to rise by at least a millisecond a version.
fn adjusted_file_times(listing: &Listing) -> BTreeMap<Version, i64> {
    let mut times = BTreeMap::new();
    let mut last = i64::MIN;
    for file in listing.commits() {
        last = file.modified_ms.max(last.saturating_add(1));
        times.insert(file.path.version, last);
    }
    times
}

/// From which version on commits carry their own time.
struct InCommitTimestamps {
    since: i64,
}

impl InCommitTimestamps {
    fn of(metadata: &Metadata) -> Option<Self> {
        let enabled = metadata
            .property("delta.enableInCommitTimestamps")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        // Without the enablement version they were there from the first commit.
        let since = metadata
            .property("delta.inCommitTimestampEnablementVersion")
            .and_then(|text| text.parse().ok());
        enabled.then(|| Self {
            since: since.unwrap_or(0),
        })
    }

    fn holds_at(&self, version: Version) -> bool {
        version.as_i64() >= self.since
    }
}

fn in_commit_timestamp(commit_info: Option<&str>, version: Version) -> Result<i64> {
    commit_info
        .and_then(|text| serde_json::from_str::<CommitInfo>(text).ok())
        .and_then(|info| info.in_commit_timestamp)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::CorruptLog,
                "the commit has no inCommitTimestamp, and the table has them enabled",
            )
            .with("path", deltaic_protocol::log_path::LogPath::commit(version))
            .with("version", version)
        })
}

async fn commit_infos(
    location: &Arc<TableLocation>,
    files: impl Iterator<Item = &LogFile>,
) -> Result<BTreeMap<Version, Option<String>>> {
    let reads: Vec<_> = files
        .map(|file| {
            let (location, version, relative) = (Arc::clone(location), file.path.version, file.relative());
            async move {
                let bytes = location
                    .read(&relative)
                    .await
                    .map_err(|error| store_error(&error, &relative))?;
                Ok((
                    version,
                    commit_info(&bytes)
                        .map_err(|error| error.with("path", relative).with("version", version))?,
                ))
            }
        })
        .collect();
    futures::stream::iter(reads)
        .buffered(COMMITS_IN_FLIGHT)
        .try_collect()
        .await
}

fn commit_info(bytes: &[u8]) -> Result<Option<String>> {
    const KEY: &[u8] = b"\"commitInfo\"";
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.windows(KEY.len()).take(64).any(|window| window == KEY)
            && let ActionLine::CommitInfo(info) = parse_line(line)?
        {
            return Ok(Some(info.get().to_owned()));
        }
    }
    Ok(None)
}
