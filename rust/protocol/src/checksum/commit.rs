//! A version checksum out of the one before and what a single commit says.
//!
//! Protocol: *Version Checksum File*, *State Validation: Writer Requirements*. A checksum must be right, so whatever the
//! two do not tell for sure makes no checksum, or none of the field.

use std::collections::BTreeMap;

use super::VersionChecksum;
use super::tally::{FileTally, counts_deletions};
use super::whole::{has_in_commit_timestamps, listed};
use crate::actions::{DomainMetadata, Metadata, Protocol, Txn};
use crate::properties::{txn_is_expired, txn_retention_ms};

/// A file, as far as checksums count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileCount {
    /// Bytes.
    pub size: i64,
    /// The cardinality of its deletion vector; none where it has none.
    pub deleted_records: Option<i64>,
}

/// What a logical file was in the version before a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It is not known.
    Unknown,
    /// It was not live.
    Absent,
    /// It was live.
    Live(FileCount),
}

/// What a commit does to a logical file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// What it was.
    pub before: Before,
    /// What it is now: an add's file, none behind a remove.
    pub after: Option<FileCount>,
}

/// What a commit says, as far as checksums speak of it.
#[derive(Clone, Debug, Default)]
pub struct CommitSummary<'a> {
    /// The id of the commit.
    pub txn_id: Option<&'a str>,
    /// Its in-commit timestamp, in milliseconds since the epoch.
    pub in_commit_timestamp: Option<i64>,
    /// The protocol, where it is given.
    pub protocol: Option<&'a Protocol>,
    /// The metadata, where it is given.
    pub metadata: Option<&'a Metadata>,
    /// The transaction identifiers.
    pub txns: &'a [Txn],
    /// The domains, removed ones among them.
    pub domains: &'a [DomainMetadata],
    /// The logical files that it adds or removes, each once.
    pub files: &'a [FileChange],
}

impl VersionChecksum {
    /// The checksum of the version that a commit makes of this one; none where what is known does not tell it exactly.
    /// A field that this one lacks the next one lacks too.
    ///
    /// `now_ms` is the time, in milliseconds since the epoch, by which transaction identifiers expire; it must not be
    /// before the one that this checksum was made with.
    #[must_use]
    pub fn after(&self, commit: &CommitSummary<'_>, now_ms: i64) -> Option<Self> {
        let protocol_before = self.protocol.as_ref()?;
        let metadata_before = self.metadata.as_ref()?;
        let protocol = commit.protocol.unwrap_or(protocol_before);
        let metadata = commit.metadata.unwrap_or(metadata_before);
        let mut tally = FileTally::of(self, protocol_before);
        for change in commit.files {
            match change.before {
                Before::Unknown => return None,
                Before::Absent => {}
                Before::Live(file) => tally.remove(file)?,
            }
        }
        // What goes is taken away first, so that no sum overflows on the way.
        for change in commit.files {
            if let Some(file) = change.after {
                tally.insert(file)?;
            }
        }
        let with_deletions = counts_deletions(protocol);
        let any_vector = tally
            .deletions
            .as_ref()
            .is_some_and(|deletions| deletions.vectors > 0);
        if (any_vector && !with_deletions) || !tally.is_sound() {
            return None;
        }
        let in_commit_timestamp = if has_in_commit_timestamps(protocol, metadata) {
            Some(commit.in_commit_timestamp?)
        } else {
            None
        };
        let next = Self {
            txn_id: commit.txn_id.map(str::to_owned),
            in_commit_timestamp,
            set_transactions: self.txns_after(commit, metadata, now_ms),
            domain_metadata: self.domains_after(commit),
            metadata: Some(metadata.clone()),
            protocol: Some(protocol.clone()),
            all_files: None,
            ..self.clone()
        }
        .with_tally(tally, with_deletions);
        next.validate().is_ok().then_some(next)
    }

    fn txns_after(&self, commit: &CommitSummary<'_>, metadata: &Metadata, now_ms: i64) -> Option<Vec<Txn>> {
        let retention = |metadata: &Metadata| txn_retention_ms(metadata).unwrap_or(None);
        let (before, retention_ms) = (retention(self.metadata.as_ref()?), retention(metadata));
        // What has been forgotten does not come back when the table begins to remember for longer.
        let forgot_more = before.is_some_and(|before| retention_ms.is_none_or(|now| now > before));
        if forgot_more {
            return None;
        }
        let known = self.set_transactions.as_ref()?.iter().chain(commit.txns);
        let newest: BTreeMap<&str, &Txn> = known.map(|txn| (txn.app_id.as_str(), txn)).collect();
        let is_current = |txn: &&&Txn| !txn_is_expired(txn.last_updated, retention_ms, now_ms);
        listed(
            newest
                .values()
                .filter(is_current)
                .map(|txn| (*txn).clone())
                .collect(),
        )
    }

    fn domains_after(&self, commit: &CommitSummary<'_>) -> Option<Vec<DomainMetadata>> {
        let known = self.domain_metadata.as_ref()?.iter().chain(commit.domains);
        let newest: BTreeMap<&str, &DomainMetadata> =
            known.map(|domain| (domain.domain.as_str(), domain)).collect();
        let live = newest.values().filter(|domain| !domain.removed);
        Some(live.map(|domain| (*domain).clone()).collect())
    }
}

#[cfg(test)]
mod tests;
