//! Stages what a merge does: changes of rows of the table, and new rows.

use std::future::ready;
use std::sync::Arc;

use deltaic_log::transaction::{Operation, StagedFiles};
use deltaic_protocol::expr::TARGET;
use deltaic_protocol::{Error, Result};
use deltaic_storage::clock::now_ms;
use deltaic_storage::memory_budget::MemoryBudget;
use deltaic_storage::{Running, start};

use super::bound_merge::BoundMerge;
use super::decided::Decided;
use super::inserts::rows_to_insert;
use super::matches::MatchedRows;
use super::source::SourceRows;
use super::spill::SpilledDecisions;
use crate::rows::new_rows::WrittenRows;
use crate::rows::plan::delete_plan::DeletePlan;
use crate::rows::plan::plan_parts::PlanPart;
use crate::rows::rewrite::RowRewriter;
use crate::rows::row_changes::RowChanges;
use crate::rows::select::MatchingRows;
use crate::rows::written::{RowsToWrite, WrittenFiles};
use crate::transaction::metrics::Count;
use crate::transaction::requirement::Requirement;
use crate::transaction::{SchemaMode, TableTransaction};
use crate::write::RowStream;

/// The rows that a clause inserts, in data files.
pub(super) struct InsertedRows {
    key: RowsToWrite,
    rows: WrittenRows,
}

impl TableTransaction {
    /// Plans the changes of matched rows, and records the files and rows that were read.
    pub(super) async fn plan_changes(&mut self, matched: MatchedRows) -> Result<DeletePlan> {
        for (path, rows) in &matched.unchanged {
            self.staged.read.read_rows(path, rows);
        }
        let found = MatchingRows {
            positions: matched.changed,
            ..MatchingRows::default()
        };
        let plan = DeletePlan::of_rows(&self.snapshot, found).await?;
        self.staged.ensure_once(plan.paths())?;
        self.staged.read.read_files(plan.paths());
        Ok(plan)
    }

    /// Whether change data files have the changes of the transaction, once those of a plan are staged.
    pub(super) fn records_changes(&self, plan: &DeletePlan) -> Result<bool> {
        Ok(!self.staged.proposal.cdc.is_empty() || (!plan.is_empty() && self.has_feed()?))
    }

    /// Starts writing the rows of the source that a clause inserts, unless an earlier attempt wrote them.
    pub(super) fn begin_inserts(
        &mut self,
        bound: &BoundMerge,
        source: &Arc<SourceRows>,
        (clause, rows): (usize, Arc<[u32]>),
        with_feed: bool,
        memory: MemoryBudget,
    ) -> Result<Running<InsertedRows>> {
        let key = RowsToWrite::Inserted {
            clause,
            rows: Arc::clone(&rows),
            with_feed,
        };
        if let Some(files) = self.written_before(&key) {
            let rows = WrittenRows {
                written: files.written,
                changes: with_feed.then_some(files.changes),
                files: StagedFiles::new(self.snapshot.location()),
            };
            return Ok(start(ready(Ok(InsertedRows { key, rows }))));
        }
        let clause = bound.not_matched.get(clause);
        let clause = clause.ok_or_else(|| Error::internal("a clause that inserts is missing"))?;
        let rows = rows_to_insert(clause, &self.snapshot, source, rows)?;
        let rows = self.begin_append(rows, &SchemaMode::Keep, with_feed, memory)?;
        Ok(start(async move {
            let rows = rows.write().await?;
            Ok(InsertedRows { key, rows })
        }))
    }

    /// Stages the rows that a clause inserts.
    pub(super) fn stage_inserted(&mut self, inserted: InsertedRows) -> Result<()> {
        let InsertedRows { key, rows } = inserted;
        let files = WrittenFiles {
            written: rows.written.clone(),
            copied: 0,
            changes: rows.changes.clone().unwrap_or_default(),
        };
        self.record_written(key, &files);
        self.stage_appended(rows).map(drop)
    }

    /// Writes and stages new rows.
    pub(super) async fn insert_rows(&mut self, rows: RowStream, has_changes: bool) -> Result<()> {
        let memory = self.options.memory;
        let rows = self.begin_append(rows, &SchemaMode::Keep, has_changes, memory)?;
        let rows = rows.write().await?;
        self.stage_appended(rows).map(drop)
    }

    /// Writes new versions of rows, and stages what the plan removes.
    pub(super) async fn change_rows(
        &mut self,
        bound: &BoundMerge,
        decided: &Decided<'_>,
        plan: DeletePlan,
    ) -> Result<()> {
        if plan.is_empty() {
            return Ok(());
        }
        let started = now_ms();
        let empty_text = self.options.empty_partition_text;
        let changes = RowChanges::try_new(&self.snapshot, bound.changes(), Some(TARGET), empty_text)?;
        // At the same time rows are inserted, or temporary files are read.
        let memory = self.options.memory.divided(2);
        match decided {
            Decided::InMemory(matching) => {
                self.rewrite_rows(&plan, &changes, *matching, memory).await?;
            }
            Decided::Spilled(decisions) => {
                self.rewrite_buckets(&plan, &changes, decisions, memory).await?;
            }
        }
        self.count(Count::RewriteTime, now_ms() - started);
        let described = &mut self.staged.described;
        described.record(Operation::Delete);
        described
            .metrics
            .add_known(Count::SelectedRows, plan.deleted_rows);
        self.stage_removal(plan).await
    }

    /// Writes and stages what happens to the rows of a plan, bucket by bucket. There is one part, as each would read all
    /// decisions.
    async fn rewrite_buckets(
        &mut self,
        plan: &DeletePlan,
        changes: &RowChanges,
        decisions: &SpilledDecisions<'_>,
        memory: MemoryBudget,
    ) -> Result<()> {
        self.require(Requirement::ADDS);
        let (again, parts) = self.parts_of(plan);
        again.into_iter().for_each(|files| self.stage_written(files));
        let part = PlanPart::joined(parts);
        if part.files.is_empty() {
            return Ok(());
        }
        let mut rewriter = RowRewriter::try_new(&self.snapshot, changes, part.rewrites(), memory)?;
        let copied = decisions.write_rows(&mut rewriter, &part, &self.options.progress);
        let copied = copied.await;
        let files = rewriter.finish(copied, &self.files).await?;
        self.record_written(RowsToWrite::OfFiles(part.rows()), &files);
        self.stage_written(files);
        Ok(())
    }
}
