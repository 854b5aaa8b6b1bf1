//! Counts of the rows of a read unit.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts rows, to verify that none is lost.
#[derive(Default)]
pub(crate) struct RowCounts {
    /// Rows decoded, for filters or output.
    decoded: AtomicU64,
    /// Matching rows, which are decoded for output.
    matched: AtomicU64,
    /// Matching rows that were returned.
    given: AtomicU64,
}

impl RowCounts {
    pub(crate) fn decoded(&self, rows: u64) {
        self.decoded.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn matched(&self, rows: u64) {
        self.matched.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn given(&self, rows: u64) {
        self.given.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> [u64; 3] {
        [&self.decoded, &self.matched, &self.given].map(|count| count.load(Ordering::Relaxed))
    }
}
