//! Stages appended rows, which are written to data files at once.

use arrow_array::RecordBatchReader;
use deltaic_protocol::Result;
use deltaic_protocol::expr::Predicate;

use super::TableTransaction;
use super::change_data::{ChangeWriter, to_cdc};
use crate::write::{TableWriter, Written, next_batch};

/// The data files that a transaction has written.
#[derive(Clone, Default)]
pub(super) struct Appended {
    /// The number of files.
    pub(super) files: usize,
    /// The number of rows.
    pub(super) rows: u64,
    /// The size of the files in bytes.
    pub(super) bytes: i64,
}

impl Appended {
    fn count(&mut self, written: &Written) {
        self.files += written.adds.len();
        self.rows += written.rows;
        let sizes = written.adds.iter().map(|add| add.size);
        self.bytes = sizes.fold(self.bytes, i64::saturating_add);
    }
}

impl TableTransaction {
    /// Writes the rows of a stream to data files and stages them. Returns the number of rows. After a failure the files
    /// are deleted and the transaction is unchanged.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `ConstraintViolation`, `UnsupportedFeature`, `StorageError`.
    pub async fn append(&mut self, batches: Box<dyn RecordBatchReader + Send>) -> Result<u64> {
        self.row_changes += 1;
        self.append_rows(batches, None, false).await
    }

    /// The same; each row must match the predicate, and change data files have the rows too if requested.
    pub(super) async fn append_rows(
        &mut self,
        mut batches: Box<dyn RecordBatchReader + Send>,
        required: Option<&Predicate>,
        with_feed: bool,
    ) -> Result<u64> {
        if self.is_done() {
            return Ok(0); // without reading the stream
        }
        self.ensure_takes_files()?;
        let schema = batches.schema();
        let mut writer = TableWriter::try_new(&self.snapshot, &schema)?;
        if let Some(predicate) = required {
            writer.require(predicate, self.snapshot.schema())?;
        }
        let mut changes = match with_feed {
            true => Some(ChangeWriter::try_new(&self.snapshot, &schema, "insert")?),
            false => None,
        };
        let written = async {
            while let Some(batch) = next_batch(&mut batches)? {
                writer.write(&batch).await?;
                if let Some(changes) = &mut changes {
                    changes.write(&batch).await?;
                }
            }
            let cdc = match &mut changes {
                Some(changes) => to_cdc(changes.finish().await?),
                None => Vec::new(),
            };
            Ok((writer.finish().await?, cdc))
        };
        match written.await {
            Ok((written, cdc)) => {
                let rows = written.rows;
                self.appended.count(&written);
                self.proposal.adds.extend(written.adds);
                self.proposal.cdc.extend(cdc);
                self.files.append(&writer.into_files());
                if let Some(changes) = changes {
                    self.files.append(&changes.into_files());
                }
                Ok(rows)
            }
            Err(error) => {
                writer.abort().await;
                if let Some(mut changes) = changes {
                    changes.abort().await;
                }
                Err(error)
            }
        }
    }
}
