//! What a transaction reads of the table: it is noted, so that a winner's commit can be judged by it.

use std::collections::BTreeSet;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_log::snapshot::WithStatistics;
use deltaic_protocol::Result;
use deltaic_protocol::expr::parse_predicate;

use super::TableTransaction;
use crate::scan::list_files;

impl TableTransaction {
    /// Notes that rows are read: those of a predicate, all without one. What the predicate says of partition columns
    /// alone, and the files that may hold a matching row, narrow what a winner may not touch.
    ///
    /// Errors: `InvalidPredicate`.
    pub async fn read(&mut self, predicate: Option<&str>) -> Result<()> {
        let Some(text) = predicate else {
            self.has_read_rows = true;
            self.read.read_whole_table();
            return Ok(());
        };
        let bound = parse_predicate(text)?.bind(self.snapshot.schema())?;
        let (files, _) = self.snapshot.files(Some(&bound)).await?;
        self.has_read_rows = true;
        self.read.read_where(Some(&bound));
        for batch in &files.batches {
            self.read.read_files(batch.adds.path.iter().flatten());
        }
        Ok(())
    }

    /// The files that may hold a row of the predicate, as [`list_files`] has them; noted as read.
    ///
    /// Errors: `InvalidPredicate`.
    pub async fn files(
        &mut self,
        predicate: Option<&str>,
        statistics: WithStatistics,
    ) -> Result<(SchemaRef, Vec<RecordBatch>)> {
        self.read(predicate).await?;
        list_files(&self.snapshot, predicate, statistics).await
    }

    /// How far an application has come, noted as read: another run of it that comes further meanwhile is a conflict.
    ///
    /// Protocol: *Transaction Identifiers*.
    pub fn read_app(&mut self, app_id: &str) -> Option<i64> {
        self.read.read_app_id(app_id);
        let known = self.snapshot.current_txns(deltaic_log::clock::now_ms());
        known
            .into_iter()
            .find(|txn| txn.app_id == app_id)
            .map(|txn| txn.version)
    }

    /// The paths that are staged to go.
    pub(super) fn removed(&self) -> BTreeSet<&str> {
        self.proposal
            .removes
            .iter()
            .map(|remove| remove.path.as_str())
            .collect()
    }
}
