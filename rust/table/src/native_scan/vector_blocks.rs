//! Deletion vectors as blocks of bits that Spark joins with its rows: even for billions of rows, only blocks with
//! deleted rows are broadcast to the executors.
//!
//! Protocol: *Deletion Vectors*.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, ListArray, RecordBatch};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;

use super::data_file::DataFile;
use crate::read::{VectorOf, read_vectors};

/// Rows per block; a word has 64.
pub const ROWS_OF_A_BLOCK: u64 = 4_096;
/// More blocks than any file has; the first block of a file is its ordinal times this number.
pub const BLOCKS_OF_A_FILE: u64 = 1 << 28;

const WORDS: usize = 64;
/// The maximum that is broadcast to every executor: 128 MiB of words.
const MOST_BLOCKS: usize = 1 << 18;
/// The number of vectors that are read at once.
const TOGETHER: usize = 10_000;

/// Returns the blocks of all files, by ordinal; `None` if there are too many.
pub(super) async fn of(location: &Arc<TableLocation>, files: &[DataFile]) -> Result<Option<RecordBatch>> {
    let mut wanted: Vec<(usize, VectorOf)> = files
        .iter()
        .enumerate()
        .filter_map(|(ordinal, file)| {
            let (path, descriptor) = (file.path.clone(), file.vector.clone()?);
            Some((ordinal, VectorOf { path, descriptor }))
        })
        .collect();
    // Sorted by vector file, so that each is read once.
    wanted.sort_by(|(_, left), (_, right)| left.descriptor.key().cmp(&right.descriptor.key()));
    let mut blocks = Blocks::default();
    while !wanted.is_empty() {
        let rest = wanted.split_off(wanted.len().min(TOGETHER));
        let (ordinals, together): (Vec<usize>, Vec<VectorOf>) = wanted.into_iter().unzip();
        wanted = rest;
        let bitmaps = read_vectors(location, together).await?;
        for (ordinal, bitmap) in ordinals.into_iter().zip(bitmaps) {
            blocks.push(ordinal, &bitmap)?;
            if blocks.keys.len() > MOST_BLOCKS {
                return Ok(None);
            }
        }
    }
    blocks.finish().map(Some)
}

#[derive(Default)]
struct Blocks {
    keys: Vec<i64>,
    /// 64 words for each key.
    words: Vec<i64>,
}

impl Blocks {
    fn push(&mut self, ordinal: usize, bitmap: &Bitmap) -> Result<()> {
        let beyond = || {
            Error::new(
                ErrorKind::CorruptData,
                "a deletion vector contains an impossible position",
            )
        };
        let first = u64::try_from(ordinal)
            .ok()
            .and_then(|ordinal| ordinal.checked_mul(BLOCKS_OF_A_FILE))
            .ok_or_else(beyond)?;
        for position in bitmap.iter() {
            let block = position / ROWS_OF_A_BLOCK;
            if block >= BLOCKS_OF_A_FILE {
                return Err(beyond());
            }
            let key = i64::try_from(first.saturating_add(block)).map_err(|_| beyond())?;
            if self.keys.last() != Some(&key) {
                self.keys.push(key);
                self.words.resize(self.words.len().saturating_add(WORDS), 0);
            }
            let place = position % ROWS_OF_A_BLOCK;
            let word = usize::try_from(place / 64).unwrap_or(usize::MAX);
            let of_block = self.words.len().saturating_sub(WORDS);
            if let Some(word) = self.words.get_mut(of_block.saturating_add(word)) {
                *word |= 1i64 << (place % 64);
            }
        }
        Ok(())
    }

    /// Returns a batch of `block` and `words`.
    fn finish(self) -> Result<RecordBatch> {
        let element = Arc::new(Field::new("element", DataType::Int64, false));
        let schema = Schema::new(vec![
            Field::new("block", DataType::Int64, false),
            Field::new("words", DataType::List(Arc::clone(&element)), false),
        ]);
        let failed = |error: ArrowError| {
            Error::new(
                ErrorKind::CorruptData,
                format!("deletion vectors cannot be put into columns: {error}"),
            )
        };
        let offsets = OffsetBuffer::from_lengths(self.keys.iter().map(|_| WORDS));
        let words = Arc::new(Int64Array::from(self.words));
        let words = ListArray::try_new(element, offsets, words, None).map_err(failed)?;
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(self.keys)), Arc::new(words)];
        RecordBatch::try_new(Arc::new(schema), columns).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;

    /// Decodes the deleted rows of each file from the blocks, as Spark's query does.
    fn deleted(batch: &RecordBatch) -> BTreeSet<(u64, u64)> {
        let keys = batch.column(0).as_primitive::<Int64Type>();
        let words = batch.column(1).as_list::<i32>();
        let mut found = BTreeSet::new();
        for row in 0..batch.num_rows() {
            let key = u64::try_from(keys.value(row)).expect("no file has a negative ordinal");
            let bits = words.value(row);
            assert_eq!(bits.len(), 64);
            let bits = bits.as_primitive::<Int64Type>();
            for place in 0..ROWS_OF_A_BLOCK {
                let word = bits.value(usize::try_from(place >> 6).expect("small"));
                if word >> (place & 63) & 1 == 1 {
                    found.insert((key >> 28, ((key & (BLOCKS_OF_A_FILE - 1)) << 12) + place));
                }
            }
        }
        found
    }

    proptest::proptest! {
        #[test]
        fn blocks_hold_the_positions_and_no_others(
            files in proptest::collection::vec(proptest::collection::btree_set(0u64..40_000, 0..200), 0..5),
            far in proptest::option::of(0u64..1 << 40),
        ) {
            let mut blocks = Blocks::default();
            let mut expected = BTreeSet::new();
            for (ordinal, positions) in files.iter().enumerate() {
                let positions: BTreeSet<u64> = positions.iter().copied().chain(far).collect();
                expected.extend(positions.iter().map(|position| (u64::try_from(ordinal).expect("small"), *position)));
                blocks.push(ordinal, &Bitmap::from_positions(positions).expect("positions"))?;
            }
            proptest::prop_assert_eq!(deleted(&blocks.finish()?), expected);
        }
    }

    #[test]
    fn a_position_that_no_file_has_is_refused() -> Result<()> {
        let bitmap = Bitmap::from_positions([1 << 40])?;
        let error = Blocks::default().push(0, &bitmap).err();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::CorruptData));
        Ok(())
    }
}
