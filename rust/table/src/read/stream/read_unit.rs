//! Reads a read unit of a file: filters rows, converts the rest to the scan's batches, and verifies that no row is
//! lost.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use deltaic_protocol::{Error, Result};
use deltaic_storage::location::without_secrets;
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt};
use parquet::arrow::arrow_reader::{ArrowPredicate, ArrowPredicateFn, RowFilter};
use parquet::arrow::async_reader::ParquetRecordBatchStream;
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use parquet::errors::ParquetError;

use crate::read::columns::file_columns::Roots;
use crate::read::file::open_file::OpenFile;
use crate::read::file::row_counts::RowCounts;
use crate::read::file::stop::Stop;
use crate::read::local::page_wise::PageWise;
use crate::read::local::pages::Source;
use crate::read::local::predicate_cache::CACHED_BYTES;
use crate::read::parquet::footer::{damaged, miscounted};
use crate::read::parquet::page_guard::PageGuard;
use crate::read::pruning::selection::{Group, rows_of};
use crate::scan::ScanTask;

/// A read unit: row groups of a file that are read sequentially.
pub(crate) struct ReadUnit {
    pub(crate) file: Arc<OpenFile>,
    pub(crate) groups: Vec<Group>,
}

impl ReadUnit {
    /// The task of this read unit.
    pub(crate) fn task(&self) -> &ScanTask {
        &self.file.plan.task
    }

    /// Whether it is read from a file system, which blocks.
    pub(crate) fn is_local(&self) -> bool {
        self.task().context.location.file_system().is_some()
    }

    /// Returns the compressed bytes in memory during the read: those of its columns. For a local file these are a few
    /// pages.
    pub(crate) fn bytes(&self) -> u64 {
        let OpenFile { plan, footer, .. } = self.file.as_ref();
        if self.is_local() {
            return 0;
        }
        let of_group = |group: &Group| {
            let columns = footer
                .metadata
                .row_groups()
                .get(group.index)
                .map(|group| group.columns());
            let sizes = plan.leaves.iter().filter_map(|leaf| columns?.get(*leaf));
            let all = sizes.map(|column| column.byte_range().1).sum::<u64>();
            // The bytes of a part of a row group are estimated by its share of the rows.
            let rows = rows_of(&footer.metadata, group.index).max(1);
            match group.is_part() {
                true => all.saturating_mul(group.rows.min(rows)) / rows,
                false => all,
            }
        };
        self.groups.iter().map(of_group).max().unwrap_or(0)
    }

    /// Returns the scan's batches: only matching rows, and no empty batches.
    pub(crate) fn read(self, stop: Stop) -> impl Stream<Item = Result<RecordBatch>> + Send + use<> {
        let task = &self.file.plan.task;
        let (path, version) = (without_secrets(&task.path), task.context.version);
        let located = move |error: Error| error.with("path", path.as_str()).with("version", version);
        let seen = Arc::new(RowCounts::default());
        let expected: u64 = self.groups.iter().map(|group| group.rows).sum();
        let plan = Arc::clone(&self.file.plan);
        let decoding = Arc::clone(&seen);
        let (damage, late, is_limited) = (located.clone(), plan.is_late, self.file.limit.is_some());
        let (counts, evaluated, at_end) = (Arc::clone(&seen), located.clone(), located);
        let end = futures::stream::once(async move {
            let [decoded, matched, given] = seen.counts();
            if is_limited || (decoded == expected && (!late || matched == given)) {
                return Ok(None::<RecordBatch>);
            }
            let (has, claimed) = if decoded == expected {
                (given, matched)
            } else {
                (decoded, expected)
            };
            Err(at_end(miscounted(has, claimed)))
        })
        .try_filter_map(|none| async move { Ok(none) });
        let batches = async move { self.decode(&decoding, stop).await };
        batches
            .into_stream()
            .try_flatten()
            .map_err(damage)
            .and_then(move |batch| {
                match late {
                    true => counts.given(rows_in(&batch)),
                    false => counts.decoded(rows_in(&batch)),
                }
                let answer = plan.batch(&batch).map_err(&evaluated);
                async move { answer }
            })
            .try_filter(|batch| {
                let any = batch.num_rows() > 0;
                async move { any }
            })
            .chain(end)
    }

    /// Decodes the file's batches: page by page for a local file or one in memory, otherwise by row groups.
    async fn decode(
        &self,
        seen: &Arc<RowCounts>,
        stop: Stop,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let OpenFile { plan, footer, .. } = self.file.as_ref();
        let shown = without_secrets(&plan.task.path);
        let source = match footer.file.held() {
            Some(bytes) => Some(Source::Held(bytes)),
            None if self.is_local() => {
                let opened = footer.file.opened().await;
                let opened =
                    opened.map_err(|error| damaged(&ParquetError::External(Box::new(error)), &shown))?;
                opened.map(Source::Opened)
            }
            None => None,
        };
        if let Some(source) = source {
            let pages = PageWise::new(Arc::clone(&self.file), self.groups.clone(), source, stop);
            return Ok(futures::stream::iter(pages.batches(seen)?).boxed());
        }
        let batches = self.by_row_groups(seen)?;
        Ok(batches.map_err(move |error| damaged(&error, &shown)).boxed())
    }

    fn by_row_groups(&self, seen: &Arc<RowCounts>) -> Result<ParquetRecordBatchStream<PageGuard>> {
        let OpenFile {
            plan,
            footer,
            arrow,
            limit,
            ..
        } = self.file.as_ref();
        let schema = arrow.parquet_schema();
        let output = match plan.is_late {
            true => &plan.output_leaves,
            false => &plan.leaves,
        };
        let file = PageGuard::new(footer.file.clone(), self.file.packing);
        let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(file, arrow.clone())
            .with_projection(ProjectionMask::leaves(schema, output.iter().copied()))
            .with_batch_size(plan.batch_rows_of(Group::rows_of(&self.groups)))
            .with_max_predicate_cache_size(CACHED_BYTES)
            .with_row_selection_policy(plan.selection_policy(&self.groups))
            .with_row_group_selections(self.groups.iter().map(Group::to_parquet).collect());
        if plan.is_late {
            let stages = plan.stages.iter().enumerate();
            let stages = stages.map(|(index, stage)| {
                let roots = Roots::new(stage.columns.roots().collect());
                let (plan, seen) = (Arc::clone(plan), Arc::clone(seen));
                let is_last = index + 1 == plan.stages.len();
                let evaluate = move |batch: RecordBatch| {
                    if index == 0 {
                        seen.decoded(rows_in(&batch));
                    }
                    let answer = plan
                        .evaluate_filters(index, &batch, &roots)
                        .map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
                    if is_last {
                        seen.matched(u64::try_from(answer.true_count()).unwrap_or(u64::MAX));
                    }
                    Ok(answer)
                };
                let mask = ProjectionMask::leaves(schema, stage.columns.leaves());
                Box::new(ArrowPredicateFn::new(mask, evaluate)) as Box<dyn ArrowPredicate>
            });
            builder = builder.with_row_filter(RowFilter::new(stages.collect()));
        }
        if let Some(limit) = limit.filter(|_| plan.stages.is_empty() || plan.is_late) {
            builder = builder.with_limit(limit);
        }
        builder
            .build()
            .map_err(|error| damaged(&error, &without_secrets(&plan.task.path)))
    }
}

fn rows_in(batch: &RecordBatch) -> u64 {
    u64::try_from(batch.num_rows()).unwrap_or(u64::MAX)
}
