//! The histograms of a version checksum.
//!
//! Protocol: *File Size Histogram Schema*, *Deleted Record Counts Histogram Schema*.

use serde::{Deserialize, Serialize};

use super::corrupt::corrupt;
use crate::Result;

/// The number of files by size, and their total bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileSizeHistogram {
    /// The start of each bin in bytes; a bin ends where the next starts, and the last one is unbounded.
    pub sorted_bin_boundaries: Vec<i64>,
    /// The number of files in each bin.
    pub file_counts: Vec<i64>,
    /// The total bytes of the files in each bin.
    pub total_bytes: Vec<i64>,
}

/// The bins of the histograms that we write, as ranges of mebibytes and the step between two starts:
/// those of the reference writer, which reuses the bins of an existing histogram.
const RUNS: [(i64, i64, i64); 7] = [
    (8, 40, 4),
    (40, 120, 8),
    (120, 144, 4),
    (144, 576, 16),
    (576, 1408, 64),
    (1408, 2048, 128),
    (2048, 4096, 256),
];

/// The start of the last bin in mebibytes.
const LAST_BIN: i64 = 256 * 1024;

fn boundaries() -> Vec<i64> {
    const KIB: i64 = 1 << 10;
    const MIB: i64 = 1 << 20;
    let doubled = |from: i64, until: i64| {
        std::iter::successors(Some(from), |start| start.checked_mul(2))
            .take_while(move |start| *start < until)
    };
    let mut starts = vec![0];
    starts.extend(doubled(8 * KIB, 8 * MIB));
    for (from, until, step) in RUNS {
        let of_run = std::iter::successors(Some(from), move |start| start.checked_add(step));
        starts.extend(
            of_run
                .take_while(move |start| *start < until)
                .map(|start| start * MIB),
        );
    }
    starts.extend(doubled(4 * KIB * MIB, (LAST_BIN + 1) * MIB));
    starts
}

impl FileSizeHistogram {
    /// An empty histogram with the bins that we write.
    #[must_use]
    pub fn empty() -> Self {
        let starts = boundaries();
        Self {
            file_counts: vec![0; starts.len()],
            total_bytes: vec![0; starts.len()],
            sorted_bin_boundaries: starts,
        }
    }

    /// An empty histogram with the same bins.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self {
            sorted_bin_boundaries: self.sorted_bin_boundaries.clone(),
            file_counts: vec![0; self.sorted_bin_boundaries.len()],
            total_bytes: vec![0; self.sorted_bin_boundaries.len()],
        }
    }

    /// Counts a file of this size. A size below the first bin is not counted.
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

    /// Removes a file of this size; returns false without a change if its bin does not contain it.
    pub(super) fn remove(&mut self, size: i64) -> bool {
        let bin = self
            .sorted_bin_boundaries
            .partition_point(|start| *start <= size)
            .checked_sub(1);
        let Some(bin) = bin else { return false };
        let (Some(count), Some(bytes)) = (self.file_counts.get_mut(bin), self.total_bytes.get_mut(bin))
        else {
            return false;
        };
        if *count < 1 || *bytes < size {
            return false;
        }
        *count -= 1;
        *bytes -= size;
        true
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
            return Err(corrupt(BOUNDARIES, "the bins of a histogram must ascend"));
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

/// The number of files by number of deleted rows: none, 1 to 9, 10 to 99 and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedRecordCountsHistogram {
    /// The number of files in each of the ten bins.
    pub deleted_record_counts: Vec<i64>,
}

/// The starts of the bins of [`DeletedRecordCountsHistogram`].
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
    /// An empty histogram.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            deleted_record_counts: vec![0; BINS.len()],
        }
    }

    /// Counts a file with this number of deleted rows. A negative number is not counted.
    pub fn insert(&mut self, deleted: i64) {
        let bin = BINS.partition_point(|start| *start <= deleted).checked_sub(1);
        if let Some(count) = bin.and_then(|bin| self.deleted_record_counts.get_mut(bin)) {
            *count = count.saturating_add(1);
        }
    }

    /// A histogram of files without deleted rows.
    pub(super) fn of_whole_files(files: i64) -> Self {
        let mut histogram = Self::empty();
        if let Some(count) = histogram.deleted_record_counts.first_mut() {
            *count = files;
        }
        histogram
    }

    /// Removes a file with this number of deleted rows; returns false without a change if its bin does
    /// not contain it.
    pub(super) fn remove(&mut self, deleted: i64) -> bool {
        let bin = BINS.partition_point(|start| *start <= deleted).checked_sub(1);
        match bin.and_then(|bin| self.deleted_record_counts.get_mut(bin)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
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
        Some(count) => Err(corrupt(field, format!("{field} is {count}, which is negative"))),
        None => Ok(()),
    }
}
