//! Merges rows into a table: updates and deletes the rows that match, inserts those that do not.
//!
//! The rows of the source are in memory. The table is read twice: first the columns that decide which clause applies to a
//! row, of the files that may have a matching row; then the rows that change, and the other rows of files that are
//! rewritten.
//!
//! Protocol: *Add File and Remove File*, *Deletion Vectors*, *Add CDC File*, *Row Tracking*.

mod clauses;
mod inserts;
mod matching;
mod metrics;
mod pruning;
mod rows;
mod source;

pub use clauses::{ClauseKind, Merge, MergeAction, MergeClause};
pub use source::SourceRows;

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::progress::Stage;
use deltaic_log::snapshot::{Pruning, WithStatistics};
use deltaic_log::transaction::{CommitOptions, Committed, Operation};
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_storage::clock::now_ms;
use futures::TryStreamExt;

use self::clauses::BoundMerge;
use self::inserts::rows_to_insert;
use self::matching::Matching;
pub(super) use self::metrics::Merged;
use self::pruning::rows_that_may_match;
use self::rows::MergedRows;
use super::TableTransaction;
use super::append::NewRows;
use super::delete::Deletion;
use super::delete_plan::{DeletePlan, RewrittenFile};
use super::dry_run::DryRun;
use super::evolve::SchemaMode;
use super::matching_rows::MatchingRows;
use super::run::run_verb;
use crate::read::stream_tasks;
use crate::scan::{Rows, Scan, ScanOptions, Selection};

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
    allowed_roots: Vec<String>,
) -> Result<Committed> {
    let request = Arc::new((merge, source, allowed_roots));
    run_verb(snapshot, Operation::Merge, options, &mut move |_, transaction| {
        let request = Arc::clone(&request);
        Box::pin(async move {
            let (merge, source, allowed_roots) = request.as_ref();
            let mut transaction = transaction.lock().await;
            transaction.merge(merge, source, allowed_roots).await
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
    allowed_roots: &[String],
) -> Result<DryRun> {
    let snapshot = snapshot.without_writes();
    let mut transaction = TableTransaction::try_new(snapshot, Operation::Merge, options)?;
    let staged = transaction.merge(merge, source, allowed_roots).await;
    let preview = transaction.preview();
    staged.and(preview)
}

impl TableTransaction {
    /// Stages a merge. After a failure nothing of the call is staged. Rows staged by the same transaction are neither
    /// matched nor changed.
    ///
    /// # Errors
    ///
    /// `ValueError` for clauses that do not go together; `InvalidPredicate`, `UnsupportedExpression`; `SchemaMismatch` if a
    /// value does not fit its column; `ConstraintViolation` if a row of the table matches several rows of the source, if a
    /// new row violates a constraint, or if the table is append-only; those of [`TableTransaction::update`].
    pub async fn merge(
        &mut self,
        merge: &Merge,
        source: &Arc<SourceRows>,
        allowed_roots: &[String],
    ) -> Result<()> {
        let savepoint = self.savepoint();
        let merged = self.merge_rows(merge, source, allowed_roots).await;
        if merged.is_err() {
            self.roll_back(savepoint);
        }
        merged
    }

    async fn merge_rows(
        &mut self,
        merge: &Merge,
        source: &Arc<SourceRows>,
        allowed_roots: &[String],
    ) -> Result<()> {
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
            return Ok(());
        }
        self.ensure_takes_files()?;
        let bound = BoundMerge::try_new(merge, &snapshot, &source.schema)?;
        self.unrecorded.allowed_roots = allowed_roots.to_vec();
        let started = now_ms();
        let (matching, read) = self.find_matches(&bound, source, allowed_roots).await?;
        let mut positions = std::collections::BTreeMap::new();
        for path in matching.decisions.keys() {
            positions.insert(path.clone(), matching.changed(path, |_| true)?);
        }
        let found = MatchingRows {
            read: read.clone(),
            positions,
            ..MatchingRows::default()
        };
        let plan = DeletePlan::of_rows(&snapshot, found).await?;
        self.ensure_staged_once(plan.paths())?;
        self.read.read_files(read.iter().map(String::as_str));
        let inserted = matching.inserted()?;
        let mut counts = Merged::new(merge, source.len());
        counts.count_rows(&bound, &matching, &inserted);
        counts.add("scanTimeMs", now_ms() - started);
        if !plan.is_empty() {
            self.change_rows(&bound, &matching, source, plan, allowed_roots, &mut counts)
                .await?;
        }
        let has_changes = !self.proposal.cdc.is_empty();
        for (clause, rows) in bound.not_matched.iter().zip(inserted) {
            if rows.is_empty() {
                continue;
            }
            let (adds, changes) = (self.proposal.adds.len(), self.proposal.cdc.len());
            let stream = rows_to_insert(clause, &snapshot, source, rows)?;
            self.append_rows(NewRows::Stream(stream), &SchemaMode::Keep, None, has_changes)
                .await?;
            let added = self.proposal.adds.get(adds..).unwrap_or_default();
            counts.inserted_files += added.len();
            counts.count_files(added);
            counts.count("numTargetChangeFilesAdded", self.proposal.cdc.len() - changes);
        }
        counts.add("executionTimeMs", now_ms() - started);
        self.merged = Some(self.merged.take().unwrap_or_default().followed_by(counts));
        Ok(())
    }

    /// Matches the rows of the table with those of the source. Returns the files that were read, too.
    async fn find_matches<'a>(
        &mut self,
        bound: &'a BoundMerge,
        source: &'a SourceRows,
        allowed_roots: &[String],
    ) -> Result<(Matching<'a>, Vec<String>)> {
        let snapshot = self.snapshot.clone();
        let predicate = rows_that_may_match(bound, source)?;
        match &predicate {
            Some(predicate) => self.read.read_where(Some(predicate)),
            None => self.read.read_whole_table(),
        }
        let adds = files_that_may_match(&snapshot, predicate.as_ref()).await?;
        let columns = bound.deciding_columns();
        let scan = Scan::try_new(
            snapshot.clone(),
            ScanOptions {
                columns: Some(columns.into_iter().collect()),
                positions: true,
                allowed_roots: allowed_roots.to_vec(),
                ..ScanOptions::default()
            },
        )?;
        let tasks = adds.iter().map(|add| {
            let mut task = scan.task_of_rows(add, Rows::All);
            task.selection = Selection::of(add.deletion_vector.clone());
            task
        });
        let mut matching = Matching::try_new(bound, source)?;
        self.options.progress.begin(Stage::Files, adds.len() as u64);
        let mut batches = stream_tasks(tasks.collect());
        while let Some(batch) = batches.try_next().await? {
            matching.add(&batch)?;
        }
        self.options.progress.reach(adds.len());
        let paths = adds.into_iter().map(|add| add.path).collect();
        Ok((matching, paths))
    }

    /// Writes new versions of rows, and stages what the plan removes.
    async fn change_rows(
        &mut self,
        bound: &BoundMerge,
        matching: &Matching<'_>,
        source: &SourceRows,
        plan: DeletePlan,
        allowed_roots: &[String],
        counts: &mut Merged,
    ) -> Result<()> {
        let started = now_ms();
        let has_feed = self.has_feed()?;
        let mut rows = MergedRows::try_new(bound, &self.snapshot, allowed_roots, &self.options, has_feed)?;
        let copied = plan.rewritten.iter().map(RewrittenFile::copied_rows);
        let total = copied.fold(plan.deleted_rows.unwrap_or(0), u64::saturating_add);
        self.options.progress.begin(Stage::Rows, total);
        let written = match rows.write(matching, source, &plan, &self.options.progress).await {
            Ok(written) => written,
            Err(error) => {
                rows.abort().await;
                return Err(error);
            }
        };
        rows.stage_files(self);
        counts.add(
            "numTargetRowsCopied",
            i64::try_from(written.copied).unwrap_or(i64::MAX),
        );
        counts.add("numOutputRows", i64::try_from(written.copied).unwrap_or(i64::MAX));
        counts.count_files(&written.rows.adds);
        counts.count("numTargetChangeFilesAdded", written.changes.len());
        counts.add("rewriteTimeMs", now_ms() - started);
        self.proposal.adds.extend(written.rows.adds);
        self.proposal.cdc.extend(written.changes);
        self.proposal.keeps_row_ids = true;
        let before = self.deletion.get_or_insert_with(|| Deletion {
            deleted_rows: Some(0),
            ..Deletion::default()
        });
        let deleted = before.deleted_rows.zip(plan.deleted_rows);
        before.deleted_rows = deleted.map(|(sum, rows)| sum.saturating_add(rows));
        let before = before.clone();
        self.stage_removal(plan, Deletion::default()).await?;
        if let Some(after) = &self.deletion {
            counts.count_removed(&before, after);
        }
        Ok(())
    }
}

/// The files that may have a row for which a predicate is true.
async fn files_that_may_match(snapshot: &Snapshot, predicate: Option<&BoundPredicate>) -> Result<Vec<Add>> {
    if let Some(BoundPredicate::Constant(Some(false))) = predicate {
        return Ok(Vec::new());
    }
    let (files, _) = snapshot
        .prune(Pruning {
            predicate,
            statistics: WithStatistics::None,
        })
        .await?;
    snapshot.ensure_unique_files(&files)?;
    let paths = files
        .batches
        .iter()
        .flat_map(|batch| batch.adds.path.iter().flatten());
    let paths: Vec<String> = paths.map(str::to_owned).collect();
    match paths.is_empty() {
        true => Ok(Vec::new()),
        false => whole_adds(snapshot, Some(&paths)).await,
    }
}
