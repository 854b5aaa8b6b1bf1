//! Writes the rows of files in the order of a curve, in bounded memory.
//!
//! Rows are divided by ranges of their keys into parts, which wait in a temporary file; each part is sorted in memory.

use arrow_array::{RecordBatch, UInt32Array};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_storage::memory_budget::MemoryBudget;
use futures::TryStreamExt;
use tokio::task::block_in_place;

use super::bins::{bytes_of, new_files};
use super::curve::SortOrder;
use super::ranks::Ranks;
use super::sample::{Sample, failed};
use crate::rows::copies::CopiedRows;
use crate::write::{RowsFile, TableWriter};

/// How many times the rows of a file may take its size in memory.
const EXPANSION: usize = 8;

/// Each part has a block of its own whenever rows are moved to the temporary file.
const MOST_PARTS: usize = 1024;

/// The rows of a part are in memory twice while they are sorted, and arrays of a part have 32-bit offsets.
const MOST_PART_BYTES: usize = 64 << 20;

/// More rows than this wait in the temporary file, however much memory there is. The system may keep the file in its
/// page cache.
const MOST_WAITING_BYTES: usize = 128 << 20;

/// The number of rows that are written at once.
const ROWS_AT_ONCE: usize = 1 << 16;

/// The order of the rows of some files.
pub(super) struct Order {
    ranks: Ranks,
    /// The first key of each part but the first.
    bounds: Vec<u128>,
    /// The number of rows of each new file.
    rows_of_file: usize,
    spill_bytes: usize,
}

impl Order {
    /// Reads the columns of an order, to rank their values.
    pub(super) async fn of_files(
        copied: &CopiedRows,
        files: &[Add],
        order: SortOrder,
        target_bytes: u64,
        memory: MemoryBudget,
    ) -> Result<Self> {
        let mut sample = Sample::new();
        let mut batches = copied.columns_of(files, &order.columns)?;
        while let Some(batch) = batches.try_next().await? {
            sample.add(&batch)?;
        }
        let (ranks, keys) = Ranks::of_sample(&sample, order)?;
        let new_files = new_files(files, target_bytes);
        let bytes = files.iter().map(bytes_of).fold(0, u64::saturating_add);
        let part_bytes = (memory.bytes() / 8).clamp(1, MOST_PART_BYTES);
        let in_memory = usize::try_from(bytes)
            .unwrap_or(usize::MAX)
            .saturating_mul(EXPANSION);
        let parts = in_memory.div_ceil(part_bytes).clamp(1, MOST_PARTS);
        let bound = |part: usize| keys.get(part * keys.len() / parts).copied();
        Ok(Self {
            ranks,
            bounds: (1..parts).filter_map(bound).collect(),
            rows_of_file: sample.rows.div_ceil(new_files).max(1),
            spill_bytes: (memory.bytes() / 4).min(MOST_WAITING_BYTES),
        })
    }

    /// Writes the rows of files in order.
    pub(super) async fn write(
        &self,
        copied: &CopiedRows,
        files: &[Add],
        writer: &mut TableWriter,
        mut advance: impl FnMut(usize),
    ) -> Result<()> {
        let mut rows = RowsFile::new(self.bounds.len() + 1, self.spill_bytes);
        let tasks = files.iter().map(|add| copied.task_of(add)).collect();
        let mut batches = copied.batches(tasks);
        while let Some(batch) = batches.try_next().await? {
            block_in_place(|| self.divide(&batch, &mut rows))?;
        }
        block_in_place(|| rows.write())?;
        let mut left = self.rows_of_file;
        for part in 0..rows.parts() {
            let Some(sorted) = block_in_place(|| self.sorted(&rows, part))? else {
                continue;
            };
            let mut first = 0;
            while first < sorted.len() {
                let length = (sorted.len() - first).min(left).min(ROWS_AT_ONCE);
                let piece = sorted.rows(first, length)?;
                writer.write(&piece).await?;
                advance(length);
                first += length;
                left -= length;
                if left == 0 {
                    writer.end_files().await?;
                    left = self.rows_of_file;
                }
            }
        }
        Ok(())
    }

    /// Adds the rows of a batch to their parts.
    fn divide(&self, batch: &RecordBatch, rows: &mut RowsFile) -> Result<()> {
        if self.bounds.is_empty() {
            return rows.add(0, batch);
        }
        let mut parts = vec![Vec::new(); rows.parts()];
        for (row, key) in self.ranks.keys(batch)?.into_iter().enumerate() {
            let part = self.bounds.partition_point(|bound| *bound <= key);
            if let Some(part) = parts.get_mut(part) {
                part.push(u32::try_from(row).unwrap_or(u32::MAX));
            }
        }
        for (part, chosen) in parts
            .into_iter()
            .enumerate()
            .filter(|(_, chosen)| !chosen.is_empty())
        {
            let chosen = take_record_batch(batch, &UInt32Array::from(chosen));
            rows.add(part, &chosen.map_err(|error| failed(&error))?)?;
        }
        Ok(())
    }

    /// Returns the rows of a part in order; `None` if there are none.
    fn sorted(&self, rows: &RowsFile, part: usize) -> Result<Option<Sorted>> {
        let mut batches = Vec::new();
        for block in rows.blocks(part) {
            batches.extend(rows.read(block)?);
        }
        let Some(first) = batches.first() else {
            return Ok(None);
        };
        let all = concat_batches(first.schema_ref(), &batches).map_err(|error| failed(&error))?;
        drop(batches);
        let order = UInt32Array::from(self.ranks.sorted(&all)?);
        Ok(Some(Sorted { all, order }))
    }
}

/// Rows, and the order in which they are written.
struct Sorted {
    all: RecordBatch,
    order: UInt32Array,
}

impl Sorted {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn rows(&self, first: usize, length: usize) -> Result<RecordBatch> {
        take_record_batch(&self.all, &self.order.slice(first, length)).map_err(|error| failed(&error))
    }
}
