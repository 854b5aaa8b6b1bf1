//! The file actions of a row group with all their fields, one batch at a time.
//!
//! A row group of another writer may have any size, so code that copies its actions never keeps all of
//! them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch, StructArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::SchemaRef;
use deltaic_protocol::{Error, Result};
use futures::FutureExt;

use super::allowance::Allowance;
use super::columns::{column_of, damaged, file_actions, parquet_failed, present, selected};
use super::parquet::{BATCH_ROWS, Batches, NO_SENSE, reader_options};
use super::retyped::with_views;
use crate::decode::ActionsFile;
use deltaic_storage::fault::caught_over_bytes;

/// Batches have this fraction of replay's batch size, since statistics are large.
const SHARE: usize = 64;

/// The actions of one kind in a row group.
pub(crate) struct ActionRows {
    batches: Batches,
    action: &'static str,
    first: usize,
    relative: String,
}

/// A batch of actions.
pub(crate) struct ActionsBatch {
    /// Index of the batch of replay's size that contains them, starting at 0.
    pub(crate) ordinal: usize,
    rows: StructArray,
    present: BooleanBuffer,
}

impl ActionsBatch {
    /// Number of actions.
    pub(crate) fn len(&self) -> usize {
        self.present.count_set_bits()
    }

    /// Returns all actions; `None` if there are none.
    pub(crate) fn all(self) -> Result<Option<StructArray>> {
        selected(&self.rows, self.present)
    }

    /// Returns some of the actions, by a bit for each action; `None` if there are none.
    pub(crate) fn some(self, kept: &BooleanBuffer) -> Result<Option<StructArray>> {
        let mut rows = BooleanBufferBuilder::new(self.rows.len());
        rows.append_n(self.rows.len(), false);
        for (row, is_kept) in self.present.set_indices().zip(kept) {
            rows.set_bit(row, is_kept);
        }
        selected(&self.rows, rows.finish())
    }
}

impl ActionsFile {
    /// Starts reading the actions of one kind, `add` or `remove`, of a row group: the columns at or below the
    /// dotted paths, without those that are all NULL. Returns `None` if there is no such action.
    pub(crate) async fn action_rows(
        &self,
        group: usize,
        action: &'static str,
        paths: &[String],
    ) -> Result<Option<ActionRows>> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let Some(mask) = self.mask(group, &paths) else {
            return Ok(None);
        };
        let read = async {
            let failed = |error| parquet_failed(error, &self.relative);
            let viewed = Self {
                reader: self.reader.clone(),
                metadata: with_views(self.metadata.clone(), reader_options(), "add.stats").map_err(failed)?,
                relative: self.relative.clone(),
            };
            let allowance = Arc::new(Allowance::of(self.size()));
            let batches = viewed.batches(group, mask, BATCH_ROWS / SHARE, allowance).await;
            batches.map_err(failed)
        };
        let read = AssertUnwindSafe(read).catch_unwind().await;
        let batches = read
            .unwrap_or_else(|_| Err(caught_over_bytes(damaged(NO_SENSE))))
            .map_err(|error: Error| error.with("path", self.relative.as_str()))?;
        Ok(Some(ActionRows {
            batches,
            action,
            first: 0,
            relative: self.relative.clone(),
        }))
    }

    /// Whether some adds of a row group have statistics only as a struct and not as JSON.
    pub(crate) fn may_lack_text(&self, group: usize) -> bool {
        if !self.has_column("add.stats_parsed") {
            return false;
        }
        let nulls = |path: &str| self.nulls(group, path);
        !self.has_column("add.stats")
            || nulls("add.stats").is_none()
            || nulls("add.stats") != nulls("add.path")
    }
}

impl ActionRows {
    /// Returns the next batch; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<ActionsBatch>> {
        let read = async {
            let batch = self.batches.next().await;
            let Some(batch) = batch.map_err(|error| parquet_failed(error, &self.relative))? else {
                return Ok(None);
            };
            let Some(rows) = column_of(&batch, self.action)? else {
                return Err(damaged(format!("it has no column {}", self.action)));
            };
            let ordinal = self.first / BATCH_ROWS;
            self.first += batch.num_rows();
            Ok(Some(ActionsBatch {
                ordinal,
                rows: rows.clone(),
                present: present(rows),
            }))
        };
        let read = AssertUnwindSafe(read).catch_unwind().await;
        read.unwrap_or_else(|_| Err(caught_over_bytes(damaged(NO_SENSE))))
            .map_err(|error: Error| error.with("path", self.relative.as_str()))
    }
}

/// Converts file actions to the names and types of a schema; missing columns are NULL.
pub(crate) fn conformed(actions: &StructArray, schema: &SchemaRef) -> Result<RecordBatch> {
    file_actions(actions, schema)
}
