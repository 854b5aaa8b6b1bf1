//! `deltaic._rust.DryRun`

use deltaic_table::transaction;
use pyo3::prelude::*;

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct DryRun {
    rows: Option<u64>,
    removed_files: usize,
    files_with_deletion_vectors: usize,
    files_with_statistics: usize,
    rewritten_files: usize,
    rewritten_bytes: i64,
    added_rows: u64,
    added_files: usize,
    added_bytes: i64,
    features: Vec<String>,
    warnings: Vec<String>,
}

impl From<transaction::DryRun> for DryRun {
    fn from(found: transaction::DryRun) -> Self {
        Self {
            rows: found.rows,
            removed_files: found.removed_files,
            files_with_deletion_vectors: found.changed_files,
            files_with_statistics: found.described_files,
            rewritten_files: found.rewritten_files,
            rewritten_bytes: found.rewritten_bytes,
            added_rows: found.added_rows,
            added_files: found.added_files,
            added_bytes: found.added_bytes,
            features: found.features,
            warnings: found.warnings,
        }
    }
}
