//! Stages the deletion of the rows that match new rows, for an overwrite.
//!
//! Protocol: *Add File and Remove File*, *Deletion Vectors*, *Add CDC File*.

use std::sync::Arc;

use arrow_schema::{ArrowError, Schema};
use deltaic_protocol::actions::Add;
use deltaic_protocol::{Error, Result};
use futures::TryStreamExt;

use super::TableTransaction;
use super::merge::{ClauseKind, Merge, MergeAction, MergeClause, SourceRows};
use super::replaced::MatchedBy;
use crate::read::stream_to_write;
use crate::scan::{Rows, Scan, ScanOptions};
use crate::write::RowStream;

impl TableTransaction {
    /// Stages the deletion of the rows that match a row of new files. Rows staged by the transaction are not deleted.
    ///
    /// # Errors
    ///
    /// Those of [`TableTransaction::merge`].
    pub(super) async fn delete_matching(
        &mut self,
        matched: &MatchedBy,
        added: &[Add],
        allowed_roots: &[String],
    ) -> Result<()> {
        if added.is_empty() {
            return Ok(());
        }
        let rows = self.rows_of_condition(matched, added)?;
        let source = Arc::new(SourceRows::read(rows, self.options.memory).await?);
        let merge = Merge {
            on: matched.on.clone(),
            target_alias: matched.target_alias.clone(),
            source_alias: matched.source_alias.clone(),
            clauses: vec![MergeClause {
                kind: ClauseKind::Matched,
                condition: None,
                action: MergeAction::Delete,
            }],
            evolves: false,
        };
        self.merge(&merge, &source, allowed_roots).await.map(drop)
    }

    /// Reads the columns of new files that a condition names.
    fn rows_of_condition(&self, matched: &MatchedBy, added: &[Add]) -> Result<RowStream> {
        let scan = Scan::try_new(self.snapshot.clone(), ScanOptions::default())?;
        let scan = scan.of_configuration(&self.configuration())?;
        let all = scan.schema().to_arrow()?;
        let named = matched.on.columns();
        let is_named = |name: &str| {
            // The first part may be an alias, or the column of a field.
            let mut parts = named.iter().flat_map(|path| path.iter().take(2));
            parts.any(|part| part.to_lowercase() == name.to_lowercase())
        };
        let mut columns: Vec<usize> = (0..all.fields().len())
            .filter(|column| is_named(all.field(*column).name()))
            .collect();
        if columns.is_empty() {
            // The number of rows matters, whatever they contain.
            columns.push(0);
        }
        let failed = |error: ArrowError| Error::internal(format!("columns of new rows: {error}"));
        let schema = Arc::new(Schema::project(&all, &columns).map_err(failed)?);
        let tasks = added.iter().map(|add| scan.task_of_rows(add, Rows::All));
        let batches = stream_to_write(tasks.collect())
            .map_err(|error| ArrowError::ExternalError(Box::new(error)))
            .and_then(move |batch| std::future::ready(batch.project(&columns)));
        Ok(RowStream::new(schema, batches))
    }
}
