//! The default number of rows per batch.

use std::collections::BTreeSet;

use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

/// Enough rows to amortize the cost per batch.
const MOST_ROWS: u64 = 65_536;
/// The approximate maximum size in bytes, for wide rows.
const BYTES: u64 = 16 << 20;

/// Returns the rows per batch for these columns of a file, by the largest average row size of its row groups.
pub(crate) fn batch_rows(file: &ParquetMetaData, leaves: &[usize]) -> usize {
    let leaves: BTreeSet<usize> = leaves.iter().copied().collect();
    let weight = |group: &RowGroupMetaData| {
        let columns = leaves.iter().filter_map(|leaf| group.columns().get(*leaf));
        let sizes = columns.map(|column| u64::try_from(column.uncompressed_size()).unwrap_or(0));
        let bytes = sizes.fold(0, u64::saturating_add);
        bytes.div_ceil(u64::try_from(group.num_rows()).unwrap_or(0).max(1))
    };
    let heaviest = file.row_groups().iter().map(weight).max().unwrap_or(0);
    let rows = (BYTES / heaviest.max(1)).clamp(1, MOST_ROWS);
    usize::try_from(rows).unwrap_or(1)
}
