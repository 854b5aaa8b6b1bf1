//! `deltaic._rust.Commit`

use deltaic_log::history::CommitRecord;
use deltaic_log::transaction::Committed;
use pyo3::prelude::*;

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct Commit {
    version: i64,
    timestamp_ms: i64,
    commit_info: Option<String>,
    conflicts_resolved: Vec<String>,
    skipped: bool,
    warnings: Vec<String>,
}

impl From<CommitRecord> for Commit {
    fn from(record: CommitRecord) -> Self {
        Self {
            version: record.version.as_i64(),
            timestamp_ms: record.timestamp_ms,
            commit_info: record.commit_info,
            conflicts_resolved: Vec::new(),
            skipped: false,
            warnings: Vec::new(),
        }
    }
}

impl From<Committed> for Commit {
    fn from(committed: Committed) -> Self {
        Self {
            version: committed.version.as_i64(),
            timestamp_ms: committed.timestamp_ms,
            commit_info: committed.commit_info,
            conflicts_resolved: committed.conflicts_resolved,
            skipped: committed.skipped,
            warnings: [committed.warnings, committed.post_commit.failures].concat(),
        }
    }
}
