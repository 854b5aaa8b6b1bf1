//! The counts of a version checksum: files, their bytes, and the rows that deletion vectors delete.
//!
//! Protocol: *Version Checksum File Schema*. Every count is exact or missing.

use super::file_count::FileCount;
use super::histogram::{DeletedRecordCountsHistogram, FileSizeHistogram};
use super::version_checksum::VersionChecksum;
use crate::actions::Protocol;
use crate::features::supports_for_writers;

/// Counts of live files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileTally {
    pub(super) files: i64,
    pub(super) bytes: i64,
    pub(super) sizes: Option<FileSizeHistogram>,
    pub(super) deletions: Option<DeletionTally>,
}

/// Counts of deleted rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeletionTally {
    pub(super) records: i64,
    pub(super) vectors: i64,
    pub(super) histogram: DeletedRecordCountsHistogram,
}

impl DeletionTally {
    /// Files without deletion vectors.
    fn of_whole_files(files: i64) -> Self {
        Self {
            records: 0,
            vectors: 0,
            histogram: DeletedRecordCountsHistogram::of_whole_files(files),
        }
    }
}

/// Whether the checksums of a table count deleted rows.
pub(super) fn counts_deletions(protocol: &Protocol) -> bool {
    supports_for_writers(protocol, "deletionVectors")
}

impl FileTally {
    /// No files.
    pub(super) fn empty() -> Self {
        Self {
            files: 0,
            bytes: 0,
            sizes: Some(FileSizeHistogram::empty()),
            deletions: Some(DeletionTally::of_whole_files(0)),
        }
    }

    /// The counts of a checksum. If its table had no deletion vectors, no row was deleted by one.
    pub(super) fn of(checksum: &VersionChecksum, protocol: &Protocol) -> Self {
        let counted = || {
            Some(DeletionTally {
                records: checksum.num_deleted_records?,
                vectors: checksum.num_deletion_vectors?,
                histogram: checksum.deleted_record_counts_histogram.clone()?,
            })
        };
        Self {
            files: checksum.num_files,
            bytes: checksum.table_size_bytes,
            sizes: checksum.file_size_histogram.clone(),
            deletions: if counts_deletions(protocol) {
                counted()
            } else {
                Some(DeletionTally::of_whole_files(checksum.num_files))
            },
        }
    }

    /// Counts a file; `None` if a number is invalid or overflows.
    pub(super) fn insert(&mut self, file: FileCount) -> Option<()> {
        if file.size < 0 || file.deleted_records.is_some_and(|deleted| deleted < 0) {
            return None;
        }
        self.files = self.files.checked_add(1)?;
        self.bytes = self.bytes.checked_add(file.size)?;
        if let Some(sizes) = &mut self.sizes {
            sizes.insert(file.size);
        }
        if let Some(deletions) = &mut self.deletions {
            let deleted = file.deleted_records.unwrap_or(0);
            deletions.records = deletions.records.checked_add(deleted)?;
            deletions.vectors = deletions
                .vectors
                .checked_add(i64::from(file.deleted_records.is_some()))?;
            deletions.histogram.insert(deleted);
        }
        Some(())
    }

    /// Whether the counts of deleted rows agree: without deletion vectors no row is deleted.
    pub(super) fn is_sound(&self) -> bool {
        let deletions = self.deletions.as_ref();
        deletions.is_none_or(|deletions| deletions.vectors > 0 || deletions.records == 0)
    }

    /// Removes a file; `None` if it was not counted.
    pub(super) fn remove(&mut self, file: FileCount) -> Option<()> {
        let less = |count: i64, by: i64| count.checked_sub(by).filter(|left| *left >= 0);
        if file.size < 0 || file.deleted_records.is_some_and(|deleted| deleted < 0) {
            return None;
        }
        self.files = less(self.files, 1)?;
        self.bytes = less(self.bytes, file.size)?;
        if let Some(sizes) = &mut self.sizes
            && !sizes.remove(file.size)
        {
            return None;
        }
        if let Some(deletions) = &mut self.deletions {
            let deleted = file.deleted_records.unwrap_or(0);
            deletions.records = less(deletions.records, deleted)?;
            deletions.vectors = less(deletions.vectors, i64::from(file.deleted_records.is_some()))?;
            if !deletions.histogram.remove(deleted) {
                return None;
            }
        }
        Some(())
    }
}
