//! Streams changes version by version; the files of a version are read concurrently.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{StreamExt, TryStreamExt};

use super::cancel::without_rewrites;
use super::plan::Changes;
use super::version_plan::VersionPlan;
use crate::read::{BatchStream, stream_tasks};

/// Reads changes. The rows of a version are consecutive, oldest version first. Must be called inside a runtime.
///
/// If changes are inferred, the rows of the files that a version rewrote are buffered in memory until the version is
/// complete; all other rows are streamed.
#[must_use]
pub fn stream_changes(changes: &Changes) -> BatchStream {
    let versions = Arc::clone(&changes.versions);
    let names: Arc<[String]> = changes.output.names().map(str::to_owned).collect();
    futures::stream::iter(0..versions.len())
        .then(move |index| {
            let (version, names) = (versions.get(index).cloned(), Arc::clone(&names));
            async move {
                match version {
                    Some(version) => read_version(version, &names).await,
                    None => Ok(futures::stream::empty().boxed()),
                }
            }
        })
        .try_flatten()
        .boxed()
}

async fn read_version(version: VersionPlan, names: &[String]) -> Result<BatchStream> {
    let cancels = version.cancels;
    let batches = stream_tasks(version.tasks);
    if !cancels {
        return Ok(batches);
    }
    let rows: Vec<RecordBatch> = batches.try_collect().await?;
    let left = without_rewrites(rows)?;
    let left: Vec<RecordBatch> = left
        .iter()
        .map(|batch| project(batch, names))
        .collect::<Result<_>>()?;
    Ok(futures::stream::iter(left.into_iter().map(Ok)).boxed())
}

/// Selects the requested columns of those that were compared.
fn project(batch: &RecordBatch, names: &[String]) -> Result<RecordBatch> {
    let failed = |error: ArrowError| {
        Error::new(
            ErrorKind::CorruptData,
            format!("the columns of a change are ambiguous: {error}"),
        )
    };
    let places = names.iter().map(|name| batch.schema_ref().index_of(name));
    let places: Vec<usize> = places.collect::<std::result::Result<_, _>>().map_err(failed)?;
    batch.project(&places).map_err(failed)
}
