//! Changes as they come: version by version, the files of each side by side.

use std::sync::Arc;

use arrow_array::RecordBatch;
use deltaic_protocol::Result;
use futures::{StreamExt, TryStreamExt};

use super::cancel::without_rewrites;
use super::plan::{Changes, VersionPlan};
use crate::read::{BatchStream, stream_tasks};

/// Reads changes. The rows of a version stand together, the oldest version's first. Must be called inside a runtime.
///
/// Where changes are inferred, the rows of the files that one version rewrote are held in memory until the version is
/// told; what else there is comes as it is read.
#[must_use]
pub fn stream_changes(changes: &Changes) -> BatchStream {
    let versions = Arc::clone(&changes.versions);
    futures::stream::iter(0..versions.len())
        .then(move |index| {
            let version = versions.get(index).cloned();
            async move {
                match version {
                    Some(version) => read_version(version).await,
                    None => Ok(futures::stream::empty().boxed()),
                }
            }
        })
        .try_flatten()
        .boxed()
}

async fn read_version(version: VersionPlan) -> Result<BatchStream> {
    let cancels = version.cancels;
    let batches = stream_tasks(version.tasks);
    if !cancels {
        return Ok(batches);
    }
    let rows: Vec<RecordBatch> = batches.try_collect().await?;
    let left = without_rewrites(rows)?;
    Ok(futures::stream::iter(left.into_iter().map(Ok)).boxed())
}
