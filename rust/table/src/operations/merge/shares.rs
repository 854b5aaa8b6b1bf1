//! How a merge divides its memory.

use arrow_array::RecordBatch;
use deltaic_storage::memory_budget::MemoryBudget;

use crate::write::bytes_of;

/// What a row of the source takes in memory besides its values: its place, its key, and its entry in the index of keys.
const ROW_BYTES: usize = 96;

/// More memory makes blocks no better.
const MOST_BUFFER_BYTES: usize = 64 << 20;

/// The parts of a budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    /// The rows of the source that are in memory at once.
    pub(super) source: usize,
    /// The rows that wait until a block of a temporary file is full.
    pub(super) buffer: usize,
}

impl Shares {
    pub(super) fn of(budget: MemoryBudget) -> Self {
        Self {
            source: budget.bytes() / 4,
            buffer: (budget.bytes() / 16).min(MOST_BUFFER_BYTES),
        }
    }
}

/// The memory that rows of the source take while they are matched.
pub(super) fn bytes_of_source(rows: &RecordBatch) -> usize {
    bytes_in_index(rows.num_rows(), bytes_of(rows))
}

/// The same for a number of rows with values of this size.
pub(super) fn bytes_in_index(rows: usize, bytes: usize) -> usize {
    rows.saturating_mul(ROW_BYTES).saturating_add(bytes)
}
