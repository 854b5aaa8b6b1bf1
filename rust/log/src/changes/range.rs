//! The commits of a range, read in parallel, and the table configuration before and after each.

use std::sync::Arc;

use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};
use futures::{StreamExt, TryStreamExt};

use super::commit::{Commit, FileAction, read_commit};
use super::commit_changes::{ChangesFrom, CommitChanges};
use super::live_paths::LivePaths;
use super::removed_values::{fill_values, lacks_values, partition_names};
use crate::file_times::adjusted_file_times;
use crate::history::{in_commit_timestamp, in_commit_timestamps, is_in_commit, read_table_state};
use crate::listing::{Listing, LogFile};
use crate::segment::{newest_version, not_a_table, version_not_found};
use crate::snapshot::LoadOptions;
use deltaic_storage::location::TableLocation;

/// Maximum number of commits read in parallel.
const COMMITS_IN_FLIGHT: usize = 16;

/// The commits of a range, all of which are in the log.
pub(super) struct Range<'a> {
    location: &'a Arc<TableLocation>,
    listing: &'a Listing,
    first: Version,
    pub(super) last: Version,
    newest: Version,
    files: Vec<Arc<LogFile>>,
}

impl<'a> Range<'a> {
    /// Verifies that all commits of the range exist.
    pub(super) fn try_new(
        location: &'a Arc<TableLocation>,
        listing: &'a Listing,
        first: Version,
        last: Option<Version>,
    ) -> Result<Self> {
        let newest = newest_version(listing).ok_or_else(|| not_a_table(listing, location.uri()))?;
        let last = last.unwrap_or(newest);
        if first > newest {
            return Err(version_not_found(listing, first).with("table", location.uri()));
        }
        if first > last {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("the first version, {first}, is greater than the last version, {last}"),
            ));
        }
        let files: Vec<Arc<LogFile>> = listing
            .commits()
            .filter(|file| file.path.version >= first && file.path.version <= last)
            .cloned()
            .collect();
        ensure_whole(listing, &files, first, last).map_err(|error| error.with("table", location.uri()))?;
        Ok(Self {
            location,
            listing,
            first,
            last,
            newest,
            files,
        })
    }

    /// Returns the changes of each commit. `known` is the table configuration before the first.
    pub(super) async fn read(
        &self,
        changes_from: ChangesFrom,
        known: Option<TableConfiguration>,
        options: LoadOptions,
    ) -> Result<Vec<CommitChanges>> {
        let (location, listing, first) = (self.location, self.listing, self.first);
        // With adds only, the commit time is not reported.
        let times = async {
            match changes_from {
                ChangesFrom::Adds => Ok(InCommitTimestamps::Disabled),
                _ => in_commit_timestamps(location, listing, self.newest, options).await,
            }
        };
        let base = async {
            match known {
                Some(table) => Ok((table, true)),
                None => configuration_before(location, listing, first, options).await,
            }
        };
        let reads: Vec<_> = self
            .files
            .iter()
            .map(|file| read_commit(location, Arc::clone(file), options.max_line_bytes))
            .collect();
        let commits = futures::stream::iter(reads)
            .buffered(COMMITS_IN_FLIGHT)
            .try_collect::<Vec<Commit>>();
        let (times, base, commits) = futures::try_join!(times, base, commits)?;
        let file_times = adjusted_file_times(listing, &times);
        let (mut table, is_before) = base;
        // Removed files are read with the configuration before their removal.
        if let Some(commit) = commits
            .first()
            .filter(|_| !is_before && first > Version::ZERO && changes_from != ChangesFrom::Adds)
            && (commit.actions.metadata.is_some() || commit.actions.protocol.is_some())
            && commit
                .actions
                .files
                .iter()
                .any(|action| !action.came && action.changes_data)
        {
            return Err(Error::new(
                ErrorKind::VersionNotFound,
                format!("the state of the table before version {first} is no longer in the log"),
            )
            .with("table", location.uri())
            .with("version", first)
            .hint("request changes from a later version"));
        }
        let mut formed = Vec::with_capacity(commits.len());
        let mut any_lacks = false;
        for mut commit in commits {
            let mut after = table.clone();
            if let Some(newer) = commit.actions.protocol.take() {
                after.set_protocol(newer);
            }
            if let Some(newer) = commit.actions.metadata.take() {
                after.set_metadata(newer);
            }
            // The first commit of a table has no configuration before it.
            let before = match commit.version {
                Version::ZERO => after.clone(),
                _ => table,
            };
            let names = partition_names(&before)?;
            any_lacks |= changes_from != ChangesFrom::Adds
                && commit
                    .actions
                    .files
                    .iter()
                    .any(|action| lacks_values(action, &names));
            table = after.clone();
            formed.push((commit, before, after, names));
        }
        let mut live = if any_lacks || changes_from == ChangesFrom::LiveFiles {
            LivePaths::before(location, first, options).await?
        } else {
            None
        };
        let mut changes = Vec::with_capacity(formed.len());
        for (commit, before, after, names) in formed {
            let (version, mut actions) = (commit.version, commit.actions);
            if changes_from != ChangesFrom::Adds {
                fill_values(&mut actions.files, &names, live.as_ref(), version)
                    .map_err(|error| error.with("table", location.uri()))?;
            }
            if let Some(live) = &mut live {
                live.pass(&mut actions.files);
            }
            let timestamp_ms = if is_in_commit(&times, version) {
                in_commit_timestamp(actions.commit_info.as_deref(), version)?
            } else {
                file_times.get(&version).copied().unwrap_or(commit.modified_ms)
            };
            let changing = actions.files.into_iter().filter(|action| action.changes_data);
            let (adds, removes): (Vec<FileAction>, Vec<FileAction>) =
                changing.partition(|action| action.came);
            let file = |mut action: FileAction| {
                if changes_from != ChangesFrom::LiveFiles {
                    action.file.live_files = None;
                }
                action.file
            };
            changes.push(CommitChanges {
                version,
                timestamp_ms,
                adds: adds.into_iter().map(file).collect(),
                removes: removes.into_iter().map(file).collect(),
                cdc: actions.cdc,
                before,
                after,
            });
        }
        Ok(changes)
    }
}

/// Returns the table configuration before a version and true; if the log before it was cleaned up, returns the
/// configuration as of the version, and false.
async fn configuration_before(
    location: &Arc<TableLocation>,
    listing: &Listing,
    first: Version,
    options: LoadOptions,
) -> Result<(TableConfiguration, bool)> {
    let before = Version::try_new(first.as_i64().saturating_sub(1)).unwrap_or(first);
    let mut found = None;
    for version in [before, first] {
        match read_table_state(location, listing, version, options).await {
            Ok(Some(table)) => {
                found = Some((table, version == before));
                break;
            }
            Ok(None) => {}
            // A gap means that the log was cleaned up. A store error is not a gap.
            Err(error) if error.kind() == ErrorKind::CorruptLog => {}
            Err(error) => return Err(error),
        }
    }
    found.ok_or_else(|| {
        Error::new(
            ErrorKind::CorruptLog,
            format!("the table configuration at version {first} is unknown: the log before it is incomplete"),
        )
        .with("table", location.uri())
        .with("version", first)
        .hint("request changes from a later version")
    })
}

/// Verifies that all commits of a range exist.
fn ensure_whole(listing: &Listing, files: &[Arc<LogFile>], first: Version, last: Version) -> Result<()> {
    let mut expected = first.as_i64();
    for file in files {
        if file.path.version.as_i64() != expected {
            break;
        }
        expected = expected.saturating_add(1);
    }
    if expected > last.as_i64() {
        return Ok(());
    }
    let missing = Version::try_new(expected)?;
    let mut there: Vec<Version> = listing.commits().map(|file| file.path.version).collect();
    there.reverse();
    let Some(newest) = there.first().copied() else {
        return Err(cleaned_up(missing));
    };
    let unbroken = there.iter().zip(0i64..);
    let oldest = unbroken
        .take_while(|(version, back)| version.as_i64().saturating_add(*back) == newest.as_i64())
        .last()
        .map_or(newest, |(version, _)| *version);
    Err(cleaned_up(missing)
        .with("oldest", oldest)
        .with("newest", newest)
        .hint(format!("changes can be read from version {oldest} to {newest}")))
}

fn cleaned_up(version: Version) -> Error {
    Error::new(
        ErrorKind::VersionNotFound,
        format!("the commit of version {version} is not in the log, so its changes are unknown"),
    )
    .with("version", version)
}
