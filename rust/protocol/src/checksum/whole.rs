//! Computes a version checksum from a complete version.
//!
//! Protocol: *Version Checksum File*, *State Validation: Writer Requirements*.

use super::file_count::FileCount;
use super::state::StateSummary;
use super::tally::{FileTally, counts_deletions};
use super::version_checksum::VersionChecksum;
use crate::actions::{Metadata, Protocol, Txn};
use crate::in_commit_timestamp::InCommitTimestamps;
use crate::{Error, ErrorKind, Result, TableConfiguration};

/// Maximum number of transaction identifiers in a checksum. It is written with every commit, and a table
/// can have one identifier for each run of a job; the field is optional.
pub(super) const MOST_TXNS: usize = 1_000;

/// Whether the commits of a table have in-commit timestamps. If the properties are invalid, they do.
pub(super) fn has_in_commit_timestamps(protocol: &Protocol, metadata: &Metadata) -> bool {
    let table = TableConfiguration::new(protocol.clone(), metadata.clone());
    !matches!(InCommitTimestamps::of(&table), Ok(InCommitTimestamps::Disabled))
}

/// The transaction identifiers as listed in a checksum: sorted by application, or omitted.
pub(super) fn listed(mut txns: Vec<Txn>) -> Option<Vec<Txn>> {
    txns.sort_by(|left, right| left.app_id.cmp(&right.app_id));
    (txns.len() <= MOST_TXNS).then_some(txns)
}

impl VersionChecksum {
    /// Computes the checksum of a version; every field is counted again. The transactions of the state
    /// must not include expired ones.
    ///
    /// The list of all files is omitted, because it would be written with every commit.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` if the counts of the version are invalid, or if the in-commit timestamp of a
    /// table that has them is unknown.
    pub fn of(state: &StateSummary<'_>) -> Result<Self> {
        let mut tally = Some(FileTally::empty());
        (state.for_each_file)(&mut |file| {
            let count = FileCount {
                size: file.size,
                deleted_records: file.deleted_records,
            };
            if tally.as_mut().is_some_and(|tally| tally.insert(count).is_none()) {
                tally = None;
            }
        });
        let tally = tally.ok_or_else(|| {
            uncountable("the sizes of the files, or the numbers of their deleted rows, cannot be added up")
        })?;
        if tally.files != state.num_files || tally.bytes != state.size_in_bytes {
            return Err(uncountable(
                "the number of files differs from that of the version",
            ));
        }
        let in_commit_timestamp = if has_in_commit_timestamps(state.protocol, state.metadata) {
            let message = "the version's in-commit timestamp is not known, and the table has them enabled";
            Some(state.in_commit_timestamp.ok_or_else(|| uncountable(message))?)
        } else {
            None
        };
        let mut domains = state.domains.to_vec();
        domains.retain(|domain| !domain.removed);
        domains.sort_by(|left, right| left.domain.cmp(&right.domain));
        let unlisted = Self {
            txn_id: state.txn_id.map(str::to_owned),
            table_size_bytes: 0,
            num_files: 0,
            in_commit_timestamp,
            set_transactions: listed(state.txns.to_vec()),
            domain_metadata: Some(domains),
            metadata: Some(state.metadata.clone()),
            protocol: Some(state.protocol.clone()),
            file_size_histogram: None,
            all_files: None,
            num_deleted_records: None,
            num_deletion_vectors: None,
            deleted_record_counts_histogram: None,
        };
        Ok(unlisted.with_tally(tally, counts_deletions(state.protocol)))
    }

    /// The checksum with these counts; those of deleted rows only if requested.
    pub(super) fn with_tally(self, tally: FileTally, with_deletions: bool) -> Self {
        let deletions = tally.deletions.filter(|_| with_deletions);
        Self {
            table_size_bytes: tally.bytes,
            num_files: tally.files,
            file_size_histogram: tally.sizes,
            num_deleted_records: deletions.as_ref().map(|deletions| deletions.records),
            num_deletion_vectors: deletions.as_ref().map(|deletions| deletions.vectors),
            deleted_record_counts_histogram: deletions.map(|deletions| deletions.histogram),
            ..self
        }
    }
}

fn uncountable(why: &str) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the version has no version checksum: {why}"),
    )
    .hint("version checksums are optional; run table.check() to find the damage of the log")
}
