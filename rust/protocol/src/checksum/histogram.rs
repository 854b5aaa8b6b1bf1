//! The histograms of a version checksum.
//!
//! Protocol: *File Size Histogram Schema*, *Deleted Record Counts Histogram Schema*.

use serde::{Deserialize, Serialize};

use super::corrupt;
use crate::Result;

/// How many files there are of which size, and how many bytes they have together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileSizeHistogram {
    /// Where each bin starts, in bytes; it ends where the next starts, and the last one never.
    pub sorted_bin_boundaries: Vec<i64>,
    /// How many files are in each bin.
    pub file_counts: Vec<i64>,
    /// How many bytes the files of each bin have.
    pub total_bytes: Vec<i64>,
}

impl FileSizeHistogram {
    /// The same bins with no files in them.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self {
            sorted_bin_boundaries: self.sorted_bin_boundaries.clone(),
            file_counts: vec![0; self.sorted_bin_boundaries.len()],
            total_bytes: vec![0; self.sorted_bin_boundaries.len()],
        }
    }

    /// Counts a file of so many bytes. A size below the first bin counts nowhere.
    pub fn insert(&mut self, size: i64) {
        let bin = self
            .sorted_bin_boundaries
            .partition_point(|start| *start <= size)
            .checked_sub(1);
        let Some(bin) = bin else { return };
        if let Some(count) = self.file_counts.get_mut(bin) {
            *count = count.saturating_add(1);
        }
        if let Some(bytes) = self.total_bytes.get_mut(bin) {
            *bytes = bytes.saturating_add(size);
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        const BOUNDARIES: &str = "fileSizeHistogram.sortedBinBoundaries";
        if self.sorted_bin_boundaries.first() != Some(&0) {
            return Err(corrupt(
                BOUNDARIES,
                "the first bin of a histogram must start at 0",
            ));
        }
        if !self
            .sorted_bin_boundaries
            .is_sorted_by(|left, right| left < right)
        {
            return Err(corrupt(BOUNDARIES, "the bins of a histogram must rise"));
        }
        let bins = self.sorted_bin_boundaries.len();
        for (field, values) in [
            ("fileSizeHistogram.fileCounts", &self.file_counts),
            ("fileSizeHistogram.totalBytes", &self.total_bytes),
        ] {
            if values.len() != bins {
                let message = format!("{field} has {} values for {bins} bins", values.len());
                return Err(corrupt(field, message));
            }
            not_negative(field, values)?;
        }
        Ok(())
    }
}

/// How many files have how many deleted rows: none, 1 to 9, 10 to 99 and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedRecordCountsHistogram {
    /// How many files are in each of the ten bins.
    pub deleted_record_counts: Vec<i64>,
}

/// Where the bins of [`DeletedRecordCountsHistogram`] start.
const BINS: [i64; 10] = [
    0,
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    2_147_483_647,
];

impl DeletedRecordCountsHistogram {
    /// No files at all.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            deleted_record_counts: vec![0; BINS.len()],
        }
    }

    /// Counts a file of which so many rows are deleted. A number below zero counts nowhere.
    pub fn insert(&mut self, deleted: i64) {
        let bin = BINS.partition_point(|start| *start <= deleted).checked_sub(1);
        if let Some(count) = bin.and_then(|bin| self.deleted_record_counts.get_mut(bin)) {
            *count = count.saturating_add(1);
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        const FIELD: &str = "deletedRecordCountsHistogramOpt.deletedRecordCounts";
        if self.deleted_record_counts.len() != BINS.len() {
            let message = format!(
                "{FIELD} has {} bins, and must have {}",
                self.deleted_record_counts.len(),
                BINS.len()
            );
            return Err(corrupt(FIELD, message));
        }
        not_negative(FIELD, &self.deleted_record_counts)
    }
}

fn not_negative(field: &'static str, counts: &[i64]) -> Result<()> {
    match counts.iter().find(|count| **count < 0) {
        Some(count) => Err(corrupt(
            field,
            format!("{field} holds {count}, and cannot be negative"),
        )),
        None => Ok(()),
    }
}
