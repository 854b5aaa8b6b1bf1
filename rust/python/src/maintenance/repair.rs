//! Repairs a table.

use deltaic_table::repair;
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::runtime::wait_reporting;
use crate::snapshot::Snapshot;
use crate::writing::commit::Commit;
use crate::writing::commit_options::CommitOptions;

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

pub(crate) fn missing_files(
    py: Python<'_>,
    known: &Snapshot,
    options: CommitOptions,
) -> CallResult<Vec<String>> {
    let (snapshot, (options, reporter)) = (known.snapshot.clone(), options.parse()?);
    wait_reporting(py, reporter.as_ref(), async move {
        repair::missing_files(&snapshot, &options.progress).await
    })
}
