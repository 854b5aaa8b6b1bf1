//! What a verb would do. Nothing is written.

use deltaic_log::Snapshot;
use deltaic_log::transaction::Operation;
use deltaic_protocol::Result;
use deltaic_protocol::features::supports_for_writers;

use super::TableTransaction;
use super::metrics::Count::*;

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
        let metrics = self.staged.described.metrics.clone();
        let (changed_files, rewritten_files) = (metrics.files(Vectors), metrics.files(RewrittenFiles));
        let removes = self.staged.proposal.removes.len().saturating_sub(changed_files);
        let rows = if removes > metrics.files(RemovedFiles) {
            // The rows of files that were removed by path are not counted.
            None
        } else if !self.staged.described.has(Operation::Delete) {
            Some(metrics.number(VectorRows))
        } else if metrics.get(Vectors) == metrics.get(VectorsAdded) {
            metrics.known(SelectedRows)
        } else {
            None
        };
        let mut found = DryRun {
            rows,
            removed_files: removes.saturating_sub(rewritten_files),
            changed_files,
            rewritten_files,
            rewritten_bytes: metrics.get(RewrittenBytes),
            added_rows: metrics.number(NewRows),
            warnings: self
                .staged
                .described
                .warnings
                .iter()
                .map(ToString::to_string)
                .collect(),
            ..DryRun::default()
        };
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
