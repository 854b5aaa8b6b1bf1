//! A version out of the one before and the commit that makes it, without a look at the store.

use std::sync::Arc;

use deltaic_protocol::{Result, Version};

use super::assemble::Known;
use super::checksum::Agreement;
use super::load::Request;
use super::refresh::drop_the_dead;
use super::{LoadOptions, Snapshot};
use crate::decode::commits::{CommitActions, decode_commit};
use crate::listing::LogFile;
use crate::location::TableLocation;
use crate::reconcile::{NewerKeys, Survivors, TableState};
use crate::segment::LogSegment;

impl Snapshot {
    /// The version that a commit of these bytes makes of this one, as an opening of it would have it. What only the store
    /// knows of the commit's file, such as its time, it does not know: it is there to be counted, and not kept.
    ///
    /// # Errors
    ///
    /// `CorruptLog` where the bytes are no commit, or none that can follow; `UnsupportedFeature` where the table becomes
    /// one that is not understood.
    pub(crate) fn followed_by(&self, commit: &[u8]) -> Result<Self> {
        let version = self.version().next()?;
        let request = Request {
            location: Arc::clone(&self.location),
            version: None,
            options: self.options,
            tail: self.tail,
            listed: self.listed,
        };
        let before = Known {
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

    /// The version 0 that a commit of these bytes makes.
    ///
    /// # Errors
    ///
    /// As of [`Self::followed_by`].
    pub(crate) fn of_first_commit(location: &Arc<TableLocation>, commit: &[u8]) -> Result<Self> {
        let request = Request {
            location: Arc::clone(location),
            version: None,
            options: LoadOptions::default(),
            tail: deltaic_protocol::features::LogTail::Absent,
            listed: None,
        };
        let nothing = Known {
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

fn follow(request: &Request, before: Known, version: Version, commit: &[u8]) -> Result<Snapshot> {
    let file = Arc::new(LogFile {
        size: u64::try_from(commit.len()).unwrap_or(u64::MAX),
        ..LogFile::commit(version)
    });
    // How long a line may be is asked of what others wrote.
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
    let known = Known {
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
