//! Rows of partitions whose files are not open yet: in memory up to a limit, then in a temporary file.
//!
//! Each block of the file has rows of one partition.

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_array::{RecordBatch, UInt32Array};
use arrow_schema::ArrowError;
use arrow_select::take::take_record_batch;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::temporary_file::temporary_folder;

use super::spill_file::SpillFile;
use crate::write::partition::PartitionKey;
use crate::write::sizes::bytes_of;

/// Rows that wait for their files.
pub(in crate::write) struct Spill {
    waiting: BTreeMap<PartitionKey, Waiting>,
    /// The size of the rows in memory.
    bytes: usize,
    most_bytes: usize,
    file: SpillFile,
}

/// The rows of a partition, in order: first those in the file.
#[derive(Default)]
struct Waiting {
    blocks: Vec<Range<u64>>,
    rows: Vec<RecordBatch>,
}

impl Spill {
    /// Holds at most about this many bytes in memory.
    pub(in crate::write) fn new(most_bytes: usize) -> Self {
        Self {
            waiting: BTreeMap::new(),
            bytes: 0,
            most_bytes,
            file: SpillFile::default(),
        }
    }

    /// Whether rows of a partition wait.
    pub(in crate::write) fn contains(&self, partition: &PartitionKey) -> bool {
        self.waiting.contains_key(partition)
    }

    /// Adds rows of a partition.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be written.
    pub(in crate::write) fn add(&mut self, partition: PartitionKey, rows: RecordBatch) -> Result<()> {
        let bytes = bytes_of(&rows);
        self.bytes = self.bytes.saturating_add(bytes);
        let rows = own(rows, bytes).map_err(|error| failed(&error))?;
        self.waiting.entry(partition).or_default().rows.push(rows);
        if self.bytes > self.most_bytes {
            tokio::task::block_in_place(|| self.write_all()).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Returns a partition that has rows, and removes it with a call for each of its parts; `None` at the end.
    pub(in crate::write) fn take(&mut self) -> Option<(PartitionKey, Parts<'_>)> {
        let (partition, waiting) = self.waiting.pop_first()?;
        let parts = Parts {
            file: &self.file,
            blocks: waiting.blocks.into_iter(),
            rows: waiting.rows.into_iter(),
        };
        Some((partition, parts))
    }

    /// Moves all rows in memory to the file.
    fn write_all(&mut self) -> std::result::Result<(), ArrowError> {
        for waiting in self
            .waiting
            .values_mut()
            .filter(|waiting| !waiting.rows.is_empty())
        {
            let block = self.file.append(waiting.rows.drain(..))?;
            waiting.blocks.push(block);
        }
        self.bytes = 0;
        Ok(())
    }
}

/// The rows of a partition, part by part.
pub(in crate::write) struct Parts<'s> {
    file: &'s SpillFile,
    blocks: std::vec::IntoIter<Range<u64>>,
    rows: std::vec::IntoIter<RecordBatch>,
}

impl Parts<'_> {
    /// Returns the next rows; empty at the end.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be read.
    pub(in crate::write) fn next(&mut self) -> Result<Vec<RecordBatch>> {
        let Some(block) = self.blocks.next() else {
            return Ok(self.rows.next().into_iter().collect());
        };
        tokio::task::block_in_place(|| self.file.read(&block)).map_err(|error| failed(&error))
    }
}

fn failed(error: &ArrowError) -> Error {
    let what = format!("rows of many partitions cannot be kept in a temporary file: {error}");
    Error::new(ErrorKind::StorageError, what)
        .with("path", temporary_folder().display().to_string())
        .hint("set TMPDIR to a folder with more space, pass a larger memory, or sort the rows by partition")
}

/// Copies rows whose values are a small part of the batch that they are a slice of, which would stay in memory.
fn own(rows: RecordBatch, bytes: usize) -> std::result::Result<RecordBatch, ArrowError> {
    if rows.get_array_memory_size() / 2 <= bytes {
        return Ok(rows);
    }
    let every = u32::try_from(rows.num_rows()).map(|rows| UInt32Array::from_iter_values(0..rows));
    match every {
        Ok(every) => take_record_batch(&rows, &every),
        Err(_) => Ok(rows),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{ArrayRef, Int64Array};

    use super::*;

    fn rows(values: &[i64]) -> RecordBatch {
        let column: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
        RecordBatch::try_from_iter([("id", column)]).expect("a batch")
    }

    fn key(value: i64) -> PartitionKey {
        vec![("p".to_owned(), Some(value.to_string()))]
    }

    /// Each partition's rows come back in order, whether they were in memory or in the file.
    #[tokio::test(flavor = "multi_thread")]
    async fn rows_return_by_partition_in_order() {
        for most_bytes in [0, 2000, usize::MAX] {
            let mut spill = Spill::new(most_bytes);
            for turn in 0..50 {
                for partition in 0..7 {
                    spill.add(key(partition), rows(&[partition, turn])).expect("kept");
                }
            }
            assert_eq!(spill.file.is_used(), most_bytes < usize::MAX);
            assert!(spill.bytes <= most_bytes);
            for partition in 0..7 {
                let (found, mut parts) = spill.take().expect("a partition");
                assert_eq!(found, key(partition));
                let mut values = Vec::new();
                loop {
                    let part = parts.next().expect("rows");
                    if part.is_empty() {
                        break;
                    }
                    for rows in part {
                        values.extend(
                            rows.column(0)
                                .as_primitive::<Int64Type>()
                                .values()
                                .iter()
                                .copied(),
                        );
                    }
                }
                let expected: Vec<i64> = (0..50).flat_map(|turn| [partition, turn]).collect();
                assert_eq!(values, expected, "of at most {most_bytes} bytes");
            }
            assert!(spill.take().is_none());
        }
    }
}
