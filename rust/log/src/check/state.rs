//! The table's state as replayed by a check: replay continues after damage, and records it.

use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasher;

use deltaic_protocol::Version;
use deltaic_protocol::actions::{CommitInfo, DomainMetadata, LogicalFileKey, Metadata, Protocol, Txn};

use super::file_actions::file_action::KnownValues;
use super::file_actions::file_requirements::{FileRequirements, examine_version};
use super::file_actions::file_table::{FileTable, PartitionPool};
use super::findings::finding::Finding;

/// Whether a check collects the paths that older versions refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OlderNames {
    /// Collected, for a deep check.
    Kept,
    /// Not collected.
    Dropped,
}

/// The state of the table at a version, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The version; `None` if the state is unknown.
    pub(super) version: Option<Version>,
    /// Whether replay encountered no damage, so that other files can be compared with the state.
    pub(super) is_whole: bool,
    pub(super) files: FileTable,
    pub(super) protocol: Option<Protocol>,
    pub(super) metadata: Option<Metadata>,
    /// The configuration from both; `None` if it is invalid or unknown.
    pub(super) requirements: Option<FileRequirements>,
    /// The newest action of each application.
    pub(super) txns: BTreeMap<String, Txn>,
    /// The newest action of each domain, without removed domains.
    pub(super) domains: BTreeMap<String, DomainMetadata>,
    /// The commit info of the version; empty if its commit was not read.
    pub(super) commit_info: CommitInfo,
    /// The newest in-commit timestamp, in milliseconds.
    pub(super) last_time: Option<i64>,
    pub(super) pool: PartitionPool,
    pub(super) known: KnownValues,
    /// Paths that older versions or the change data feed refer to; collected only for a deep check.
    pub(super) named_elsewhere: Option<HashSet<Box<str>>>,
    /// Number of comparisons so far.
    pub(super) comparisons: u64,
}

impl State {
    /// Creates the empty state before version 0, or an unknown state.
    pub(super) fn new(starts_at_zero: bool, older_names: OlderNames) -> Self {
        Self {
            is_whole: starts_at_zero,
            named_elsewhere: (older_names == OlderNames::Kept).then(HashSet::new),
            ..Self::default()
        }
    }

    /// Resets the state to unknown, because of a gap before the next version.
    pub(super) fn forget(&mut self) {
        *self = Self {
            pool: std::mem::take(&mut self.pool),
            named_elsewhere: self.named_elsewhere.take(),
            comparisons: self.comparisons,
            last_time: self.last_time,
            ..Self::default()
        };
    }

    /// Applies newer protocol and metadata, and reports invalid ones.
    pub(super) fn apply_configuration(
        &mut self,
        protocol: Option<Protocol>,
        metadata: Option<Metadata>,
        report: impl FnMut(Finding),
    ) {
        if protocol.is_none() && metadata.is_none() {
            return;
        }
        self.protocol = protocol.or(self.protocol.take());
        self.metadata = metadata.or(self.metadata.take());
        self.known.clear();
        examine_version(self.protocol.as_ref(), self.metadata.as_ref(), report);
        self.requirements = self
            .metadata
            .as_ref()
            .and_then(|metadata| FileRequirements::of(self.protocol.as_ref(), metadata).ok());
    }

    /// Records a path that an older version or the change data feed refers to.
    pub(super) fn name_elsewhere(&mut self, path: &str) {
        if let Some(names) = &mut self.named_elsewhere
            && !names.contains(path)
        {
            names.insert(path.into());
        }
    }

    /// Returns the number of the next comparison.
    pub(super) fn next_comparison(&mut self) -> u64 {
        self.comparisons += 1;
        self.comparisons
    }
}

/// The logical files of one log file, to detect duplicates: two hashes per key, since the keys may be many.
#[derive(Debug, Default)]
pub(super) struct Touched {
    keys: HashSet<(u64, u64)>,
    seeds: [foldhash::quality::RandomState; 2],
}

impl Touched {
    /// Adds a key; returns whether it is new.
    pub(super) fn insert(&mut self, key: &LogicalFileKey<'_>) -> bool {
        let [first, second] = &self.seeds;
        self.keys.insert((first.hash_one(key), second.hash_one(key)))
    }
}
