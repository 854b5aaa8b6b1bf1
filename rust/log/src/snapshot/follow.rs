//! Computes a version from the previous version and its commit, without I/O.

use std::sync::Arc;

use deltaic_protocol::{Result, Version};

use super::agreement::Agreement;
use super::assemble::ReplayedState;
use super::refresh::drop_the_dead;
use super::request::LoadOptions;
use super::request::Request;
use super::state::Snapshot;
use crate::decode::commits::{CommitActions, decode_commit};
use crate::listing::LogFile;
use crate::reconcile::{NewerKeys, Survivors, TableState};
use crate::segment::LogSegment;
use deltaic_storage::location::TableLocation;

impl Snapshot {
    /// The version that results from applying a commit with these bytes to this one. File properties that only the
    /// store knows, such as the modification time, are missing, so use the result only for checksums.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the bytes are not a commit that can follow this version; `UnsupportedFeature` if the resulting
    /// table is not supported.
    pub(crate) fn followed_by(&self, commit: &[u8]) -> Result<Self> {
        let version = self.version().next()?;
        let request = Request {
            location: Arc::clone(&self.location),
            version: None,
            options: self.options,
            tail: self.tail,
            listed: self.listed,
        };
        let before = ReplayedState {
            segment: LogSegment::clone(&self.segment),
            checkpoint: self.checkpoint.clone(),
            state: self.state.clone(),
            adds: self.adds.as_ref().clone(),
            removes: self.removes.as_ref().clone(),
            newest_commit_info: None,
            file_time_ms: None,
            agreement: self.agreement,
        };
        follow(&request, before, version, commit)
    }

    /// The version 0 that results from a commit with these bytes.
    ///
    /// # Errors
    ///
    /// See [`Self::followed_by`].
    pub(crate) fn of_first_commit(location: &Arc<TableLocation>, commit: &[u8]) -> Result<Self> {
        let request = Request {
            location: Arc::clone(location),
            version: None,
            options: LoadOptions::default(),
            tail: deltaic_protocol::features::CatalogTail::Absent,
            listed: None,
        };
        let nothing = ReplayedState {
            segment: LogSegment {
                version: Version::ZERO,
                checkpoint: None,
                commits: Vec::new(),
                compactions: Vec::new(),
                checksum: None,
            },
            checkpoint: None,
            state: TableState::default(),
            adds: Vec::new(),
            removes: Vec::new(),
            newest_commit_info: None,
            file_time_ms: None,
            agreement: Agreement::Unasked,
        };
        follow(&request, nothing, Version::ZERO, commit)
    }
}

fn follow(request: &Request, before: ReplayedState, version: Version, commit: &[u8]) -> Result<Snapshot> {
    let file = Arc::new(LogFile {
        size: u64::try_from(commit.len()).unwrap_or(u64::MAX),
        ..LogFile::commit(version)
    });
    // The line length limit applies only to what other writers wrote.
    let decoded = decode_commit(commit, &file, usize::MAX)?;
    let actions = CommitActions::of(&file, decoded);
    let (keys, mut adds, mut removes) = NewerKeys::reconcile(&actions.adds, &actions.removes)?;
    for older in &before.adds {
        adds.push(keys.probe_adds(older)?);
    }
    removes.extend(before.removes.iter().map(|older: &Survivors| keys.probe(older)));
    let segment = LogSegment {
        version,
        commits: before.segment.commits.into_iter().chain([file]).collect(),
        compactions: Vec::new(),
        checksum: None,
        ..before.segment
    };
    let known = ReplayedState {
        segment,
        checkpoint: before.checkpoint,
        state: before.state.with_newer(actions.tables),
        adds: drop_the_dead(adds),
        removes: drop_the_dead(removes),
        newest_commit_info: actions.newest_commit_info,
        file_time_ms: None,
        agreement: before.agreement,
    };
    Snapshot::try_new(request, known)
}
