//! Completes the change data of a commit: readers of a version with change data files use no other file of it.
//!
//! Protocol: *Add CDC File*, *Change Data Files*.

use deltaic_protocol::Result;
use deltaic_protocol::actions::{Add, Cdc};
use deltaic_protocol::properties::boolean;

use super::TableTransaction;
use super::metrics::Count;
use super::unrecorded::Unrecorded;
use crate::read::stream_to_write;
use crate::rows::change_data::{DeletedRows, rows_to_delete, write_changes};
use crate::scan::{Rows, Scan, ScanOptions};

impl TableTransaction {
    /// Whether the table records changes.
    pub(crate) fn has_feed(&self) -> Result<bool> {
        boolean(self.snapshot.metadata(), "delta.enableChangeDataFeed")
    }

    /// Writes the other changes of a commit to change data files too, if it has any.
    ///
    /// # Errors
    ///
    /// Those of a scan, and of a write.
    pub(crate) async fn complete_feed(&mut self) -> Result<()> {
        let Unrecorded {
            inserted, deleted, ..
        } = std::mem::take(&mut self.staged.unrecorded);
        if self.staged.proposal.cdc.is_empty() {
            return Ok(());
        }
        let mut changes = Vec::new();
        if !deleted.is_empty() {
            changes.extend(self.write_deleted(&deleted).await?);
        }
        if !inserted.is_empty() {
            changes.extend(self.write_inserted(&inserted).await?);
        }
        self.staged
            .described
            .metrics
            .add(Count::ChangeFiles, changes.len());
        self.staged.proposal.cdc.extend(changes);
        Ok(())
    }

    /// Writes rows that the commit deletes to change data files.
    pub(crate) async fn write_deleted(&self, rows: &[DeletedRows]) -> Result<Vec<Cdc>> {
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
