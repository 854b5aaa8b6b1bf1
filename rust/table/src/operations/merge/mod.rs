//! Merges rows into a table: updates and deletes the rows that match, inserts those that do not.
//!
//! The rows of the source are in memory if they fit; see `spilled` for others. The table is read twice: first the columns
//! that decide which clause applies to a row, of the files that may have a matching row; then the rows that change, and
//! the other rows of files that are rewritten.
//!
//! Protocol: *Add File and Remove File*, *Deletion Vectors*, *Add CDC File*, *Row Tracking*.

mod bound_merge;
mod clauses;
mod decided;
mod evolution;
mod inserts;
mod matches;
mod metrics;
mod schema_changes;
mod shares;
mod sides;
mod source;
mod spill;
mod spilled;
mod spilled_source;
mod staging;
mod used_columns;

pub use clauses::{ClauseKind, Merge, MergeAction, MergeClause};
pub use source::SourceRows;

use std::sync::Arc;

use deltaic_log::transaction::Operation;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::clock::now_ms;
use futures::TryStreamExt;

use self::bound_merge::BoundMerge;
use self::decided::Decided;
use self::matches::Matching;
use self::shares::Shares;
use super::verb::Verb;
use crate::read::stream_tasks;
use crate::rows::decisions::Decision;
use crate::transaction::TableTransaction;
use crate::transaction::metrics::Count;

/// Updates and deletes the rows of a table that match rows of a source, and inserts those that do not. The result is the
/// number of rows that are updated, deleted or inserted. Rows staged by the same transaction are neither matched nor
/// changed. After a conflict the rows are matched again with the newest version.
///
/// # Errors
///
/// `ValueError` for clauses that do not go together; `InvalidPredicate`, `UnsupportedExpression`; `SchemaMismatch` if a
/// value does not fit its column; `ConstraintViolation` if a row of the table matches several rows of the source, if a
/// new row violates a constraint, or if the table is append-only; those of [`Update`](super::Update).
#[derive(Clone)]
pub struct MergeRows {
    /// What is done with which rows.
    pub merge: Merge,
    /// The source.
    pub source: Arc<SourceRows>,
}

impl Verb for MergeRows {
    type Staged = u64;

    fn operation(&self) -> Operation {
        Operation::Merge
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        ensure_appendable(table)?;
        let mut clauses = self.merge.clauses.iter();
        match clauses.any(|clause| clause.kind != ClauseKind::NotMatched) {
            true => ensure_removable(table),
            false => Ok(()),
        }
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<u64> {
        transaction.ensure_takes_files()?;
        let snapshot = transaction.snapshot.clone();
        let merged = transaction.merge_rows(&self.merge, &self.source).await;
        if self.merge.evolves {
            transaction.restore(snapshot);
        }
        merged
    }
}

impl TableTransaction {
    async fn merge_rows(&mut self, merge: &Merge, source: &Arc<SourceRows>) -> Result<u64> {
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
        let number = inserted.iter().map(Vec::len).sum::<usize>() as u64;
        let of_clauses = matching.rows_of_clauses();
        let changed = self.count_clauses((merge, &bound), source.len(), &of_clauses);
        self.count(Count::ScanTime, now_ms() - started);
        let plan = self.plan_changes(matched).await?;
        let has_changes = self.records_changes(&plan)?;
        let inserts = inserted.into_iter().map(Arc::from).enumerate();
        let mut inserts = inserts.filter(|(_, rows): &(usize, Arc<[u32]>)| !rows.is_empty());
        let read = bound.rows_to_read(&of_clauses, self.has_feed()?);
        self.begin_rewriting(&plan, number.saturating_add(read));
        // The rows of the first clause that inserts are written while rows of the table are changed.
        let memory = self.options.memory.divided(2);
        let mut begin_inserts = |this: &mut Self, memory| {
            let begun = inserts
                .next()
                .map(|rows| this.begin_inserts(&bound, source, rows, has_changes, memory));
            begun.transpose()
        };
        let first = begin_inserts(self, memory)?;
        let changes = Decided::InMemory(&matching);
        let written = self.change_rows(&bound, &changes, plan).await;
        let inserted = match first {
            Some(rows) => rows.await.and_then(|rows| self.stage_inserted(rows)),
            None => Ok(()),
        };
        written.and(inserted)?;
        while let Some(rows) = begin_inserts(self, self.options.memory)? {
            self.stage_inserted(rows.await?)?;
        }
        self.count(Count::MergeTime, now_ms() - started);
        Ok(changed + number)
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
