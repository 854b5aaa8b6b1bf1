//! Completes the change data of a commit: readers of a version with change data files use no other file of it.
//!
//! Protocol: *Add CDC File*, *Change Data Files*.

use deltaic_protocol::Result;
use deltaic_protocol::actions::{Add, Cdc};
use deltaic_protocol::properties::boolean;

use super::TableTransaction;
use super::change_data::{DeletedRows, rows_to_delete, write_changes};
use crate::read::stream_to_write;
use crate::scan::{Rows, Scan, ScanOptions};

/// Staged changes of rows that readers derive from added and removed files, unless the commit has change data files.
#[derive(Clone, Debug, Default)]
pub(super) struct Unrecorded {
    /// Files with new rows.
    pub(super) inserted: Vec<Add>,
    pub(super) deleted: Vec<DeletedRows>,
}

impl TableTransaction {
    /// Whether the table records changes.
    pub(super) fn has_feed(&self) -> Result<bool> {
        boolean(self.snapshot.metadata(), "delta.enableChangeDataFeed")
    }

    /// Writes the other changes of a commit to change data files too, if it has any.
    ///
    /// # Errors
    ///
    /// Those of a scan, and of a write.
    pub(super) async fn complete_feed(&mut self) -> Result<()> {
        let Unrecorded {
            inserted, deleted, ..
        } = std::mem::take(&mut self.unrecorded);
        if self.proposal.cdc.is_empty() {
            return Ok(());
        }
        let mut changes = Vec::new();
        if !deleted.is_empty() {
            changes.extend(self.write_deleted(&deleted).await?);
        }
        if !inserted.is_empty() {
            changes.extend(self.write_inserted(&inserted).await?);
        }
        if let Some(deletion) = &mut self.deletion {
            deletion.change_files += changes.len();
        }
        self.proposal.cdc.extend(changes);
        Ok(())
    }

    /// Writes rows that the commit deletes to change data files.
    pub(super) async fn write_deleted(&self, rows: &[DeletedRows]) -> Result<Vec<Cdc>> {
        let scan = self.scan_changes()?;
        let schema = scan.schema().to_arrow()?;
        let rows = (&schema, rows_to_delete(&scan, rows));
        let (snapshot, table) = (&self.snapshot, self.snapshot.configuration());
        let memory = self.options.memory;
        write_changes(snapshot, table, rows, "delete", &self.files, memory).await
    }

    /// Writes the rows of added files to change data files.
    async fn write_inserted(&self, files: &[Add]) -> Result<Vec<Cdc>> {
        let table = self.configuration();
        let scan = self.scan_changes()?.of_configuration(&table)?;
        let schema = scan.schema().to_arrow()?;
        let tasks = files.iter().map(|add| scan.task_of_rows(add, Rows::All));
        let rows = (&schema, stream_to_write(tasks.collect()));
        let (snapshot, memory) = (&self.snapshot, self.options.memory);
        write_changes(snapshot, &table, rows, "insert", &self.files, memory).await
    }

    fn scan_changes(&self) -> Result<Scan> {
        Scan::try_new(self.snapshot.clone(), ScanOptions::default())
    }
}
