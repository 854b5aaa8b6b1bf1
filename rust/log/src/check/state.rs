//! The table's state as a check replays it: it goes on after damage, and knows that it did.

use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasher;

use deltaic_protocol::Version;
use deltaic_protocol::actions::{CommitInfo, DomainMetadata, LogicalFileKey, Metadata, Protocol, Txn};

use super::OlderNames;
use super::file_action::KnownValues;
use super::file_table::{FileTable, PartitionPool};
use super::finding::Finding;
use super::table_form::{TableForm, examine_version};

/// The state of the table at a version, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The version; none where nothing leads to it.
    pub(super) version: Option<Version>,
    /// Whether nothing was damaged on the way, so that what other files say can be compared with it.
    pub(super) is_whole: bool,
    pub(super) files: FileTable,
    pub(super) protocol: Option<Protocol>,
    pub(super) metadata: Option<Metadata>,
    /// What the two say; none where that cannot be told.
    pub(super) form: Option<TableForm>,
    /// The newest of each application.
    pub(super) txns: BTreeMap<String, Txn>,
    /// The newest of each domain, removed ones left out.
    pub(super) domains: BTreeMap<String, DomainMetadata>,
    /// Who made the version; empty where its commit was not read.
    pub(super) commit_info: CommitInfo,
    /// The in-commit timestamp of the newest version that had one, in milliseconds.
    pub(super) last_time: Option<i64>,
    pub(super) pool: PartitionPool,
    pub(super) known: KnownValues,
    /// Paths that older versions or the change feed still name; kept only for a look at the data.
    pub(super) named_elsewhere: Option<HashSet<Box<str>>>,
    /// How many comparisons were made.
    pub(super) comparisons: u64,
}

impl State {
    /// A state that knows the empty table before version 0, or nothing.
    pub(super) fn new(starts_at_zero: bool, older_names: OlderNames) -> Self {
        Self {
            is_whole: starts_at_zero,
            named_elsewhere: (older_names == OlderNames::Kept).then(HashSet::new),
            ..Self::default()
        }
    }

    /// Forgets what the table holds, since nothing leads to the next version.
    pub(super) fn forget(&mut self) {
        *self = Self {
            pool: std::mem::take(&mut self.pool),
            named_elsewhere: self.named_elsewhere.take(),
            comparisons: self.comparisons,
            last_time: self.last_time,
            ..Self::default()
        };
    }

    /// Takes newer protocol and metadata, and tells where they make no sense.
    pub(super) fn take_form(
        &mut self,
        protocol: Option<Protocol>,
        metadata: Option<Metadata>,
        say: impl FnMut(Finding),
    ) {
        if protocol.is_none() && metadata.is_none() {
            return;
        }
        self.protocol = protocol.or(self.protocol.take());
        self.metadata = metadata.or(self.metadata.take());
        self.known.clear();
        examine_version(self.protocol.as_ref(), self.metadata.as_ref(), say);
        self.form = self
            .metadata
            .as_ref()
            .and_then(|metadata| TableForm::of(self.protocol.as_ref(), metadata).ok());
    }

    /// Notes that a path is named, though maybe not by the newest version.
    pub(super) fn name_elsewhere(&mut self, path: &str) {
        if let Some(names) = &mut self.named_elsewhere
            && !names.contains(path)
        {
            names.insert(path.into());
        }
    }

    /// The number of the next comparison.
    pub(super) fn next_comparison(&mut self) -> u64 {
        self.comparisons += 1;
        self.comparisons
    }
}

/// The logical files that one log file names, to tell which it names twice: by two hashes, since the keys may be many.
#[derive(Debug, Default)]
pub(super) struct Touched {
    keys: HashSet<(u64, u64)>,
    seeds: [foldhash::quality::RandomState; 2],
}

impl Touched {
    /// Whether a key is new.
    pub(super) fn insert(&mut self, key: &LogicalFileKey<'_>) -> bool {
        let [first, second] = &self.seeds;
        self.keys.insert((first.hash_one(key), second.hash_one(key)))
    }
}
