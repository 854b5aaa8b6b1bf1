//! `deltaic._rust.CheckpointWritten`, `Compacted` and `CleanedUp`: what the upkeep of a log did.

use deltaic_log::checkpoint;
use deltaic_log::cleanup::{self, CleanupPlan, Deletion};
use deltaic_log::compaction;
use deltaic_log::compaction::Made;
use deltaic_log::upkeep::UpkeepPolicy;
use pyo3::prelude::*;

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct CheckpointWritten {
    version: i64,
    path: String,
    actions: Option<u64>,
    size_in_bytes: u64,
    sidecars: Vec<String>,
    is_new: bool,
}

impl From<checkpoint::CheckpointWritten> for CheckpointWritten {
    fn from(written: checkpoint::CheckpointWritten) -> Self {
        Self {
            version: written.version.as_i64(),
            path: written.path,
            actions: written.actions,
            size_in_bytes: written.bytes,
            sidecars: written.sidecars,
            is_new: written.is_new,
        }
    }
}

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct Compacted {
    path: String,
    actions: usize,
    size_in_bytes: usize,
    is_new: bool,
}

impl From<compaction::Compacted> for Compacted {
    fn from(compacted: compaction::Compacted) -> Self {
        Self {
            path: compacted.path,
            actions: compacted.actions,
            size_in_bytes: compacted.bytes,
            is_new: compacted.made == Made::Now,
        }
    }
}

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct CleanedUp {
    /// Path, bytes and reason of each file.
    files: Vec<(String, u64, String)>,
    oldest_kept: Option<i64>,
    kept: Option<String>,
    passed_over: Vec<String>,
}

impl CleanedUp {
    fn new<'a>(
        plan: &CleanupPlan,
        deletions: impl IntoIterator<Item = &'a Deletion>,
        passed_over: Vec<String>,
    ) -> Self {
        let told = |deletion: &Deletion| (deletion.path.clone(), deletion.bytes, deletion.why.to_string());
        Self {
            files: deletions.into_iter().map(told).collect(),
            oldest_kept: plan.oldest_kept().map(|version| version.as_i64()),
            kept: plan.kept.as_ref().map(ToString::to_string),
            passed_over,
        }
    }
}

impl From<CleanupPlan> for CleanedUp {
    fn from(plan: CleanupPlan) -> Self {
        Self::new(&plan, plan.deletions(), Vec::new())
    }
}

impl From<cleanup::CleanedUp> for CleanedUp {
    fn from(cleaned: cleanup::CleanedUp) -> Self {
        Self::new(&cleaned.plan, &cleaned.deleted, cleaned.passed_over)
    }
}

/// What is done for the log behind a commit: what is usual, or nothing.
pub(crate) fn policy(upkeep: bool) -> UpkeepPolicy {
    if upkeep {
        UpkeepPolicy::default()
    } else {
        UpkeepPolicy::none()
    }
}
