//! Rows of numbered parts that are read after all of them were added: as many as fit in memory, the others in a
//! temporary file.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use arrow_select::concat::concat_batches;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::temporary_file::temporary_folder;
use deltaic_storage::unused_memory::release_unused;

use super::spill_file::SpillFile;
use crate::write::pieces::pieces;
use crate::write::sizes::bytes_of;

/// Rows of numbered parts. Those of a part may have another schema than those of others.
pub(crate) struct RowsFile {
    file: SpillFile,
    parts: Vec<Part>,
    /// The size of the rows in memory.
    bytes: usize,
    most_bytes: usize,
}

#[derive(Default)]
struct Part {
    blocks: Vec<Block>,
    /// The rows in memory, which follow those of the blocks.
    waiting: Vec<RecordBatch>,
}

/// Rows of a part that are read at once.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    place: Range<u64>,
    /// The number of rows.
    pub(crate) rows: usize,
    /// Their size in memory.
    pub(crate) bytes: usize,
}

impl RowsFile {
    /// Holds at most about this many bytes in memory while rows are added.
    pub(crate) fn new(parts: usize, most_bytes: usize) -> Self {
        Self {
            file: SpillFile::default(),
            parts: (0..parts).map(|_| Part::default()).collect(),
            bytes: 0,
            most_bytes,
        }
    }

    /// Adds rows to a part; may block the thread.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be written.
    pub(crate) fn add(&mut self, part: usize, rows: &RecordBatch) -> Result<()> {
        for piece in pieces(rows, (self.most_bytes / 4).max(1), 1) {
            if piece.num_rows() == 0 {
                continue;
            }
            self.bytes = self.bytes.saturating_add(bytes_of(&piece));
            let part = self.parts.get_mut(part);
            let part = part.ok_or_else(|| Error::internal("a part of the rows is missing"))?;
            part.waiting.push(piece);
            if self.bytes > self.most_bytes {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Moves all rows in memory to the file; blocks the thread. Must be called before rows are read.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be written.
    pub(crate) fn write(&mut self) -> Result<()> {
        self.bytes = 0;
        let written = self.write_parts().map_err(|error| failed(&error));
        release_unused();
        written
    }

    fn write_parts(&mut self) -> std::result::Result<(), ArrowError> {
        for part in self.parts.iter_mut().filter(|part| !part.waiting.is_empty()) {
            let rows = match part.waiting.as_slice() {
                [first, _, ..] => concat_batches(first.schema_ref(), &part.waiting)?,
                [only] => only.clone(),
                [] => continue,
            };
            part.waiting.clear();
            part.blocks.push(Block {
                rows: rows.num_rows(),
                bytes: bytes_of(&rows),
                place: self.file.append([rows])?,
            });
        }
        Ok(())
    }

    /// The number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The blocks of a part, in order.
    pub(crate) fn blocks(&self, part: usize) -> &[Block] {
        self.parts.get(part).map_or(&[], |part| &part.blocks)
    }

    /// Returns the rows of a block; blocks the thread.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be read.
    pub(crate) fn read(&self, block: &Block) -> Result<Vec<RecordBatch>> {
        self.file.read(&block.place).map_err(|error| failed(&error))
    }
}

fn failed(error: &ArrowError) -> Error {
    let what = format!("rows that do not fit in memory cannot be kept in a temporary file: {error}");
    Error::new(ErrorKind::StorageError, what)
        .with("path", temporary_folder().display().to_string())
        .hint("set TMPDIR to a folder with more space, or pass a larger memory")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{ArrayRef, Int64Array};

    use super::*;

    /// Rows return in order, whatever fits in memory, and as often as they are read.
    #[tokio::test(flavor = "multi_thread")]
    async fn rows_return_by_part() {
        for most_bytes in [1, 500, usize::MAX] {
            let mut file = RowsFile::new(3, most_bytes);
            for turn in 0..40 {
                let column: ArrayRef = Arc::new(Int64Array::from_iter_values(turn * 10..turn * 10 + 10));
                let rows = RecordBatch::try_from_iter([("id", column)]).expect("a batch");
                file.add(usize::try_from(turn % 2).expect("small"), &rows)
                    .expect("added");
            }
            file.write().expect("written");
            assert!(file.blocks(2).is_empty());
            for part in [0, 1, 0] {
                let mut found = Vec::new();
                for block in file.blocks(part) {
                    let batches = file.read(block).expect("rows");
                    assert_eq!(
                        batches.iter().map(RecordBatch::num_rows).sum::<usize>(),
                        block.rows
                    );
                    for rows in batches {
                        found.extend_from_slice(rows.column(0).as_primitive::<Int64Type>().values());
                    }
                }
                let expected = (0..400).filter(|id| (id / 10) % 2 == part as i64);
                assert_eq!(
                    found,
                    expected.collect::<Vec<_>>(),
                    "of at most {most_bytes} bytes"
                );
            }
        }
    }
}
