//! Computes the statistics of live files again.

use deltaic_table::transaction::{ComputedStatistics, compute_statistics, preview_statistics};
use pyo3::prelude::*;

use crate::commit::Commit;
use crate::commit_options::CommitOptions;
use crate::dry_run::DryRun;
use crate::error::CallResult;
use crate::predicate::parsed;
use crate::runtime::wait_reporting;
use crate::snapshot::Snapshot;

/// Which statistics are computed.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct StatisticsRequest {
    columns: Option<Vec<String>>,
    predicate: Option<String>,
}

impl StatisticsRequest {
    fn parse(self) -> CallResult<ComputedStatistics> {
        Ok(ComputedStatistics {
            columns: self.columns,
            predicate: parsed(self.predicate.as_deref())?,
        })
    }
}

pub(crate) fn run(
    py: Python<'_>,
    known: &Snapshot,
    request: StatisticsRequest,
    options: CommitOptions,
) -> CallResult<Commit> {
    let (snapshot, (options, reporter)) = (known.snapshot.clone(), options.parse()?);
    let request = request.parse()?;
    let committed = wait_reporting(py, reporter.as_ref(), async move {
        compute_statistics(&snapshot, request, options).await
    })?;
    Ok(committed.into())
}

pub(crate) fn preview(
    py: Python<'_>,
    known: &Snapshot,
    request: StatisticsRequest,
    options: CommitOptions,
) -> CallResult<DryRun> {
    let (snapshot, (options, reporter)) = (known.snapshot.clone(), options.parse()?);
    let request = request.parse()?;
    let found = wait_reporting(py, reporter.as_ref(), async move {
        preview_statistics(&snapshot, &request, &options).await
    })?;
    Ok(found.into())
}
