//! Records what a transaction reads of the table, for the conflict check against winning commits.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_log::snapshot::WithStatistics;
use deltaic_protocol::Result;
use deltaic_protocol::expr::Predicate;

use super::TableTransaction;
use crate::scan::list_files;

impl TableTransaction {
    /// Records that the rows of a predicate were read, or all rows if `None`. The predicate's conditions on partition
    /// columns, and the files that may contain a matching row, narrow down what conflicts with a winning commit.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate`.
    pub async fn read(&mut self, predicate: Option<&Predicate>) -> Result<()> {
        let Some(predicate) = predicate else {
            self.staged.has_read_rows = true;
            self.staged.read.read_whole_table();
            return Ok(());
        };
        let bound = predicate.bind(self.snapshot.schema())?;
        let (files, _) = self.snapshot.files(Some(&bound)).await?;
        self.staged.has_read_rows = true;
        self.staged.read.read_where(Some(&bound));
        for batch in &files.batches {
            self.staged.read.read_files(batch.adds.path.iter().flatten());
        }
        Ok(())
    }

    /// Returns the files that may contain a row of the predicate, as [`list_files`]; records them as read.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate`.
    pub async fn files(
        &mut self,
        predicate: Option<&Predicate>,
        statistics: WithStatistics,
    ) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        self.read(predicate).await?;
        list_files(&self.snapshot, predicate, statistics).await
    }

    /// Returns the last version of an application and records it as read: a concurrent commit that advances it
    /// conflicts.
    ///
    /// Protocol: *Transaction Identifiers*.
    pub fn read_app(&mut self, app_id: &str) -> Option<i64> {
        self.staged.read.read_app_id(app_id);
        let known = self.snapshot.current_txns(deltaic_storage::clock::now_ms());
        known
            .into_iter()
            .find(|txn| txn.app_id == app_id)
            .map(|txn| txn.version)
    }
}
