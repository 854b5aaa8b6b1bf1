//! The history of the table: when versions were committed, and by which operation.
//!
//! Protocol: *Commit Provenance Information*, *In-Commit Timestamps*, *Recommendations for Readers of Tables with
//! In-Commit Timestamps*.

use std::sync::Arc;

use deltaic_protocol::actions::{ActionLine, CommitInfo, parse_line};
use deltaic_protocol::checksum::VersionChecksum;
use deltaic_protocol::features::{CatalogTail, ensure_openable};
use deltaic_protocol::in_commit_timestamp::{InCommitTimestamps, TimestampSource};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};
use futures::{StreamExt, TryStreamExt};

use crate::decode::checkpoint::Checkpoint;
use crate::decode::commits::read_commits;
use crate::file_times::adjusted_file_times;
use crate::file_times::first_of_history;
use crate::listing::{Listing, LogFile};
use crate::reconcile::TableState;
use crate::segment::{LogSegment, checksum_of, complete_checkpoints, newest_version, not_a_table};
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::location::TableLocation;
use deltaic_storage::read_range;
use deltaic_storage::store_error;

const COMMITS_IN_FLIGHT: usize = 32;

/// Number of bytes of a large commit that are read first: `commitInfo` is at its start.
const START_BYTES: u64 = 64 * 1024;

/// Size in bytes from which a commit is large.
const LARGE_BYTES: u64 = 1 << 20;

/// A commit of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRecord {
    /// The version of the commit.
    pub version: Version,
    /// The commit time in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// The `commitInfo` action as JSON text, if the commit has one.
    pub commit_info: Option<String>,
}

/// Returns the commits that are still in the log, newest first, at most `limit` of them.
///
/// Besides the commits it reads whether the table has in-commit timestamps: from a valid version checksum if
/// there is one, else from the newest checkpoint and the commits after it.
///
/// A commit's time is its in-commit timestamp if they were enabled, else the modification time of its file,
/// adjusted so that times increase with the versions.
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
    let first = first_of_history(&listing);
    let commits: Vec<Arc<LogFile>> = listing
        .commits()
        .rev()
        .take_while(|file| file.path.version >= first)
        .take(limit.unwrap_or(usize::MAX))
        .cloned()
        .collect();
    let reads: Vec<_> = commits
        .iter()
        .map(|file| read_commit_info(location, file))
        .collect();
    let infos: Vec<Option<String>> = futures::stream::iter(reads)
        .buffered(location.at_once(COMMITS_IN_FLIGHT))
        .try_collect()
        .await?;
    let file_times = adjusted_file_times(&listing, &times);
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

/// Returns the commit time of a snapshot's version.
pub async fn timestamp_of(snapshot: &Snapshot) -> Result<i64> {
    let (location, version) = (snapshot.location(), snapshot.version());
    let of_segment = snapshot.segment().commits.last();
    let own = of_segment.filter(|file| file.path.version == version);
    let times = InCommitTimestamps::of(snapshot.configuration())?;
    if is_in_commit(&times, version) {
        if let Some(info) = snapshot.commit_info() {
            return in_commit_timestamp(Some(info), version);
        }
        // The snapshot was loaded from a checkpoint of this version, or from a compaction file.
        let commit = Arc::new(LogFile::commit(version));
        let info = read_commit_info(location, own.unwrap_or(&commit)).await?;
        return in_commit_timestamp(info.as_deref(), version);
    }
    file_time_of(snapshot).await
}

/// Returns the commit time of a snapshot's version as [`history`] shows it: if a later version enabled
/// in-commit timestamps, the times of earlier versions are limited.
pub async fn timestamp_in_history(snapshot: &Snapshot) -> Result<i64> {
    let version = snapshot.version();
    let own = InCommitTimestamps::of(snapshot.configuration())?;
    // The newest version has no later one.
    if is_in_commit(&own, version) || snapshot.listed().is_some() {
        return timestamp_of(snapshot).await;
    }
    let location = snapshot.location();
    let listing = Listing::whole(location).await?;
    let Some(newest) = newest_version(&listing).filter(|newest| *newest > version) else {
        return timestamp_of(snapshot).await;
    };
    let times = match in_commit_timestamps(location, &listing, newest, snapshot.options()).await {
        Ok(times) => times,
        Err(error) if error.kind() == ErrorKind::StorageError => return Err(error),
        // An unreadable later version must not make the timestamp of an earlier one unavailable.
        Err(_) => InCommitTimestamps::Disabled,
    };
    match adjusted_file_times(&listing, &times).get(&version) {
        Some(time) => Ok(*time),
        None => timestamp_of(snapshot).await,
    }
}

/// Returns the modification time of the commit file of a snapshot's version, adjusted so that times increase
/// with the versions.
pub(crate) async fn file_time_of(snapshot: &Snapshot) -> Result<i64> {
    if let Some(time) = snapshot.file_time_ms() {
        return Ok(time);
    }
    let (location, version) = (snapshot.location(), snapshot.version());
    let listing = Listing::whole(location).await?;
    let checkpoint = || {
        let is_its = |file: &&Arc<LogFile>| file.path.version == version;
        listing.files.iter().find(is_its).map(|file| file.modified_ms)
    };
    adjusted_file_times(&listing, &InCommitTimestamps::Disabled)
        .get(&version)
        .copied()
        .or_else(checkpoint)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::VersionNotFound,
                "the commit timestamp is unknown: the commit file is no longer in the log",
            )
            .with("version", version)
        })
}

/// Returns from which version the table has in-commit timestamps. A valid checksum of the newest version
/// contains this, so that the checkpoint need not be read.
pub(crate) async fn in_commit_timestamps(
    location: &Arc<TableLocation>,
    listing: &Listing,
    newest: Version,
    options: LoadOptions,
) -> Result<InCommitTimestamps> {
    if let Some(checksum) = sound_checksum(location, listing, newest).await
        && let (Some(metadata), Some(protocol)) = (checksum.metadata, checksum.protocol)
        && let table = TableConfiguration::new(protocol, metadata)
        && table.schema().is_ok()
        && ensure_openable(&table, CatalogTail::Absent).is_ok()
    {
        return InCommitTimestamps::of(&table);
    }
    let state = read_table_state(location, listing, newest, options).await;
    if let Ok(Some(table)) = state
        && table.schema().is_ok()
        && ensure_openable(&table, CatalogTail::Absent).is_ok()
    {
        return InCommitTimestamps::of(&table);
    }
    let snapshot = Snapshot::load(Arc::clone(location), None, options).await?;
    InCommitTimestamps::of(snapshot.configuration())
}

/// Returns the newest configuration, without domains, from the newest checkpoint and the commits after it, without
/// reading file actions.
pub(crate) async fn read_table_state(
    location: &Arc<TableLocation>,
    listing: &Listing,
    newest: Version,
    options: LoadOptions,
) -> Result<Option<TableConfiguration>> {
    let checkpoint = complete_checkpoints(listing, Some(newest)).into_iter().next();
    let segment = LogSegment::try_new(listing, checkpoint, newest)?;
    let from_checkpoint = async {
        match &segment.checkpoint {
            Some(files) => Checkpoint::read_table(location, files, options.max_line_bytes)
                .await
                .map(Some),
            None => Ok(None),
        }
    };
    let commits = read_commits(location, &segment.commits, options.max_line_bytes);
    let (base, commits) = futures::join!(from_checkpoint, commits);
    let base = base?.map(|table| (segment.version, table));
    let state = TableState::default()
        .with_newer(base.into_iter().collect())
        .with_newer(commits?.tables);
    let newest = state.protocol.zip(state.metadata);
    Ok(newest.map(|(protocol, metadata)| TableConfiguration::new(protocol, metadata)))
}

/// Returns a version's checksum if its transaction id matches that of the version's commit.
///
/// Protocol: *Version Checksum File*.
async fn sound_checksum(
    location: &Arc<TableLocation>,
    listing: &Listing,
    version: Version,
) -> Option<VersionChecksum> {
    let file = checksum_of(listing, version)?;
    let is_its = |commit: &&Arc<LogFile>| commit.path.version == version;
    let commit = listing.commits().rev().find(is_its)?;
    let relative = file.relative();
    let (bytes, info) = futures::join!(location.read(&relative), read_commit_info(location, commit));
    let info: CommitInfo = serde_json::from_str(&info.ok()??).ok()?;
    let checksum = VersionChecksum::parse(&bytes.ok()?).ok()?;
    (checksum.txn_id.is_some() && checksum.txn_id == info.txn_id).then_some(checksum)
}

pub(crate) fn is_in_commit(times: &InCommitTimestamps, version: Version) -> bool {
    times.source(version) == TimestampSource::InCommit
}

pub(crate) fn in_commit_timestamp(commit_info: Option<&str>, version: Version) -> Result<i64> {
    let info = commit_info.and_then(|text| serde_json::from_str::<CommitInfo>(text).ok());
    if let Some(time) = info.as_ref().and_then(|info| info.in_commit_timestamp) {
        return Ok(time);
    }
    // A value that is not an integer remains in the unknown fields.
    let found = info
        .as_ref()
        .and_then(|info| info.unknown.get("inCommitTimestamp"));
    let message = match found {
        None => "the commit has no inCommitTimestamp, but in-commit timestamps are enabled".to_owned(),
        Some(found) => {
            format!(
                "the commit's inCommitTimestamp, {found}, is not an integer (milliseconds since the epoch)"
            )
        }
    };
    Err(Error::new(ErrorKind::CorruptLog, message)
        .with("path", deltaic_protocol::log_path::LogPath::commit(version))
        .with("version", version)
        .with("field", "commitInfo.inCommitTimestamp")
        .hint("the commit is damaged: restore it from a backup; versions can still be read by number"))
}

/// Reads the `commitInfo` of a commit, and no more of the file than needed.
pub(crate) async fn read_commit_info(
    location: &Arc<TableLocation>,
    file: &Arc<LogFile>,
) -> Result<Option<String>> {
    let relative = file.relative();
    let located = |error: Error| {
        error
            .with("path", relative.as_str())
            .with("version", file.path.version)
    };
    let failed = |error: object_store::Error| located(store_error(&error, &relative));
    if file.size > LARGE_BYTES {
        let path = location.below(&relative)?;
        let start = read_range(location.store(), &path, 0..START_BYTES).await;
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
