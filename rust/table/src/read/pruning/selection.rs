//! Selects the rows of row groups to decode: those that deletion vectors keep, on pages that may contain a match.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::arrow::arrow_reader::{RowGroupSelection, RowSelection};
use parquet::file::metadata::ParquetMetaData;

use super::row_ranges::RowRange;
use crate::scan::Rows;

/// A row group of which some rows are decoded.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) index: usize,
    /// The number of rows to decode.
    pub(crate) rows: u64,
    /// The rows to decode; `None` for all.
    mask: Option<BooleanBuffer>,
    /// Whether the row group is split, and other groups contain other rows of it.
    is_part: bool,
}

impl Group {
    /// The number of rows that are read of row groups.
    pub(crate) fn rows_of(groups: &[Self]) -> usize {
        let rows = groups.iter().map(|group| group.rows).fold(0, u64::saturating_add);
        usize::try_from(rows).unwrap_or(usize::MAX)
    }

    /// Selects rows of the row group that starts at row `first` of the file; `None` if none of its rows is selected.
    /// `row_ranges` are the row ranges that may match, all rows if `None`.
    pub(crate) fn select(
        file: &ParquetMetaData,
        index: usize,
        first: u64,
        rows: &Rows,
        row_ranges: Option<&[RowRange]>,
    ) -> Result<Option<Self>> {
        let count = rows_of(file, index);
        let of_vector = rows.mask(first..first.saturating_add(count))?;
        let of_pages = match row_ranges {
            Some(row_ranges) => mask(row_ranges, count)?,
            None => None,
        };
        let both = match (of_vector, of_pages) {
            (Some(vector), Some(pages)) => Some(&vector & &pages),
            (one, other) => one.or(other),
        };
        let Some(mask) = both else {
            return Ok(Some(Self {
                index,
                rows: count,
                mask: None,
                is_part: false,
            }));
        };
        let kept = u64::try_from(mask.count_set_bits()).unwrap_or(u64::MAX);
        Ok((kept > 0).then(|| Self {
            index,
            rows: kept,
            mask: (kept < count).then_some(mask),
            is_part: false,
        }))
    }

    /// Splits the rows into groups that end before each of `cuts`, and at the end of the row group's `count` rows. Does
    /// not split if the cuts are not ascending or not within the row group.
    pub(crate) fn split(self, count: u64, cuts: &[u64]) -> Result<Vec<Self>> {
        let bounds: Vec<u64> = std::iter::once(0)
            .chain(cuts.iter().copied())
            .chain(std::iter::once(count))
            .collect();
        if !bounds.is_sorted_by(|first, end| first < end) {
            return Ok(vec![self]);
        }
        let mut groups = Vec::new();
        for (first, end) in bounds.iter().zip(bounds.iter().skip(1)) {
            groups.extend(self.between(*first, *end, count)?);
        }
        Ok(groups)
    }

    /// Returns the selected rows from `first` up to `end`; `None` if there are none.
    fn between(&self, first: u64, end: u64, count: u64) -> Result<Option<Self>> {
        let (first, end, count) = (position(first)?, position(end)?, position(count)?);
        let length = end.checked_sub(first).ok_or_else(impossible)?;
        let mut bits = BooleanBufferBuilder::new(count);
        bits.append_n(first, false);
        match &self.mask {
            Some(mask) => bits.append_buffer(&mask.slice(first, length)),
            None => bits.append_n(length, true),
        }
        bits.append_n(count.checked_sub(end).ok_or_else(impossible)?, false);
        let mask = bits.finish();
        let rows = mask.count_set_bits() as u64;
        Ok((rows > 0).then_some(Self {
            index: self.index,
            rows,
            mask: Some(mask),
            is_part: true,
        }))
    }

    /// The number of rows from the first selected row to the last.
    pub(crate) fn span(&self) -> u64 {
        let Some(mask) = &self.mask else {
            return self.rows;
        };
        let mut runs = mask.set_slices();
        let Some((start, end)) = runs.next() else {
            return 0;
        };
        let end = runs.last().map_or(end, |(_, end)| end);
        end.saturating_sub(start) as u64
    }

    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    pub(crate) fn selection(&self) -> Option<RowSelection> {
        self.mask.clone().map(RowSelection::from_boolean_buffer)
    }

    pub(crate) fn to_parquet(&self) -> RowGroupSelection {
        RowGroupSelection::new(self.index, self.selection())
    }
}

/// Returns the rows to decode of consecutive row groups; `None` if all are.
pub(crate) fn selection_of(groups: &[Group], file: &ParquetMetaData) -> Result<Option<RowSelection>> {
    if groups.iter().all(|group| group.mask.is_none()) {
        return Ok(None);
    }
    let mut bits = BooleanBufferBuilder::new(0);
    for group in groups {
        match &group.mask {
            Some(mask) => bits.append_buffer(mask),
            None => bits.append_n(position(rows_of(file, group.index))?, true),
        }
    }
    Ok(Some(RowSelection::from_boolean_buffer(bits.finish())))
}

/// Returns the number of rows of a row group.
pub(crate) fn rows_of(file: &ParquetMetaData, group: usize) -> u64 {
    let rows = file.row_groups().get(group).map_or(0, |group| group.num_rows());
    u64::try_from(rows).unwrap_or(0)
}

/// Returns the rows of row ranges as a mask; `None` if these are all rows of the row group.
///
/// # Errors
///
/// `Internal` if the ranges are not ascending, or not within the row group.
fn mask(row_ranges: &[RowRange], rows: u64) -> Result<Option<BooleanBuffer>> {
    let (mut end, mut kept) = (0, 0);
    for stretch in row_ranges {
        if stretch.first < end {
            return Err(impossible());
        }
        end = stretch.first.checked_add(stretch.rows).ok_or_else(impossible)?;
        kept += stretch.rows;
    }
    if end > rows {
        return Err(impossible());
    }
    if kept == rows {
        return Ok(None);
    }
    let mut bits = BooleanBufferBuilder::new(position(rows)?);
    for stretch in row_ranges {
        bits.resize(position(stretch.first)?);
        bits.append_n(position(stretch.rows)?, true);
    }
    bits.resize(position(rows)?);
    Ok(Some(bits.finish()))
}

fn position(row: u64) -> Result<usize> {
    usize::try_from(row).map_err(|_| impossible())
}

/// The page index is validated before rows are selected by it, so a file cannot cause this error.
fn impossible() -> Error {
    Error::new(
        ErrorKind::Internal,
        "rows are selected that the row group does not have",
    )
}

/// The minimum number of rows of a part of a row group.
pub(crate) const PART_ROWS: u64 = 96 * 1024;

/// Returns the rows at which a row group is split: the starts of pages of the largest of these columns. Empty if the
/// row group is too small or has no usable page index.
pub(crate) fn cuts(file: &ParquetMetaData, group: usize, read: &[usize]) -> Vec<u64> {
    let rows = rows_of(file, group);
    let Some((index, row_group)) = file.page_index().zip(file.row_groups().get(group)) else {
        return Vec::new();
    };
    if rows < 2 * PART_ROWS {
        return Vec::new();
    }
    let starts = |leaf: &usize| {
        let pages = index.offset_index(group, *leaf)?.page_locations().iter();
        let starts = pages.map(|page| u64::try_from(page.first_row_index).ok());
        starts.collect::<Option<Vec<u64>>>()
    };
    // A column without an offset index would be fetched again for each part.
    let Some(all) = read.iter().map(starts).collect::<Option<Vec<Vec<u64>>>>() else {
        return Vec::new();
    };
    let size = |leaf: &usize| {
        row_group
            .columns()
            .get(*leaf)
            .map(|column| column.compressed_size())
    };
    let largest = read.iter().zip(&all).max_by_key(|(leaf, _)| size(leaf));
    let mut cuts: Vec<u64> = Vec::new();
    for start in largest.into_iter().flat_map(|(_, starts)| starts) {
        let before = cuts.last().copied().unwrap_or(0);
        let is_far = *start >= before.saturating_add(PART_ROWS) && rows.saturating_sub(*start) >= PART_ROWS;
        if is_far {
            cuts.push(*start);
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(mask: &[bool]) -> Group {
        let mask: BooleanBuffer = mask.iter().copied().collect();
        Group {
            index: 0,
            rows: mask.count_set_bits() as u64,
            mask: Some(mask),
            is_part: false,
        }
    }

    fn row_ranges(of: &[(u64, u64)]) -> Vec<RowRange> {
        let pages = Vec::new;
        of.iter()
            .map(|(first, rows)| RowRange {
                first: *first,
                rows: *rows,
                pages: pages(),
            })
            .collect()
    }

    #[test]
    fn all_rows_are_never_taken_for_rows_that_cannot_be() -> Result<()> {
        assert_eq!(mask(&row_ranges(&[(0, 10)]), 10)?, None);
        assert_eq!(mask(&row_ranges(&[(0, 4), (4, 6)]), 10)?, None);
        let some = mask(&row_ranges(&[(1, 2), (5, 1)]), 7)?.map(|mask| mask.set_indices().collect());
        assert_eq!(some, Some(vec![1, 2, 5]));
        for odd in [
            &[(5, 10)][..],
            &[(8, 5)],
            &[(0, 5), (3, 5)],
            &[(5, 5), (0, 5)],
            &[(u64::MAX, 2)],
            &[(0, u64::MAX)],
        ] {
            let error = mask(&row_ranges(odd), 10).err();
            assert!(
                error.is_some_and(|error| error.kind() == ErrorKind::Internal),
                "{odd:?}"
            );
        }
        Ok(())
    }

    #[test]
    fn rows_span_from_the_first_selected_to_the_last() {
        for (mask, span) in [
            (&[true, false, false, true][..], 4),
            (&[false, true, true, false], 2),
            (&[false, true, false, true, false], 3),
            (&[false, false], 0),
        ] {
            assert_eq!(group(mask).span(), span, "{mask:?}");
        }
    }

    #[test]
    fn cuts_that_are_not_rows_split_nothing() -> Result<()> {
        for cuts in [&[0][..], &[4], &[5], &[2, 2], &[3, 1], &[u64::MAX]] {
            let whole = group(&[true, false, true, true]);
            let parts = whole.split(4, cuts)?;
            let rows: Vec<u64> = parts.iter().map(|part| part.rows).collect();
            assert_eq!(
                (rows, parts.iter().any(Group::is_part)),
                (vec![3], false),
                "{cuts:?}"
            );
        }
        Ok(())
    }

    proptest::proptest! {
        /// Every row is in exactly one part, and parts are in order.
        #[test]
        fn parts_have_each_row_once(
            mask in proptest::collection::vec(proptest::bool::ANY, 1..200),
            cut in proptest::collection::btree_set(0u64..200, 0..6),
        ) {
            let whole = group(&mask);
            let count = mask.len() as u64;
            let cuts: Vec<u64> = cut.into_iter().filter(|cut| *cut < count).collect();
            let mut first = 0;
            let mut found = vec![];
            for end in cuts.iter().copied().chain([count]) {
                let part = whole.between(first, end, count);
                if let Some(part) = part.expect("the cuts are rows") {
                    let bits = part.mask.clone().map(|mask| mask.set_indices().collect::<Vec<_>>());
                    let bits = bits.unwrap_or_default();
                    proptest::prop_assert_eq!(bits.len() as u64, part.rows);
                    found.extend(bits);
                }
                first = end;
            }
            let all: Vec<usize> = (0..mask.len()).filter(|row| mask[*row]).collect();
            proptest::prop_assert_eq!(found, all);
        }
    }
}
