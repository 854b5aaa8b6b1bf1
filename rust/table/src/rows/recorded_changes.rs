//! The changes of rows that a table with a feed records.
//!
//! Protocol: *Add CDC File*.

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use deltaic_log::Snapshot;
use deltaic_log::transaction::StagedFiles;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Cdc;
use deltaic_storage::memory_budget::MemoryBudget;

use super::assignments::unfit;
use super::change_data::{ChangeWriter, to_cdc};
use super::row_changes::{RowChanges, RowClause};

/// Writes change data files of rows that are updated or deleted.
pub(super) struct RecordedChanges {
    updates: Option<[ChangeWriter; 2]>,
    deletes: Option<ChangeWriter>,
    /// The columns of the table in new versions of rows.
    stored: Vec<usize>,
}

impl RecordedChanges {
    /// Prepares recording changes. `after` are the columns of the table in new versions of rows.
    ///
    /// # Errors
    ///
    /// Those of [`ChangeWriter::try_new`].
    pub(super) fn try_new(snapshot: &Snapshot, changes: &RowChanges, after: &Schema) -> Result<Self> {
        let empty_text = changes.empty_text;
        let table = snapshot.configuration();
        let before = snapshot.schema().to_arrow()?;
        let (mut updates, mut deletes) = (None, None);
        for clause in &changes.clauses {
            match clause {
                RowClause::Update(_) if updates.is_none() => {
                    updates = Some([
                        ChangeWriter::try_new(snapshot, table, &before, "update_preimage")?,
                        ChangeWriter::of_new_rows(snapshot, after, "update_postimage", empty_text)?,
                    ]);
                }
                RowClause::Delete if deletes.is_none() => {
                    deletes = Some(ChangeWriter::try_new(snapshot, table, &before, "delete")?);
                }
                RowClause::Update(_) | RowClause::Delete => {}
            }
        }
        Ok(Self {
            updates,
            deletes,
            stored: (0..after.fields().len()).collect(),
        })
    }

    fn all(&mut self) -> impl Iterator<Item = &mut ChangeWriter> {
        self.updates.iter_mut().flatten().chain(&mut self.deletes)
    }

    /// The number of writers.
    pub(super) fn writers(&self) -> usize {
        2 * usize::from(self.updates.is_some()) + usize::from(self.deletes.is_some())
    }

    /// Limits the memory of rows in progress of each writer.
    pub(super) fn limit_memory(&mut self, memory: MemoryBudget) {
        self.all().for_each(|writer| writer.limit_memory(memory));
    }

    /// Records rows with the columns of the table, which are deleted.
    pub(super) async fn record_deleted(&mut self, rows: &RecordBatch) -> Result<()> {
        match &mut self.deletes {
            Some(deletes) => deletes.write(rows).await,
            None => Ok(()),
        }
    }

    /// Records rows with the columns of the table, and their new versions as they are written.
    pub(super) async fn record_updated(&mut self, before: &RecordBatch, after: &RecordBatch) -> Result<()> {
        let Some([preimages, postimages]) = &mut self.updates else {
            return Ok(());
        };
        preimages.write(before).await?;
        let stored = after.project(&self.stored).map_err(|error| unfit(&error))?;
        postimages.write(&stored).await
    }

    /// Finishes all files; they are durable when this returns, and not yet committed.
    pub(super) async fn finish(&mut self) -> Result<Vec<Cdc>> {
        let mut changes = Vec::new();
        for writer in self.all() {
            changes.extend(to_cdc(writer.finish().await?));
        }
        Ok(changes)
    }

    /// Deletes the written files.
    pub(super) async fn abort(&mut self) {
        for writer in self.all() {
            writer.abort().await;
        }
    }

    /// Adds the files to those of a transaction.
    pub(super) fn stage_files(self, staged: &StagedFiles) {
        let Self { updates, deletes, .. } = self;
        for writer in updates.into_iter().flatten().chain(deletes) {
            staged.append(&writer.into_files());
        }
    }
}
