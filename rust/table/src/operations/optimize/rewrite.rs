//! Writes the rows of bins to new files, several bins at once.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deltaic_log::progress::{Progress, Stage};
use deltaic_log::transaction::{CommitOptions, StagedFiles};
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_storage::memory_budget::MemoryBudget;
use deltaic_storage::start;
use futures::StreamExt;

use super::curve::SortOrder;
use super::files::Plan;
use super::preview::rows_of;
use super::sorted_rows::Order;
use crate::rows::copies::{CopiedRows, settle_written, write_batches};
use crate::write::Written;

/// Writes the bins of a plan. Returns the new files of each bin; after a failure there are none.
pub(super) async fn write_bins(
    plan: &Plan,
    staged: &Arc<StagedFiles>,
    options: &CommitOptions,
) -> Result<Vec<Vec<Add>>> {
    if plan.bins.is_empty() {
        return Ok(Vec::new());
    }
    let copied = Arc::new(CopiedRows::try_new(&plan.snapshot)?);
    let rows = rows_of(plan.files()).unwrap_or_default();
    options.progress.begin(Stage::Rows, rows);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let at_once = cores.min(plan.bins.len());
    let memory = options.memory.divided(at_once);
    let has_failed = Arc::new(AtomicBool::new(false));
    let jobs: Vec<_> = plan
        .bins
        .iter()
        .map(|bin| {
            let (copied, staged) = (Arc::clone(&copied), Arc::clone(staged));
            let (progress, has_failed) = (Arc::clone(&options.progress), Arc::clone(&has_failed));
            let order = bin.is_sorted.then(|| plan.order.clone());
            let (files, target_bytes) = (bin.files.clone(), plan.target_bytes);
            async move {
                if has_failed.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let job = Job {
                    copied: &copied,
                    files: &files,
                    target_bytes,
                    memory,
                };
                let written = match order {
                    None => job.write(&staged, &progress).await,
                    Some(order) => job.write_in_order(order, &staged, &progress).await,
                };
                has_failed.fetch_or(written.is_err(), Ordering::Relaxed);
                written.map(|written| Some(written.adds))
            }
        })
        .collect();
    let mut written = futures::stream::iter(jobs).map(start).buffered(at_once);
    let (mut adds, mut failure) = (Vec::with_capacity(plan.bins.len()), None);
    // After a failure the other bins are awaited: a cancelled upload may still create its file.
    while let Some(bin) = written.next().await {
        match bin {
            Ok(bin) => adds.extend(bin),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(adds), Err)
}

/// A bin to write.
struct Job<'a> {
    copied: &'a CopiedRows,
    files: &'a [Add],
    target_bytes: u64,
    memory: MemoryBudget,
}

impl Job<'_> {
    /// Writes the rows in the order of the files.
    async fn write(&self, staged: &StagedFiles, progress: &Progress) -> Result<Written> {
        let tasks = self.files.iter().map(|add| self.copied.task_of(add)).collect();
        let mut writer = self.copied.writer(self.memory)?;
        // A bin becomes one file, unless its rows take much more space than before.
        writer.set_target_bytes(self.target_bytes.saturating_mul(2));
        write_batches(writer, self.copied.batches(tasks), staged, progress).await
    }

    /// Writes the rows along a curve.
    async fn write_in_order(
        &self,
        order: SortOrder,
        staged: &StagedFiles,
        progress: &Progress,
    ) -> Result<Written> {
        let (copied, files) = (self.copied, self.files);
        let order = Order::of_files(copied, files, order, self.target_bytes, self.memory).await?;
        let mut writer = copied.writer(self.memory.divided(4))?;
        writer.set_target_bytes(u64::MAX);
        let written = async {
            let advance = |rows| progress.advance(rows);
            order.write(copied, files, &mut writer, advance).await?;
            writer.finish().await
        };
        let written = written.await;
        settle_written(writer, written, staged).await
    }
}
