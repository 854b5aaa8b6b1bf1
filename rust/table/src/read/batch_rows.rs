//! How many rows a batch has where nobody says.

use std::collections::BTreeSet;

use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

/// So many that what is done once a batch costs little.
const MOST_ROWS: u64 = 65_536;
/// About so many bytes, of rows that are large.
const BYTES: u64 = 16 << 20;

/// The rows of a batch of these columns of a file: by the largest row group, as its footer weighs it.
pub(super) fn batch_rows(file: &ParquetMetaData, leaves: &[usize]) -> usize {
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
