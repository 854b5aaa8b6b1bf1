//! Post-commit maintenance of a log and its results: `deltaic._rust.CheckpointWritten`, `Compacted` and `CleanedUp`.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{self, CheckpointOptions, write_checkpoint};
use deltaic_log::cleanup::{self, CleanupPlan, Deletion, clean_up_now, plan_cleanup};
use deltaic_log::compaction::{self, Created, compact};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Version;
use deltaic_storage::TableLocation;
use deltaic_storage::clock::now_ms;
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::runtime::wait;

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct CheckpointWritten {
    version: i64,
    path: String,
    actions: Option<u64>,
    size_in_bytes: u64,
    sidecars: Vec<String>,
    reused_sidecars: usize,
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
            reused_sidecars: written.reused_sidecars,
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
            is_new: compacted.made == Created::Now,
        }
    }
}

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct CleanedUp {
    /// Path, size in bytes and reason of each file.
    files: Vec<(String, u64, String)>,
    oldest_kept: Option<i64>,
    kept: Option<String>,
    not_deleted: Vec<String>,
}

impl CleanedUp {
    fn new<'a>(
        plan: &CleanupPlan,
        deletions: impl IntoIterator<Item = &'a Deletion>,
        not_deleted: Vec<String>,
    ) -> Self {
        let as_tuple =
            |deletion: &Deletion| (deletion.path.clone(), deletion.bytes, deletion.why.to_string());
        Self {
            files: deletions.into_iter().map(as_tuple).collect(),
            oldest_kept: plan.oldest_kept().map(|version| version.as_i64()),
            kept: plan.kept.as_ref().map(ToString::to_string),
            not_deleted,
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
        Self::new(&cleaned.plan, &cleaned.deleted, cleaned.not_deleted)
    }
}

/// Writes a checkpoint of the latest version.
pub(crate) fn checkpoint(
    py: Python<'_>,
    location: Arc<TableLocation>,
    load: LoadOptions,
) -> CallResult<CheckpointWritten> {
    let written = wait(py, async move {
        let snapshot = Snapshot::load(location, None, load).await?;
        write_checkpoint(&snapshot, &CheckpointOptions::default()).await
    })?;
    Ok(written.into())
}

/// Writes a log compaction file of a range, up to the latest version if no end is specified.
pub(crate) fn compact_log(
    py: Python<'_>,
    location: Arc<TableLocation>,
    load: LoadOptions,
    start: i64,
    end: Option<i64>,
) -> CallResult<Option<Compacted>> {
    let compacted = wait(py, async move {
        let snapshot = Snapshot::load(location, None, load).await?;
        let end = end.map(Version::try_new).transpose()?;
        compact(
            &snapshot,
            Version::try_new(start)?,
            end.unwrap_or(snapshot.version()),
        )
        .await
    })?;
    Ok(compacted.map(Compacted::from))
}

/// Deletes expired log files, or only lists them.
pub(crate) fn clean_up(
    py: Python<'_>,
    location: Arc<TableLocation>,
    load: LoadOptions,
    dry_run: bool,
) -> CallResult<CleanedUp> {
    wait(py, async move {
        let snapshot = Snapshot::load(location, None, load).await?;
        if dry_run {
            return Ok(plan_cleanup(&snapshot, now_ms()).await?.into());
        }
        Ok(clean_up_now(&snapshot).await?.into())
    })
}
