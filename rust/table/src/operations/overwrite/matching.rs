//! Stages the deletion of the rows that match new rows, for an overwrite.
//!
//! Protocol: *Add File and Remove File*, *Deletion Vectors*, *Add CDC File*.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, Schema};
use arrow_select::filter::filter_record_batch;
use deltaic_protocol::actions::Add;
use deltaic_protocol::{Error, Result};
use futures::TryStreamExt;

use super::replaced::MatchedBy;
use crate::operations::merge::{ClauseKind, Merge, MergeAction, MergeClause, MergeRows, SourceRows};
use crate::operations::verb::Verb;
use crate::read::stream_to_write;
use crate::scan::{Rows, Scan, ScanOptions};
use crate::transaction::TableTransaction;
use crate::write::RowStream;

/// Of so many parts of the memory, one is for the keys of rows that were found.
const SHARE_OF_KEYS: usize = 8;
/// What a key takes in memory besides its bytes.
const KEY_BYTES: usize = 48;

impl TableTransaction {
    /// Stages the deletion of the rows that match a row of the files that were staged since there were so many. Rows staged
    /// by the transaction are not deleted.
    ///
    /// # Errors
    ///
    /// Those of [`MergeRows`].
    pub(super) async fn delete_matching(&mut self, matched: &MatchedBy, before: usize) -> Result<()> {
        let added = self.staged.proposal.adds.get(before..).unwrap_or_default();
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
        MergeRows { merge, source }.stage(self).await.map(drop)
    }

    /// Reads the columns of new files that a condition names, without rows that equal others in these.
    fn rows_of_condition(&self, matched: &MatchedBy, added: &[Add]) -> Result<RowStream> {
        let scan = Scan::try_new(self.snapshot.clone(), ScanOptions::default())?;
        let scan = scan.of_configuration(&self.configuration())?;
        let all = scan.schema().to_arrow()?;
        let target = matched.target_alias.to_lowercase();
        let named = matched.on.columns().into_iter();
        let is_of_table = |path: &Vec<&str>| {
            path.len() > 1 && path.iter().take(1).any(|part| part.to_lowercase() == target)
        };
        let named: Vec<Vec<&str>> = named.filter(|path| !is_of_table(path)).collect();
        let is_named = |name: &str| {
            // The first part may be an alias, or the column of a field.
            let mut parts = named.iter().flat_map(|path| path.iter().take(2));
            parts.any(|part| part.to_lowercase() == name.to_lowercase())
        };
        let mut columns: Vec<usize> = (0..all.fields().len())
            .filter(|column| matched.has(all.field(*column).name()) && is_named(all.field(*column).name()))
            .collect();
        let is_constant = columns.is_empty();
        if is_constant {
            // Whether there is a row matters, whatever it contains.
            columns.push(0);
        }
        let failed = |error: ArrowError| Error::internal(format!("columns of new rows: {error}"));
        let schema = Arc::new(Schema::project(&all, &columns).map_err(failed)?);
        let mut distinct = match is_constant {
            true => DistinctRows::First { is_found: false },
            false => DistinctRows::of(&schema, self.options.memory.bytes() / SHARE_OF_KEYS),
        };
        let tasks = added.iter().map(|add| scan.task_of_rows(add, Rows::All));
        let batches = stream_to_write(tasks.collect())
            .map_err(|error| ArrowError::ExternalError(Box::new(error)))
            .and_then(move |batch| {
                let projected = batch.project(&columns);
                std::future::ready(projected.and_then(|batch| distinct.left(&batch)))
            });
        Ok(RowStream::new(schema, batches))
    }
}

/// Finds rows that equal no earlier one.
enum DistinctRows {
    /// All rows are alike.
    First { is_found: bool },
    /// Rows are compared, as long as those that were found need little memory.
    Compared {
        converter: RowConverter,
        found: HashSet<Box<[u8]>>,
        bytes_left: usize,
    },
    /// Rows of types that cannot be compared.
    All,
}

impl DistinctRows {
    fn of(schema: &Schema, bytes: usize) -> Self {
        let fields = schema.fields().iter();
        let fields = fields.map(|field| SortField::new(field.data_type().clone()));
        match RowConverter::new(fields.collect()) {
            Ok(converter) => Self::Compared {
                converter,
                found: HashSet::new(),
                bytes_left: bytes,
            },
            Err(_) => Self::All,
        }
    }

    /// Returns the rows of a batch that equal no earlier one.
    fn left(&mut self, batch: &RecordBatch) -> std::result::Result<RecordBatch, ArrowError> {
        match self {
            Self::First { is_found } => {
                let rows = usize::from(!*is_found).min(batch.num_rows());
                *is_found |= rows > 0;
                Ok(batch.slice(0, rows))
            }
            Self::Compared {
                converter,
                found,
                bytes_left,
            } => {
                let rows = converter.convert_columns(batch.columns())?;
                let is_new = rows.iter().map(|row| {
                    let key: &[u8] = row.as_ref();
                    if found.contains(key) {
                        return false;
                    }
                    if let Some(left) = bytes_left.checked_sub(key.len() + KEY_BYTES) {
                        *bytes_left = left;
                        found.insert(key.into());
                    }
                    true
                });
                let is_new: BooleanArray = is_new.map(Some).collect();
                filter_record_batch(batch, &is_new)
            }
            Self::All => Ok(batch.clone()),
        }
    }
}
