//! Merges the page boundaries of several columns: each resulting row range is on one page of each column.

use arrow_array::{Array, UInt64Array};

/// A range of rows of a row group that are on the same page of each column of the predicate.
pub(crate) struct RowRange {
    pub(crate) first: u64,
    pub(crate) rows: u64,
    /// The number of the page, for each column that has a page index.
    pub(crate) pages: Vec<u32>,
}

/// Whether the first rows of pages are within the row group and strictly ascending.
pub(crate) fn are_in_order(first_rows: &[u64], rows: u64) -> bool {
    first_rows.first() == Some(&0)
        && first_rows.windows(2).all(|pair| pair.first() < pair.last())
        && first_rows.last().is_some_and(|last| *last < rows)
}

/// Splits a row group at each start of a page of one of the columns.
pub(crate) fn row_ranges(starts: &[Vec<u64>], rows: u64) -> Vec<RowRange> {
    let mut cuts: Vec<u64> = starts.iter().flatten().copied().collect();
    cuts.sort_unstable();
    cuts.dedup();
    let ends = cuts.iter().skip(1).copied().chain(std::iter::once(rows));
    cuts.iter()
        .zip(ends)
        .map(|(first, end)| RowRange {
            first: *first,
            rows: end.saturating_sub(*first),
            pages: starts
                .iter()
                .map(|pages| {
                    let behind = pages.partition_point(|start| start <= first);
                    u32::try_from(behind.saturating_sub(1)).unwrap_or(u32::MAX)
                })
                .collect(),
        })
        .collect()
}

/// Returns the null count of each row range: all rows, none, or NULL for unknown.
pub(crate) fn nulls_of_ranges(
    nulls: &UInt64Array,
    starts: &[u64],
    rows: u64,
    row_ranges: &[RowRange],
    place: usize,
) -> UInt64Array {
    let of_page = |stretch: &RowRange| {
        let page = usize::try_from(*stretch.pages.get(place)?).ok()?;
        let first = *starts.get(page)?;
        let end = starts.get(page + 1).copied().unwrap_or(rows);
        let count = nulls.is_valid(page).then(|| nulls.value(page))?;
        match count {
            0 => Some(0),
            all if all == end.saturating_sub(first) => Some(stretch.rows),
            _ => None,
        }
    };
    row_ranges.iter().map(of_page).collect()
}
