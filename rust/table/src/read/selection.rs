//! Which rows of which row groups are decoded: those that deletion vectors leave, on pages that may hold a match.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use deltaic_protocol::Result;
use parquet::arrow::arrow_reader::{RowGroupSelection, RowSelection};
use parquet::file::metadata::ParquetMetaData;

use super::chunk_statistics::Stretch;
use super::rows::Rows;

/// A row group of which some rows are decoded.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) index: usize,
    /// How many rows are decoded.
    pub(super) rows: u64,
    pub(super) selection: Option<RowSelection>,
}

impl Group {
    /// The row group in which the reader starts `first` rows behind the file's beginning; none where no row of it is
    /// asked for. `stretches` are the rows that may match, all where there are none.
    pub(super) fn select(
        file: &ParquetMetaData,
        index: usize,
        first: u64,
        rows: &Rows,
        stretches: Option<&[Stretch]>,
    ) -> Result<Option<Self>> {
        let count = rows_of(file, index);
        let of_vector = rows.mask(first..first.saturating_add(count))?;
        let of_pages = stretches.and_then(|stretches| mask(stretches, count));
        let both = match (of_vector, of_pages) {
            (Some(vector), Some(pages)) => Some(&vector & &pages),
            (one, other) => one.or(other),
        };
        let Some(mask) = both else {
            return Ok(Some(Self {
                index,
                rows: count,
                selection: None,
            }));
        };
        let kept = u64::try_from(mask.count_set_bits()).unwrap_or(u64::MAX);
        Ok((kept > 0).then(|| Self {
            index,
            rows: kept,
            selection: (kept < count).then(|| RowSelection::from_boolean_buffer(mask)),
        }))
    }

    pub(super) fn to_parquet(&self) -> RowGroupSelection {
        RowGroupSelection::new(self.index, self.selection.clone())
    }
}

/// How many rows a row group has.
pub(super) fn rows_of(file: &ParquetMetaData, group: usize) -> u64 {
    let rows = file.row_groups().get(group).map_or(0, |group| group.num_rows());
    u64::try_from(rows).unwrap_or(0)
}

/// The rows of stretches; none where these are all of the rows.
fn mask(stretches: &[Stretch], rows: u64) -> Option<BooleanBuffer> {
    let kept: u64 = stretches.iter().map(|stretch| stretch.rows).sum();
    if kept == rows {
        return None;
    }
    let length = usize::try_from(rows).ok()?;
    let mut bits = BooleanBufferBuilder::new(length);
    for stretch in stretches {
        let first = usize::try_from(stretch.first).ok()?;
        bits.append_n(first.checked_sub(bits.len())?, false);
        bits.append_n(usize::try_from(stretch.rows).ok()?, true);
    }
    bits.append_n(length.checked_sub(bits.len())?, false);
    Some(bits.finish())
}
