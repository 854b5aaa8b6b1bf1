//! The files that commits removed from the table: what a vacuum may delete without listing the table.

use std::sync::Arc;

use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::{Result, Version};
use deltaic_storage::{TableLocation, in_parallel};

use crate::changes::commit::read_commit;
use crate::listing::{Listing, LogFile};
use crate::snapshot::Snapshot;
use crate::time_travel::newest_not_after;

const COMMITS_IN_FLIGHT: usize = 16;

/// A file that a commit removed, or a change data file that it added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedFile {
    /// The path as in the log.
    pub path: String,
    /// Size in bytes, if the action has it.
    pub size: Option<i64>,
    /// Deletion time in milliseconds since the epoch. `None` for a change data file.
    pub deletion_timestamp: Option<i64>,
    /// The deletion vector of the removed file.
    pub deletion_vector: Option<Descriptor>,
}

/// The commits that a log holds.
#[derive(Debug)]
pub struct RetainedCommits {
    location: Arc<TableLocation>,
    listing: Listing,
    times: InCommitTimestamps,
    max_line_bytes: usize,
}

impl RetainedCommits {
    /// Lists the commits of a table.
    ///
    /// # Errors
    ///
    /// `StorageError`; `CorruptLog` for a property with an invalid value.
    pub async fn list(snapshot: &Snapshot) -> Result<Self> {
        let location = snapshot.location();
        Ok(Self {
            location: Arc::clone(location),
            listing: Listing::whole(location).await?,
            times: InCommitTimestamps::of(snapshot.configuration())?,
            max_line_bytes: snapshot.max_line_bytes(),
        })
    }

    /// The newest commit that is not later than a time in milliseconds since the epoch; `None` if all are later.
    ///
    /// # Errors
    ///
    /// `StorageError`; `CorruptLog` for a commit whose in-commit timestamp cannot be read.
    pub async fn newest_not_after(&self, timestamp_ms: i64) -> Result<Option<Version>> {
        newest_not_after(&self.location, &self.listing, &self.times, timestamp_ms).await
    }

    /// The oldest commit from which on no commit up to `last` is missing; `None` if `last` is.
    #[must_use]
    pub fn oldest_without_gap(&self, last: Version) -> Option<Version> {
        let mut oldest = None;
        let until_last = |file: &&Arc<LogFile>| file.path.version <= last;
        for file in self.listing.commits().rev().filter(until_last) {
            let version = file.path.version;
            let is_next = match oldest {
                None => version == last,
                Some(oldest) => version.next().is_ok_and(|next| next == oldest),
            };
            if !is_next {
                break;
            }
            oldest = Some(version);
        }
        oldest
    }

    /// Reads the removed files and the change data files of the commits from `first` to `last`, both inclusive, that
    /// the log holds. Must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// `StorageError`; `CorruptLog` for a damaged commit.
    pub async fn removed_files(&self, first: Version, last: Version) -> Result<Vec<RemovedFile>> {
        let commits = self.listing.commits();
        let in_range = commits.filter(|file| (first..=last).contains(&file.path.version));
        let tasks =
            in_range.map(|file| read(Arc::clone(&self.location), Arc::clone(file), self.max_line_bytes));
        let files = in_parallel(tasks, COMMITS_IN_FLIGHT).await?;
        Ok(files.into_iter().flatten().collect())
    }
}

async fn read(
    location: Arc<TableLocation>,
    file: Arc<LogFile>,
    max_line_bytes: usize,
) -> Result<Vec<RemovedFile>> {
    let actions = read_commit(&location, file, max_line_bytes).await?.actions;
    let removes = actions.files.into_iter().filter(|action| !action.came);
    let removes = removes.map(|remove| RemovedFile {
        path: remove.file.path,
        size: remove.file.size,
        deletion_timestamp: remove.deletion_timestamp,
        deletion_vector: remove.file.deletion_vector,
    });
    let change_data = actions.cdc.into_iter().map(|cdc| RemovedFile {
        path: cdc.path,
        size: Some(cdc.size),
        deletion_timestamp: None,
        deletion_vector: None,
    });
    Ok(removes.chain(change_data).collect())
}
