//! Writes symlink manifests.

use deltaic_table::symlink_manifest::write_manifests;
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::runtime::wait;
use crate::snapshot::Snapshot;

/// Returns the written and the deleted manifests.
pub(crate) fn run(py: Python<'_>, known: &Snapshot, dry_run: bool) -> CallResult<(Vec<String>, Vec<String>)> {
    let snapshot = known.snapshot.clone();
    let manifests = wait(py, async move { write_manifests(&snapshot, dry_run).await })?;
    Ok((manifests.written, manifests.deleted))
}
