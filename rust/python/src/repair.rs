//! Repairs a table.

use deltaic_table::repair;
use pyo3::prelude::*;

use crate::commit::Commit;
use crate::commit_options::CommitOptions;
use crate::error::CallResult;
use crate::runtime::{wait, wait_reporting};
use crate::snapshot::Snapshot;

pub(crate) fn run(
    py: Python<'_>,
    known: &Snapshot,
    options: CommitOptions,
) -> CallResult<(Vec<String>, Commit)> {
    let (snapshot, (options, reporter)) = (known.snapshot.clone(), options.parse()?);
    let repaired = wait_reporting(py, reporter.as_ref(), async move {
        repair::repair(&snapshot, options).await
    })?;
    Ok((repaired.missing_files, repaired.committed.into()))
}

pub(crate) fn missing_files(py: Python<'_>, known: &Snapshot) -> CallResult<Vec<String>> {
    let snapshot = known.snapshot.clone();
    wait(py, async move { repair::missing_files(&snapshot).await })
}
