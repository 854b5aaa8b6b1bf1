//! The version checksum: what a writer says about a version beside the log, to be compared with the log.
//!
//! Protocol: *Version Checksum File*, *Version Checksum File Schema*, *State Validation*. The file is a help: a
//! table without one, or with one that cannot be used, is the same table.

mod commit;
mod histogram;
mod state;
mod tally;
mod text;
mod validation;
mod whole;

use serde::Deserialize;

pub use commit::{Before, CommitSummary, FileChange, FileCount};
pub use histogram::{DeletedRecordCountsHistogram, FileSizeHistogram};
pub use state::{FileSummary, ForEachFile, StateSummary};
pub use validation::Disagreement;

use crate::actions::object::object;
use crate::actions::{Add, DomainMetadata, Metadata, Protocol, Txn};
use crate::strict_json::ensure_strict;
use crate::{Error, ErrorKind, Result};

/// What `_delta_log/{version}.crc` says.
///
/// ```
/// use deltaic_protocol::checksum::VersionChecksum;
/// let text = br#"{"tableSizeBytes":7,"numFiles":1,"numMetadata":1,"numProtocol":1,
///     "metadata":{"id":"t","format":{"provider":"parquet"},"schemaString":"{}","partitionColumns":[],"configuration":{}},
///     "protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;
/// assert_eq!(VersionChecksum::parse(text)?.num_files, 1);
/// assert!(VersionChecksum::parse(&text[..20]).is_err());
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VersionChecksum {
    /// The unique id of the commit that the file belongs to.
    pub txn_id: Option<String>,
    /// The bytes of all live files.
    pub table_size_bytes: i64,
    /// How many files are live.
    pub num_files: i64,
    /// Milliseconds since the epoch, where in-commit timestamps are enabled.
    pub in_commit_timestamp: Option<i64>,
    /// The live transaction identifiers.
    pub set_transactions: Option<Vec<Txn>>,
    /// The live domains.
    pub domain_metadata: Option<Vec<DomainMetadata>>,
    /// The table's metadata. The text requires it; the oldest writers leave it out.
    pub metadata: Option<Metadata>,
    /// The table's protocol. The text requires it; the oldest writers leave it out.
    pub protocol: Option<Protocol>,
    /// How large the live files are.
    pub file_size_histogram: Option<FileSizeHistogram>,
    /// The live files.
    pub all_files: Option<Vec<Add>>,
    /// How many rows deletion vectors delete.
    pub num_deleted_records: Option<i64>,
    /// How many files have a deletion vector.
    pub num_deletion_vectors: Option<i64>,
    /// How many rows of each file are deleted.
    pub deleted_record_counts_histogram: Option<DeletedRecordCountsHistogram>,
}

/// The file as a whole.
#[derive(Deserialize)]
struct Whole(#[serde(deserialize_with = "object")] Spelled);

/// The file's own spelling. Null is absent, and what is not known is ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spelled {
    txn_id: Option<String>,
    table_size_bytes: i64,
    num_files: i64,
    num_metadata: i64,
    num_protocol: i64,
    in_commit_timestamp_opt: Option<i64>,
    in_commit_timestamp: Option<i64>,
    set_transactions: Option<Vec<Txn>>,
    domain_metadata: Option<Vec<DomainMetadata>>,
    metadata: Option<Metadata>,
    protocol: Option<Protocol>,
    file_size_histogram: Option<FileSizeHistogram>,
    histogram_opt: Option<FileSizeHistogram>,
    all_files: Option<Vec<Add>>,
    num_deleted_records_opt: Option<i64>,
    num_deleted_records: Option<i64>,
    num_deletion_vectors_opt: Option<i64>,
    num_deletion_vectors: Option<i64>,
    deleted_record_counts_histogram_opt: Option<DeletedRecordCountsHistogram>,
    deleted_record_counts_histogram: Option<DeletedRecordCountsHistogram>,
}

impl VersionChecksum {
    /// Reads the file, and proves that it does not contradict itself.
    ///
    /// # Errors
    ///
    /// `CorruptLog` with the `field` that is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let Whole(spelled) = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let said = format!("the version checksum cannot be read: {}", error.inner());
            if error.path().iter().next().is_some() {
                corrupt(error.path().to_string(), said)
            } else {
                unreadable(said)
            }
        })?;
        deserializer.end().map_err(|error| {
            unreadable(format!(
                "the version checksum holds more than one object: {error}"
            ))
        })?;
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        ensure_strict(text, None)
            .map_err(|error| unreadable(format!("the version checksum cannot be read: {error}")))?;
        for (field, actions) in [
            ("numMetadata", spelled.num_metadata),
            ("numProtocol", spelled.num_protocol),
        ] {
            if actions != 1 {
                return Err(corrupt(field, format!("{field} is {actions}, and must be 1")));
            }
        }
        let checksum = Self {
            txn_id: spelled.txn_id,
            table_size_bytes: spelled.table_size_bytes,
            num_files: spelled.num_files,
            in_commit_timestamp: spelled.in_commit_timestamp_opt.or(spelled.in_commit_timestamp),
            set_transactions: spelled.set_transactions,
            domain_metadata: spelled.domain_metadata,
            metadata: spelled.metadata,
            protocol: spelled.protocol,
            file_size_histogram: spelled.file_size_histogram.or(spelled.histogram_opt),
            all_files: spelled.all_files,
            num_deleted_records: spelled.num_deleted_records_opt.or(spelled.num_deleted_records),
            num_deletion_vectors: spelled.num_deletion_vectors_opt.or(spelled.num_deletion_vectors),
            deleted_record_counts_histogram: spelled
                .deleted_record_counts_histogram_opt
                .or(spelled.deleted_record_counts_histogram),
        };
        checksum.validate()?;
        Ok(checksum)
    }

    /// What the fields say about each other.
    fn validate(&self) -> Result<()> {
        for (field, count) in [
            ("tableSizeBytes", Some(self.table_size_bytes)),
            ("numFiles", Some(self.num_files)),
            ("numDeletedRecordsOpt", self.num_deleted_records),
            ("numDeletionVectorsOpt", self.num_deletion_vectors),
        ] {
            if let Some(count) = count.filter(|count| *count < 0) {
                return Err(corrupt(
                    field,
                    format!("{field} is {count}, and cannot be negative"),
                ));
            }
        }
        if let Some(histogram) = &self.file_size_histogram {
            histogram.validate()?;
            agree(
                "fileSizeHistogram.fileCounts",
                sum(&histogram.file_counts),
                "numFiles",
                self.num_files,
            )?;
            agree(
                "fileSizeHistogram.totalBytes",
                sum(&histogram.total_bytes),
                "tableSizeBytes",
                self.table_size_bytes,
            )?;
        }
        if let Some(histogram) = &self.deleted_record_counts_histogram {
            histogram.validate()?;
            let counts = &histogram.deleted_record_counts;
            agree(
                "deletedRecordCountsHistogramOpt.deletedRecordCounts",
                sum(counts),
                "numFiles",
                self.num_files,
            )?;
        }
        if let Some(files) = &self.all_files {
            let sizes: Vec<i64> = files.iter().map(|add| add.size).collect();
            let count = i128::try_from(files.len()).unwrap_or(i128::MAX);
            agree("allFiles", count, "numFiles", self.num_files)?;
            agree(
                "allFiles.size",
                sum(&sizes),
                "tableSizeBytes",
                self.table_size_bytes,
            )?;
            let mut keys = std::collections::HashSet::with_capacity(files.len());
            if let Some(twice) = files.iter().find(|add| !keys.insert(add.key())) {
                return Err(corrupt(
                    "allFiles",
                    format!("the file {:?} stands twice", twice.path),
                ));
            }
        }
        once(
            "setTransactions",
            self.set_transactions.iter().flatten().map(|txn| &txn.app_id),
        )?;
        once(
            "domainMetadata",
            self.domain_metadata.iter().flatten().map(|domain| &domain.domain),
        )?;
        match self
            .domain_metadata
            .iter()
            .flatten()
            .find(|domain| domain.removed)
        {
            Some(removed) => Err(corrupt(
                "domainMetadata",
                format!("the domain {:?} is a tombstone", removed.domain),
            )),
            None => Ok(()),
        }
    }
}

fn sum(numbers: &[i64]) -> i128 {
    numbers.iter().map(|number| i128::from(*number)).sum()
}

fn agree(field: &'static str, found: i128, other: &'static str, expected: i64) -> Result<()> {
    if found == i128::from(expected) {
        return Ok(());
    }
    Err(corrupt(
        field,
        format!("{field} adds up to {found}, and {other} is {expected}"),
    ))
}

fn once<'a>(field: &'static str, names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(corrupt(field, format!("{name:?} stands twice")));
        }
    }
    Ok(())
}

fn unreadable(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .hint("the table can be read without its version checksums: remove the file, or ignore it")
}

fn corrupt(field: impl Into<String>, message: impl Into<String>) -> Error {
    unreadable(message).with("field", field.into())
}

#[cfg(test)]
mod tests;
