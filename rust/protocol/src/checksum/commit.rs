//! Computes a version checksum from the previous one and a commit.
//!
//! Protocol: *Version Checksum File*, *State Validation: Writer Requirements*. A checksum must be
//! correct, so if its inputs are ambiguous, there is no checksum or the field is omitted.

use std::collections::BTreeMap;

use super::file_count::FileCount;
use super::tally::{FileTally, counts_deletions};
use super::version_checksum::VersionChecksum;
use super::whole::{has_in_commit_timestamps, listed};
use crate::actions::{DomainMetadata, Metadata, Protocol, Txn};
use crate::properties::{txn_is_expired, txn_retention_ms};

/// The state of a logical file in the version before a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Unknown.
    Unknown,
    /// Not live.
    Absent,
    /// Live.
    Live(FileCount),
}

/// The change of a logical file by a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The state before.
    pub before: Before,
    /// The state after: the file of an `add`, `None` after a `remove`.
    pub after: Option<FileCount>,
}

/// The parts of a commit that affect checksums.
#[derive(Clone, Debug, Default)]
pub struct CommitSummary<'a> {
    /// The transaction id of the commit.
    pub txn_id: Option<&'a str>,
    /// Its in-commit timestamp, in milliseconds since the epoch.
    pub in_commit_timestamp: Option<i64>,
    /// The protocol, if the commit contains one.
    pub protocol: Option<&'a Protocol>,
    /// The metadata, if the commit contains any.
    pub metadata: Option<&'a Metadata>,
    /// The transaction identifiers.
    pub txns: &'a [Txn],
    /// The domains, including removed ones.
    pub domains: &'a [DomainMetadata],
    /// The logical files that it adds or removes, each once.
    pub files: &'a [FileChange],
}

impl VersionChecksum {
    /// The checksum of the version that a commit creates from this one; `None` if it cannot be computed
    /// exactly. Fields that this checksum does not have are also missing in the result.
    ///
    /// `now_ms` is the time, in milliseconds since the epoch, by which transaction identifiers expire; it
    /// must not be before the time that was used for this checksum.
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
        // Removed files are subtracted first, so that no intermediate sum overflows.
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
        // Expired transactions do not reappear when the retention of the table increases.
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
