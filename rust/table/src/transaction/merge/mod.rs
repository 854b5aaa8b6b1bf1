//! Merges rows into a table: updates and deletes the rows that match, inserts those that do not.
//!
//! The rows of the source are in memory if they fit; see `spilled` for others. The table is read twice: first the columns
//! that decide which clause applies to a row, of the files that may have a matching row; then the rows that change, and
//! the other rows of files that are rewritten.
//!
//! Protocol: *Add File and Remove File*, *Deletion Vectors*, *Add CDC File*, *Row Tracking*.

mod bound_merge;
mod clauses;
mod evolution;
mod inserts;
mod key_index;
mod matched_rows;
mod matching;
mod metrics;
mod probe;
mod pruning;
mod rows;
mod schema_changes;
mod shares;
mod sides;
mod source;
mod spill;
mod spilled;
mod spilled_source;
mod staging;

pub use clauses::{ClauseKind, Merge, MergeAction, MergeClause};
pub use source::SourceRows;

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Committed, Operation};
use deltaic_protocol::Result;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_storage::clock::now_ms;
use futures::TryStreamExt;

use self::bound_merge::BoundMerge;
use self::matching::{Decision, Matching};
pub(super) use self::metrics::Merged;
use self::rows::Changes;
use self::shares::Shares;
use super::TableTransaction;
use super::dry_run::DryRun;
use super::run::run_verb;
use crate::read::stream_tasks;

/// Merges the rows of a source into a table in one commit; see [`TableTransaction::merge`]. After a conflict the rows are
/// matched again with the newest version. Returns a skipped commit if nothing changes.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of [`TableTransaction::merge`] and of [`deltaic_log::transaction::run`].
pub async fn merge(
    snapshot: &Snapshot,
    merge: Merge,
    source: Arc<SourceRows>,
    options: CommitOptions,
) -> Result<Committed> {
    let request = Arc::new((merge, source));
    run_verb(snapshot, Operation::Merge, options, &mut move |_, transaction| {
        let request = Arc::clone(&request);
        Box::pin(async move {
            let (merge, source) = request.as_ref();
            let mut transaction = transaction.lock().await;
            transaction.merge(merge, source).await.map(drop)
        })
    })
    .await
}

/// What a merge would do. The rows are validated and encoded; nothing is written.
///
/// # Errors
///
/// Those of [`TableTransaction::merge`].
pub async fn preview_merge(
    snapshot: &Snapshot,
    merge: &Merge,
    source: &Arc<SourceRows>,
    options: CommitOptions,
) -> Result<DryRun> {
    let snapshot = snapshot.without_writes();
    let mut transaction = TableTransaction::try_new(snapshot, Operation::Merge, options)?;
    let staged = transaction.merge(merge, source).await.map(drop);
    let preview = transaction.preview();
    staged.and(preview)
}

impl TableTransaction {
    /// Stages a merge. Returns the number of rows that it updates, deletes or inserts. After a failure nothing of the call
    /// is staged. Rows staged by the same transaction are neither matched nor changed.
    ///
    /// # Errors
    ///
    /// `ValueError` for clauses that do not go together; `InvalidPredicate`, `UnsupportedExpression`; `SchemaMismatch` if a
    /// value does not fit its column; `ConstraintViolation` if a row of the table matches several rows of the source, if a
    /// new row violates a constraint, or if the table is append-only; those of [`TableTransaction::update`].
    pub async fn merge(&mut self, merge: &Merge, source: &Arc<SourceRows>) -> Result<u64> {
        let (savepoint, snapshot) = (self.savepoint(), self.snapshot.clone());
        let merged = self.merge_rows(merge, source).await;
        if merge.evolves {
            self.restore(snapshot);
        }
        if merged.is_err() {
            self.roll_back(savepoint);
        }
        merged
    }

    async fn merge_rows(&mut self, merge: &Merge, source: &Arc<SourceRows>) -> Result<u64> {
        let snapshot = self.snapshot.clone();
        let changes_rows = merge
            .clauses
            .iter()
            .any(|clause| clause.kind != ClauseKind::NotMatched);
        ensure_appendable(snapshot.configuration())
            .and_then(|()| match changes_rows {
                true => ensure_removable(snapshot.configuration()),
                false => Ok(()),
            })
            .map_err(|error| self.located(error))?;
        if self.is_done() {
            return Ok(0);
        }
        self.ensure_takes_files()?;
        let evolution = match merge.evolves {
            true => Some(self.evolve_for(merge, &source.schema)?),
            false => None,
        };
        let snapshot = self.snapshot.clone();
        let bound = BoundMerge::try_new(merge, &snapshot, &source.schema, evolution.as_ref())?;
        let started = now_ms();
        let Some(mut matching) = self.find_matches(&bound, source).await? else {
            return self.merge_spilled(merge, &bound, source).await;
        };
        let matched = matching.take_matched()?;
        let inserted = matching.inserted()?;
        let mut counts = Merged::new(merge, &bound, source.len());
        counts.count_rows(&bound, &matching, &inserted);
        counts.add("scanTimeMs", now_ms() - started);
        let plan = self.plan_changes(matched).await?;
        let has_changes = self.records_changes(&plan)?;
        let inserts = inserted.into_iter().map(Arc::from).enumerate();
        let mut inserts = inserts.filter(|(_, rows): &(usize, Arc<[u32]>)| !rows.is_empty());
        self.begin_writing(&plan, &counts);
        // The rows of the first clause that inserts are written while rows of the table are changed.
        let memory = self.options.memory.divided(2);
        let mut begin_inserts = |this: &mut Self, memory| {
            let begun = inserts
                .next()
                .map(|rows| this.begin_inserts(&bound, source, rows, has_changes, memory));
            begun.transpose()
        };
        let first = begin_inserts(self, memory)?;
        let changes = Changes::InMemory(&matching, source);
        let changed = self.change_rows(&bound, &changes, plan, &mut counts).await;
        let inserted = match first {
            Some(rows) => rows.await.and_then(|rows| self.stage_inserted(rows, &mut counts)),
            None => Ok(()),
        };
        changed.and(inserted)?;
        while let Some(rows) = begin_inserts(self, self.options.memory)? {
            self.stage_inserted(rows.await?, &mut counts)?;
        }
        counts.add("executionTimeMs", now_ms() - started);
        let changed = counts.changed_rows();
        self.merged = Some(self.merged.take().unwrap_or_default().followed_by(counts));
        Ok(changed)
    }

    /// Matches the rows of the table with those of the source. Returns `None` if the source or what happens to rows of the
    /// table does not fit in memory.
    async fn find_matches<'a>(
        &mut self,
        bound: &'a BoundMerge,
        source: &'a SourceRows,
    ) -> Result<Option<Matching<'a>>> {
        if source.spilled.is_some() {
            return Ok(None);
        }
        let most_decisions = Shares::of(self.options.memory).source / size_of::<Decision>();
        let (adds, tasks) = self.rows_to_match(bound, source).await?;
        let mut matching = Matching::try_new(bound, source)?;
        let mut batches = matching.probe().all(stream_tasks(tasks));
        while let Some(batch) = batches.try_next().await? {
            matching.add(&batch)?;
            if matching.decided > most_decisions {
                return Ok(None);
            }
        }
        self.options.progress.reach(adds.len());
        Ok(Some(matching))
    }
}
