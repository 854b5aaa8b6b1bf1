//! How a write divides its memory.

use deltaic_storage::memory_budget::MemoryBudget;

/// The memory that an open file needs: row groups of its columns and parts that are uploaded.
const FILE_BYTES: usize = 16 << 20;

/// More files are never open: each is an upload in progress.
const MOST_OPEN_FILES: usize = 128;

/// More memory makes row groups no better.
const MOST_BYTES: usize = 256 << 20;

/// The parts of a budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The number of files that are open at once; the rows of other partitions wait.
    pub(super) open_files: usize,
    /// The size of the row groups in progress of all open files.
    pub(super) encoded_bytes: usize,
    /// The size of the waiting rows in memory.
    pub(super) spill_bytes: usize,
}

impl Limits {
    pub(super) fn of(budget: MemoryBudget) -> Self {
        let half = budget.bytes() / 2;
        Self {
            open_files: (half / FILE_BYTES).clamp(1, MOST_OPEN_FILES),
            encoded_bytes: half.min(MOST_BYTES),
            spill_bytes: (half / 2).min(MOST_BYTES / 4),
        }
    }
}
