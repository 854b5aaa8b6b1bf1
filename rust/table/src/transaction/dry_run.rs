//! What a verb would do. Nothing is written.

use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::{CommitOptions, Operation};
use deltaic_protocol::Result;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::{ensure_appendable, ensure_removable, supports_for_writers};

use super::TableTransaction;
use super::delete_plan::DeletePlan;
use super::evolve::SchemaMode;
use super::replaced::Replaced;
use super::update::Assignment;
use crate::write::RowStream;

/// What a verb would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DryRun {
    /// The number of rows that would be deleted, replaced or updated; `None` if the log does not have it.
    pub rows: Option<u64>,
    /// The number of files of which no row would remain.
    pub removed_files: usize,
    /// The number of files that would get a deletion vector.
    pub changed_files: usize,
    /// The number of files that would get other statistics.
    pub described_files: usize,
    /// The number of files whose other rows would be copied to new files.
    pub rewritten_files: usize,
    /// The size of the rewritten files in bytes.
    pub rewritten_bytes: i64,
    /// The number of new rows.
    pub added_rows: u64,
    /// The number of new files, with those of copied rows.
    pub added_files: usize,
    /// Their size in bytes.
    pub added_bytes: i64,
    /// The features that the table would need and does not have.
    pub features: Vec<String>,
    /// What may take long.
    pub warnings: Vec<String>,
}

/// What deleting the rows of a predicate in a version would do.
///
/// # Errors
///
/// Those of [`TableTransaction::delete`].
pub async fn preview_delete(snapshot: &Snapshot, predicate: Option<&Predicate>) -> Result<DryRun> {
    ensure_removable(snapshot.configuration())?;
    let plan = DeletePlan::try_new(snapshot, predicate, &Progress::default()).await?;
    if !plan.rewritten.is_empty() {
        ensure_appendable(snapshot.configuration())?;
    }
    let summary = plan.summary();
    Ok(DryRun {
        rows: summary.rows,
        removed_files: summary.removed_files,
        changed_files: summary.changed_files,
        rewritten_files: summary.rewritten_files,
        rewritten_bytes: summary.rewritten_bytes,
        ..DryRun::default()
    })
}

/// What updating the rows of a predicate in a version would do. The new rows are validated and encoded.
///
/// # Errors
///
/// Those of [`TableTransaction::update`].
pub async fn preview_update(
    snapshot: &Snapshot,
    assignments: &[Assignment],
    predicate: Option<&Predicate>,
    options: CommitOptions,
) -> Result<DryRun> {
    let snapshot = snapshot.without_writes();
    let mut transaction = TableTransaction::try_new(snapshot, Operation::Update, options)?;
    let staged = transaction.update(assignments, predicate).await;
    let preview = transaction.preview();
    staged.and(preview)
}

/// What appending the rows of a stream would do, or overwriting rows with them. The rows are validated and encoded.
///
/// # Errors
///
/// Those of [`TableTransaction::append`] and [`TableTransaction::overwrite`].
pub async fn preview_rows(
    snapshot: &Snapshot,
    rows: impl Into<RowStream>,
    schema_mode: SchemaMode,
    replaced: Option<Replaced>,
    options: CommitOptions,
) -> Result<DryRun> {
    let snapshot = snapshot.without_writes();
    let mut transaction = TableTransaction::try_new(snapshot.clone(), Operation::Write, options)?;
    let staged = match replaced {
        None => transaction.append(rows, &schema_mode).await,
        Some(replaced) => {
            let overwritten = transaction.overwrite(rows, &replaced, &schema_mode);
            overwritten.await
        }
    };
    // No file was written, so none is to be deleted, even after an error.
    transaction.files.release();
    staged.and_then(|_| transaction.dry_run(&snapshot))
}

impl TableTransaction {
    /// What a commit of everything that is staged would do. The snapshot of the transaction must be one
    /// [without writes](Snapshot::without_writes).
    ///
    /// # Errors
    ///
    /// Those of [`TableTransaction::commit`] that need no commit; `ValueError` in a child of `fork`.
    pub fn preview(&mut self) -> Result<DryRun> {
        self.files.owner().ensure_current()?;
        // No file was written, so none is to be deleted.
        self.files.release();
        let snapshot = self.snapshot.clone();
        self.dry_run(&snapshot)
    }

    fn dry_run(&mut self, snapshot: &Snapshot) -> Result<DryRun> {
        let changed_files = usize::try_from(self.vectors_added).unwrap_or(usize::MAX);
        let removes = self.proposal.removes.len().saturating_sub(changed_files);
        let deletion = self.deletion.take();
        let (by_verbs, rewritten_files, rewritten_bytes) = deletion.as_ref().map_or((0, 0, 0), |verbs| {
            (verbs.removed_files, verbs.rewritten_files, verbs.rewritten_bytes)
        });
        let rows = match &deletion {
            // The rows of files that were removed by path are not counted.
            _ if removes > by_verbs => None,
            None => Some(self.deleted_rows),
            Some(verbs) if self.vectors_added == verbs.vectors_added => verbs.deleted_rows,
            Some(_) => None,
        };
        let mut found = DryRun {
            rows,
            removed_files: removes.saturating_sub(rewritten_files),
            changed_files,
            rewritten_files,
            rewritten_bytes,
            added_rows: self.appended.rows,
            ..DryRun::default()
        };
        if self.merged.as_ref().is_some_and(|merged| merged.compares_all) {
            found.warnings.push(
                "the condition has no equality of both sides: each row of the source is compared with each row of the table"
                    .to_owned(),
            );
        }
        if let Some(planned) = self.planned(snapshot)? {
            let proposal = &planned.transaction.proposal;
            // A file with a new deletion vector is added again.
            let new = proposal.adds.iter().filter(|add| add.deletion_vector.is_none());
            (found.added_files, found.added_bytes) = new.fold((0, 0), |(files, bytes), add| {
                (files + 1, add.size.saturating_add(bytes))
            });
            let listed = proposal
                .protocol
                .iter()
                .flat_map(|protocol| protocol.writer_features.iter().flatten());
            let missing = listed.filter(|name| !supports_for_writers(snapshot.protocol(), name));
            found.features = missing.cloned().collect();
        }
        Ok(found)
    }
}
