//! When versions were committed, and by whom.
//!
//! Protocol: *Commit Provenance Information*, *In-Commit Timestamps*, *Recommendations for Readers of Tables with
//! In-Commit Timestamps*.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::actions::{ActionLine, CommitInfo, parse_line};
use deltaic_protocol::checksum::VersionChecksum;
use deltaic_protocol::features::{LogTail, ensure_openable};
use deltaic_protocol::in_commit_timestamp::{InCommitTimestamps, TimestampSource};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;

use crate::listing::{Listing, LogFile};
use crate::location::TableLocation;
use crate::segment::{checksum_of, newest_version, not_a_table, version_range};
use crate::snapshot::{LoadOptions, Snapshot};
use crate::store_error::store_error;

const COMMITS_IN_FLIGHT: usize = 32;

/// How much of a large commit is looked at first: who made it stands at its start.
const START_BYTES: u64 = 64 * 1024;

/// From how many bytes on a commit is large.
const LARGE_BYTES: u64 = 1 << 20;

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

/// The commits that are still in the log, newest first, at most `limit` of them; no more are read than that.
///
/// A commit's time is its in-commit timestamp where it has one, and its file's time, made to rise, where it has none.
pub async fn history(
    location: &Arc<TableLocation>,
    limit: Option<usize>,
    options: LoadOptions,
) -> Result<Vec<CommitRecord>> {
    let listing = Listing::whole(location).await?;
    let Some(newest) = newest_version(&listing) else {
        return Err(not_a_table(&listing, location.uri()));
    };
    let times = in_commit_timestamps(location, &listing, newest, options).await?;
    let commits: Vec<Arc<LogFile>> = listing
        .commits()
        .rev()
        .take(limit.unwrap_or(usize::MAX))
        .cloned()
        .collect();
    let reads: Vec<_> = commits
        .iter()
        .map(|file| read_commit_info(location, file))
        .collect();
    let infos: Vec<Option<String>> = futures::stream::iter(reads)
        .buffered(COMMITS_IN_FLIGHT)
        .try_collect()
        .await?;
    let file_times = adjusted_file_times(&listing);
    commits
        .iter()
        .zip(infos)
        .map(|(file, commit_info)| {
            let version = file.path.version;
            let timestamp_ms = if is_in_commit(&times, version) {
                in_commit_timestamp(commit_info.as_deref(), version)?
            } else {
                file_times.get(&version).copied().unwrap_or(file.modified_ms)
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
    let of_segment = snapshot.segment().commits.last();
    let mine = of_segment.filter(|file| file.path.version == version);
    let times = InCommitTimestamps::of(snapshot.protocol(), snapshot.metadata())?;
    if is_in_commit(&times, version) {
        if let Some(info) = snapshot.commit_info() {
            return in_commit_timestamp(Some(info), version);
        }
        // The snapshot stands on a checkpoint of the very version, or on a compaction file.
        let commit = Arc::new(LogFile::commit(version));
        let info = read_commit_info(location, mine.unwrap_or(&commit)).await?;
        return in_commit_timestamp(info.as_deref(), version);
    }
    let listing = Listing::whole(location).await?;
    let checkpoint = || {
        let is_its = |file: &&Arc<LogFile>| file.path.version == version;
        listing.files.iter().find(is_its).map(|file| file.modified_ms)
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
///
/// Where in-commit timestamps are enabled, commits are read as a search among them needs, and not all of them.
pub async fn version_at(
    location: &Arc<TableLocation>,
    timestamp_ms: i64,
    options: LoadOptions,
) -> Result<Version> {
    let listing = Listing::whole(location).await?;
    let Some((oldest, newest)) = version_range(&listing) else {
        return Err(not_a_table(&listing, location.uri()));
    };
    let enabled = in_commit_timestamps(location, &listing, newest, options).await?;
    let (mut by_file, mut by_commit): (Vec<&Arc<LogFile>>, Vec<&Arc<LogFile>>) = listing
        .commits()
        .filter(|file| file.path.version >= oldest)
        .partition(|file| !is_in_commit(&enabled, file.path.version));
    by_file.sort_by_key(|file| file.path.version);
    by_commit.sort_by_key(|file| file.path.version);
    let times = adjusted_file_times(&listing);
    let by_file: Vec<(Version, i64)> = by_file
        .iter()
        .map(|file| {
            let version = file.path.version;
            (version, times.get(&version).copied().unwrap_or(file.modified_ms))
        })
        .collect();
    let in_commit = |file: &Arc<LogFile>| {
        let file = Arc::clone(file);
        async move {
            let info = read_commit_info(location, &file).await?;
            let version = file.path.version;
            Ok::<_, Error>((version, in_commit_timestamp(info.as_deref(), version)?))
        }
    };
    let first_in_commit = match by_commit.first() {
        Some(file) => Some(in_commit(file).await?),
        None => None,
    };
    let last_in_commit = match by_commit.last() {
        Some(file) if by_commit.len() > 1 => Some(in_commit(file).await?),
        _ => first_in_commit,
    };
    let first = by_file.first().copied().or(first_in_commit);
    let last = last_in_commit.or(by_file.last().copied());
    let (Some(first), Some(last)) = (first, last) else {
        return Err(
            Error::new(ErrorKind::VersionNotFound, "the log holds no commit").with("table", location.uri())
        );
    };
    if timestamp_ms < first.1 || timestamp_ms > last.1 {
        return Err(out_of_range(location, timestamp_ms, first, last));
    }
    match first_in_commit {
        Some((mut found, time)) if time <= timestamp_ms => {
            // The newest of the commits whose time is not later, by halves; the first is known to be one.
            let mut rest = by_commit.get(1..).unwrap_or_default();
            while !rest.is_empty() {
                let (before, after) = rest.split_at(rest.len() / 2);
                let Some((middle, after)) = after.split_first() else {
                    break;
                };
                let (version, time) = in_commit(middle).await?;
                if time <= timestamp_ms {
                    found = version;
                    rest = after;
                } else {
                    rest = before;
                }
            }
            Ok(found)
        }
        _ => by_file
            .iter()
            .rev()
            .find(|(_, time)| *time <= timestamp_ms)
            .map(|(version, _)| *version)
            .ok_or_else(|| out_of_range(location, timestamp_ms, first, last)),
    }
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
            "no version was committed at {}: the log reaches from {} (version {first}) to {} (version {last})",
            spelled(timestamp_ms),
            spelled(first_ms),
            spelled(last_ms)
        ),
    )
    .with("table", location.uri())
    .with("timestamp_ms", timestamp_ms)
    .with("oldest", first)
    .with("newest", last)
    .hint("ask for a time in the range, or for a version")
}

/// From when on the table has in-commit timestamps; its newest version checksum tells without a look at its files.
async fn in_commit_timestamps(
    location: &Arc<TableLocation>,
    listing: &Listing,
    newest: Version,
    options: LoadOptions,
) -> Result<InCommitTimestamps> {
    if let Some(file) = checksum_of(listing, newest)
        && let Ok(bytes) = location.read(&file.relative()).await
        && let Ok(VersionChecksum {
            metadata: Some(metadata),
            protocol: Some(protocol),
            ..
        }) = VersionChecksum::parse(&bytes)
        && let Ok(schema) = metadata.schema()
        && ensure_openable(&protocol, &metadata, &schema, LogTail::Absent).is_ok()
    {
        return InCommitTimestamps::of(&protocol, &metadata);
    }
    let snapshot = Snapshot::load(Arc::clone(location), None, options).await?;
    InCommitTimestamps::of(snapshot.protocol(), snapshot.metadata())
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

fn is_in_commit(times: &InCommitTimestamps, version: Version) -> bool {
    times.source(version) == TimestampSource::InCommit
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

/// The `commitInfo` of a commit, of which no more is read than is needed to find it.
async fn read_commit_info(location: &Arc<TableLocation>, file: &Arc<LogFile>) -> Result<Option<String>> {
    let relative = file.relative();
    let located = |error: Error| {
        error
            .with("path", relative.as_str())
            .with("version", file.path.version)
    };
    let failed = |error: object_store::Error| located(store_error(&error, &relative));
    if file.size > LARGE_BYTES {
        let path = location.below(&relative)?;
        let start = location.store().get_range(&path, 0..START_BYTES).await;
        let start = start.map_err(failed)?;
        let whole_lines = memchr::memrchr(b'\n', &start).map_or(0, |at| at + 1);
        if let Some(info) = commit_info(&start.slice(..whole_lines)).map_err(located)? {
            return Ok(Some(info));
        }
    }
    let bytes = location.read(&relative).await.map_err(failed)?;
    commit_info(&bytes).map_err(located)
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
