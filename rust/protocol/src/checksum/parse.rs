//! Parses version checksums and verifies that they are consistent.

use serde::Deserialize;

use super::corrupt::{corrupt, unreadable};
use super::histogram::{DeletedRecordCountsHistogram, FileSizeHistogram};
use super::version_checksum::VersionChecksum;
use crate::Result;
use crate::actions::object::object;
use crate::actions::{Add, DomainMetadata, Metadata, Protocol, Txn};
use crate::strict_json::ensure_strict;

/// The complete file.
#[derive(Deserialize)]
struct Whole(#[serde(deserialize_with = "object")] Spelled);

/// The fields as spelled in the file. Null counts as absent, and unknown fields are ignored.
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
    /// Parses the file and verifies that it is consistent.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` with the invalid `field`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let Whole(spelled) = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let message = format!("the version checksum cannot be read: {}", error.inner());
            if error.path().iter().next().is_some() {
                corrupt(error.path().to_string(), message)
            } else {
                unreadable(message)
            }
        })?;
        deserializer.end().map_err(|error| {
            unreadable(format!(
                "the version checksum contains more than one object: {error}"
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

    /// Verifies that the fields agree with each other.
    pub(super) fn validate(&self) -> Result<()> {
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
                    format!("the file {:?} is listed twice", twice.path),
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
            return Err(corrupt(field, format!("{name:?} is listed twice")));
        }
    }
    Ok(())
}
