//! Reads a range of commits, newest first, and writes the surviving actions as a compaction file.

use std::sync::Arc;

use deltaic_protocol::actions::Protocol;
use deltaic_protocol::features::{Maintenance, ensure_maintainable};
use deltaic_protocol::log_path::{LOG_FOLDER, LogPath};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::{StreamExt, TryStreamExt};

use super::reconciled::Reconciled;
use crate::decode::action_text::{ActionText, Line};
use crate::listing::{Listing, LogFile};
use crate::snapshot::Snapshot;
use deltaic_storage::location::TableLocation;
use deltaic_storage::new_file::{Created, make};
use deltaic_storage::store_error;

/// Maximum size of a compaction file in bytes. It is created in memory, and readers decode it in memory; use
/// a checkpoint beyond that.
const MOST_BYTES: usize = 128 << 20;

/// Maximum number of commits fetched concurrently.
const COMMITS_IN_FLIGHT: usize = 8;

/// Result of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Path of the compaction file relative to the table's root.
    pub path: String,
    /// Number of actions in it; 0 if it already existed.
    pub actions: usize,
    /// Its size in bytes; 0 if it already existed.
    pub bytes: usize,
    /// Whether it was created now or already existed.
    pub made: Created,
}

/// Writes the compaction file of the commits `from` to `to`, both inclusive. Returns `None` if no action of
/// these commits survives: an empty file would be invalid.
///
/// Reads only commits in `_delta_log`, so unpublished commits of a catalog-managed table are missing.
///
/// # Errors
///
/// `InvalidArgument` if the range has fewer than two commits, extends beyond the snapshot or is too large;
/// `VersionNotFound` if one of its commits does not exist; `UnsupportedFeature`, `CorruptLog`,
/// `StorageError`.
#[tracing::instrument(target = "deltaic::maintenance", name = "compact log", level = "info", skip_all, fields(from = from.as_i64(), to = to.as_i64()))]
pub async fn compact(snapshot: &Snapshot, from: Version, to: Version) -> Result<Option<Compacted>> {
    let location = snapshot.location();
    let written = compact_range(snapshot, from, to).await;
    written.map_err(|error| error.with("table", location.uri()))
}

async fn compact_range(snapshot: &Snapshot, from: Version, to: Version) -> Result<Option<Compacted>> {
    if from >= to || to > snapshot.version() {
        let message = format!("the range of commits {from} to {to} cannot be compacted");
        return Err(Error::new(ErrorKind::InvalidArgument, message).hint(format!(
            "a compaction file replaces at least two commits, up to version {}",
            snapshot.version()
        )));
    }
    let check = |protocol: &Protocol| {
        let table = snapshot.configuration().after(Some(protocol), None, &[]);
        ensure_maintainable(&table, Maintenance::LogCompaction)
    };
    check(snapshot.protocol()).map_err(|error| error.with("version", snapshot.version()))?;
    let location = snapshot.location();
    let listing = Listing::whole(location).await?;
    let path = format!(
        "{LOG_FOLDER}/{}.{}.compacted.json",
        from.file_stem(),
        to.file_stem()
    );
    if listing.files.iter().any(|file| file.relative() == path) {
        return Ok(Some(Compacted {
            path,
            actions: 0,
            bytes: 0,
            made: Created::Before,
        }));
    }
    let commits = commits_of(&listing, from, to)?;
    ensure_published(snapshot, &commits)?;
    let reconciled = reconcile(location, commits, snapshot.max_line_bytes()).await?;
    reconciled.protocols().iter().try_for_each(check)?;
    let actions = reconciled.actions();
    if actions == 0 {
        return Ok(None);
    }
    let lines = reconciled.into_lines();
    let bytes = lines.len();
    let made = make(location, &path, lines).await?;
    Ok(Some(Compacted {
        path,
        actions,
        bytes,
        made,
    }))
}

/// Returns the commits of a range, newest first.
fn commits_of(listing: &Listing, from: Version, to: Version) -> Result<Vec<Arc<LogFile>>> {
    let mut commits: Vec<Arc<LogFile>> = Vec::new();
    let mut next = from;
    for file in listing
        .commits()
        .filter(|file| (from..=to).contains(&file.path.version))
    {
        if file.path.version != next {
            break;
        }
        commits.push(Arc::clone(file));
        if next == to {
            commits.reverse();
            return Ok(commits);
        }
        next = next.next()?;
    }
    Err(Error::new(
        ErrorKind::VersionNotFound,
        format!("commit {next} is not in the log, but the range from {from} to {to} requires it"),
    )
    .with("path", LogPath::commit(next))
    .with("version", next)
    .hint("choose a range whose commits are all published and not cleaned up"))
}

/// Verifies that these files are the commits of the snapshot: for a ratified version the catalog's commit is
/// authoritative, whatever is published under its name.
fn ensure_published(snapshot: &Snapshot, commits: &[Arc<LogFile>]) -> Result<()> {
    let of_segment = &snapshot.segment().commits;
    let is_other = |commit: &&Arc<LogFile>| {
        let same_version = |known: &&Arc<LogFile>| known.path.version == commit.path.version;
        let mut known = of_segment.iter().filter(same_version);
        known.any(|known| known.name != commit.name)
    };
    match commits.iter().find(is_other) {
        None => Ok(()),
        Some(commit) => Err(Error::new(
            ErrorKind::VersionNotFound,
            format!("commit {} is not published yet", commit.path.version),
        )
        .with("version", commit.path.version)
        .hint("compact the range once its catalog has published it")),
    }
}

async fn reconcile(
    location: &Arc<TableLocation>,
    commits: Vec<Arc<LogFile>>,
    max_line_bytes: usize,
) -> Result<Reconciled> {
    let fetched = commits.into_iter().map(|file| {
        let location = Arc::clone(location);
        async move {
            let fetched = ActionText::fetch(location, Arc::clone(&file), max_line_bytes).await;
            fetched.map_err(|error| store_error(&error, &file.relative()).with("version", file.path.version))
        }
    });
    let fetched: Vec<_> = fetched.collect();
    let mut fetched = futures::stream::iter(fetched).buffered(COMMITS_IN_FLIGHT);
    let mut reconciled = Reconciled::at_most(MOST_BYTES);
    while let Some(text) = fetched.try_next().await? {
        let version = text.file.path.version;
        let relative = text.file.relative();
        let mut failed: Option<Error> = None;
        let mut any = false;
        let read = text
            .for_each_line(&mut |number, line| {
                any = true;
                let taken = match line {
                    Line::Text(line) if failed.is_none() => reconciled.take(line),
                    Line::Text(_) => Ok(()),
                    Line::TooLong => Err(Error::new(
                        ErrorKind::CorruptLog,
                        "a line is longer than max_line_bytes allows",
                    )),
                };
                if let Err(error) = taken {
                    let line = i64::try_from(number).unwrap_or(i64::MAX);
                    failed.get_or_insert(error.with("line", line));
                }
            })
            .await;
        read.map_err(|error| store_error(&error, &relative).with("version", version))?;
        if !any {
            failed.get_or_insert(Error::new(ErrorKind::CorruptLog, "the commit is empty"));
        }
        if let Some(error) = failed {
            let error = error.with("path", relative).with("version", version);
            return Err(error.or_hint("the commit is damaged: restore it from a backup of the table"));
        }
        reconciled.end_commit();
    }
    Ok(reconciled)
}
