//! Divides rows by the hash of their keys, so that rows that may match are in the same part.

use std::hash::{BuildHasher, RandomState};

use arrow_array::{RecordBatch, UInt32Array};
use arrow_row::{RowConverter, SortField};
use arrow_select::take::take_record_batch;
use deltaic_protocol::Result;
use deltaic_protocol::expr::{BoundValue, JoinKey, Side};

use crate::operations::merge::matches::key_columns;
use crate::operations::merge::sides::failed;
use crate::write::RowsFile;

/// Divides the rows of both sides by their keys.
pub(in crate::operations::merge) struct KeyParts<'a> {
    keys: &'a [JoinKey],
    converter: RowConverter,
    hashes: RandomState,
    parts: usize,
    /// The number of rows without a key.
    without_key: usize,
}

impl<'a> KeyParts<'a> {
    /// Divides rows into this many parts.
    pub(in crate::operations::merge) fn try_new(keys: &'a [JoinKey], parts: usize) -> Result<Self> {
        let fields = keys
            .iter()
            .map(|key| Ok(SortField::new(key.source.data_type().to_arrow()?)));
        Ok(Self {
            keys,
            converter: RowConverter::new(fields.collect::<Result<_>>()?).map_err(|error| failed(&error))?,
            hashes: RandomState::new(),
            parts: parts.max(1),
            without_key: 0,
        })
    }

    /// The number of parts.
    pub(in crate::operations::merge) fn parts(&self) -> usize {
        self.parts
    }

    /// Adds rows to their parts. `over` has the same rows as a column of structs. Rows that match no row, because a key is
    /// NULL, are added to any part, or left out.
    ///
    /// # Errors
    ///
    /// Those of evaluating the keys; `StorageError` if the temporary file cannot be written.
    pub(in crate::operations::merge) fn add(
        &mut self,
        side: Side,
        (rows, over): (&RecordBatch, &RecordBatch),
        keeps_without_key: bool,
        file: &mut RowsFile,
    ) -> Result<()> {
        if self.keys.is_empty() {
            return file.add(0, rows);
        }
        let value = |key: &'a JoinKey| -> (&'a BoundValue, bool) {
            match side {
                Side::Target => (&key.target, key.null_safe),
                Side::Source => (&key.source, key.null_safe),
            }
        };
        let (columns, is_key) = key_columns(self.keys.iter().map(value), over)?;
        let keys = self.converter.convert_columns(&columns);
        let keys = keys.map_err(|error| failed(&error))?;
        let mut part_of = Vec::with_capacity(rows.num_rows());
        for (key, is_key) in keys.iter().zip(is_key) {
            part_of.push(match (is_key, keeps_without_key) {
                (true, _) => {
                    let hash = self.hashes.hash_one(key.as_ref());
                    Some(usize::try_from(hash % self.parts as u64).unwrap_or(0))
                }
                (false, true) => {
                    self.without_key = self.without_key.wrapping_add(1);
                    Some(self.without_key % self.parts)
                }
                (false, false) => None,
            });
        }
        add_to_parts(rows, &part_of, file)
    }
}

/// Adds each row of a batch to its part of a file, in order.
pub(in crate::operations::merge) fn add_to_parts(
    rows: &RecordBatch,
    part_of: &[Option<usize>],
    file: &mut RowsFile,
) -> Result<()> {
    let mut ordered: Vec<(usize, u32)> = (0u32..)
        .zip(part_of)
        .filter_map(|(row, part)| Some(((*part)?, row)))
        .collect();
    ordered.sort_unstable();
    let indices = UInt32Array::from_iter_values(ordered.iter().map(|(_, row)| *row));
    let sorted = take_record_batch(rows, &indices).map_err(|error| failed(&error))?;
    let mut start = 0;
    for run in ordered.chunk_by(|(part, _), (other, _)| part == other) {
        if let Some((part, _)) = run.first() {
            file.add(*part, &sorted.slice(start, run.len()))?;
        }
        start += run.len();
    }
    Ok(())
}
