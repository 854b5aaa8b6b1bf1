//! Rows that come: they are written into data files at once, and staged as adds.

use arrow_array::RecordBatchReader;
use deltaic_log::TableLocation;
use deltaic_protocol::Result;

use super::TableTransaction;
use crate::write::{OwnerProcess, TableWriter, Written, give_up, write_stream};

/// What was written for a transaction.
#[derive(Default)]
pub(super) struct Appended {
    owner: OwnerProcess,
    /// The files below the table's root.
    written: Vec<String>,
    /// How many files there are.
    pub(super) files: usize,
    /// How many rows there are.
    pub(super) rows: u64,
    /// How many bytes the files have.
    pub(super) bytes: i64,
}

impl Appended {
    /// Removes what was written, once it is proved that no commit names it.
    pub(super) async fn abort(&mut self, location: &TableLocation) {
        give_up(location, self.owner, std::mem::take(&mut self.written)).await;
    }

    fn count(&mut self, written: &Written) {
        self.files += written.adds.len();
        self.rows += written.rows;
        let sizes = written.adds.iter().map(|add| add.size);
        self.bytes = sizes.fold(self.bytes, i64::saturating_add);
    }

    /// Leaves what was written where it is.
    pub(super) fn keep(&mut self) {
        self.written.clear();
    }
}

impl TableTransaction {
    /// Writes the rows of a stream into data files, and stages them; how many rows they are. Where that fails the files
    /// are removed again, and the transaction is as it was.
    ///
    /// Errors: `SchemaMismatch`, `ConstraintViolation`, `UnsupportedFeature`, `StorageError`.
    pub async fn append(&mut self, batches: Box<dyn RecordBatchReader + Send>) -> Result<u64> {
        if self.is_done() {
            return Ok(0); // and the stream is not read
        }
        self.ensure_takes_files()?;
        let mut writer = TableWriter::try_new(&self.snapshot, &batches.schema())?;
        match write_stream(&mut writer, batches).await {
            Ok(written) => {
                let rows = written.rows;
                self.appended.count(&written);
                self.proposal.adds.extend(written.adds);
                self.appended.written.extend(writer.into_begun());
                Ok(rows)
            }
            Err(error) => {
                writer.abort().await;
                Err(error)
            }
        }
    }
}
