//! Stages appended rows, which are written to data files at once.

use arrow_array::RecordBatchReader;
use deltaic_protocol::Result;

use super::TableTransaction;
use crate::write::{TableWriter, Written, write_stream};

/// The data files that a transaction has written.
#[derive(Default)]
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
        if self.is_done() {
            return Ok(0); // without reading the stream
        }
        self.ensure_takes_files()?;
        let mut writer = TableWriter::try_new(&self.snapshot, &batches.schema())?;
        match write_stream(&mut writer, batches).await {
            Ok(written) => {
                let rows = written.rows;
                self.appended.count(&written);
                self.proposal.adds.extend(written.adds);
                self.files.append(&writer.into_files());
                Ok(rows)
            }
            Err(error) => {
                writer.abort().await;
                Err(error)
            }
        }
    }
}
