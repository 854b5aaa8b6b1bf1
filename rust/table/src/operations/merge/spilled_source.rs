//! The rows of a source that do not fit in memory.

use arrow_array::RecordBatch;
use deltaic_protocol::Result;
use deltaic_storage::memory_budget::MemoryBudget;

use super::shares::{Shares, bytes_of_source};
use crate::write::{Block, Incoming, RowsFile};

/// All rows of a source, in a temporary file. They can be read again, as after a conflict.
pub(super) struct SpilledSource(RowsFile);

impl SpilledSource {
    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.blocks().iter().map(|block| block.rows).sum()
    }

    /// The size of their values.
    pub(super) fn bytes(&self) -> usize {
        self.blocks().iter().map(|block| block.bytes).sum()
    }

    /// The rows, block by block.
    fn blocks(&self) -> &[Block] {
        self.0.blocks(0)
    }

    /// The file, whose only part they are.
    pub(super) fn rows(&self) -> &RowsFile {
        &self.0
    }

    /// The rows, batch by batch.
    pub(super) fn batches(&self) -> impl Iterator<Item = Result<RecordBatch>> + '_ {
        let blocks = self.blocks().iter().map(|block| self.0.read(block));
        blocks.flat_map(|rows| match rows {
            Ok(rows) => rows.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    }
}

/// The rows of a source while it is read: in memory as long as they fit.
pub(super) struct KeptRows {
    shares: Shares,
    batches: Vec<RecordBatch>,
    bytes: usize,
    file: Option<RowsFile>,
}

impl KeptRows {
    pub(super) fn new(memory: MemoryBudget) -> Self {
        Self {
            shares: Shares::of(memory),
            batches: Vec::new(),
            bytes: 0,
            file: None,
        }
    }

    /// Validates and adds rows.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` for invalid values; `StorageError` if a temporary file cannot be written.
    pub(super) fn add(&mut self, incoming: &Incoming, rows: &RecordBatch) -> Result<()> {
        let rows = incoming.conform(rows)?;
        if let Some(file) = &mut self.file {
            return file.add(0, &rows);
        }
        self.bytes = self.bytes.saturating_add(bytes_of_source(&rows));
        self.batches.push(rows);
        if self.bytes > self.shares.source {
            // Small blocks, because each is read at once.
            let mut file = RowsFile::new(1, self.shares.buffer / 4);
            for rows in self.batches.drain(..) {
                file.add(0, &rows)?;
            }
            self.file = Some(file);
        }
        Ok(())
    }

    /// Returns the rows in memory, or all rows in a file.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be written.
    pub(super) fn finish(self) -> Result<(Vec<RecordBatch>, Option<SpilledSource>)> {
        let file = self
            .file
            .map(|mut file| file.write().map(|()| SpilledSource(file)));
        Ok((self.batches, file.transpose()?))
    }
}
