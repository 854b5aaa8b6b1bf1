//! Runs and previews verbs.

use std::future::Future;

use deltaic_log::Snapshot;
use deltaic_protocol::Result;
use deltaic_storage::memory_budget::MemoryBudget;
use deltaic_table::operations::{self, Verb};
use deltaic_table::write::RowStream;
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::runtime::wait_reporting;
use crate::capsule::BatchesIn;
use crate::writing::commit::Commit;
use crate::writing::commit_options::CommitOptions;
use crate::writing::dry_run::DryRun;
use crate::writing::source::wait_reading;

/// Runs a verb in a commit of its own.
pub(crate) fn run<V>(
    py: Python<'_>,
    snapshot: &Snapshot,
    verb: V,
    options: CommitOptions,
) -> CallResult<Commit>
where
    V: Verb + Send + 'static,
{
    let (snapshot, (options, reporter)) = (snapshot.clone(), options.parse()?);
    let committed = wait_reporting(py, reporter.as_ref(), async move {
        operations::run(&snapshot, &verb, options).await
    })?;
    Ok(committed.into())
}

/// The same for a verb that is made of rows, within the memory of the call.
pub(crate) fn run_reading<V, F>(
    py: Python<'_>,
    snapshot: &Snapshot,
    (data, verb): (BatchesIn, impl FnOnce(RowStream, MemoryBudget) -> F + Send),
    options: CommitOptions,
) -> CallResult<Commit>
where
    V: Verb + Send + 'static,
    F: Future<Output = Result<V>> + Send + 'static,
{
    let (snapshot, (options, reporter)) = (snapshot.clone(), options.parse()?);
    let committed = wait_reading(py, reporter.as_ref(), data, |rows| {
        let verb = verb(rows, options.memory);
        async move { operations::run(&snapshot, &verb.await?, options).await }
    })?;
    Ok(committed.into())
}

/// What a verb would do.
pub(crate) fn preview<V>(
    py: Python<'_>,
    snapshot: &Snapshot,
    verb: V,
    options: Option<CommitOptions>,
) -> CallResult<DryRun>
where
    V: Verb + Send + 'static,
{
    let parsed = options.map(CommitOptions::parse).transpose()?;
    let (snapshot, (options, reporter)) = (snapshot.clone(), parsed.unwrap_or_default());
    let found = wait_reporting(py, reporter.as_ref(), async move {
        verb.preview(&snapshot, options).await
    })?;
    Ok(found.into())
}

/// The same for a verb that is made of rows.
pub(crate) fn preview_reading<V, F>(
    py: Python<'_>,
    snapshot: &Snapshot,
    (data, verb): (BatchesIn, impl FnOnce(RowStream, MemoryBudget) -> F + Send),
    options: CommitOptions,
) -> CallResult<DryRun>
where
    V: Verb + Send + 'static,
    F: Future<Output = Result<V>> + Send + 'static,
{
    let (snapshot, (options, reporter)) = (snapshot.clone(), options.parse()?);
    let found = wait_reading(py, reporter.as_ref(), data, |rows| {
        let verb = verb(rows, options.memory);
        async move { verb.await?.preview(&snapshot, options).await }
    })?;
    Ok(found.into())
}
