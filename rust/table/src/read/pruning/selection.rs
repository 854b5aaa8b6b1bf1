//! Selects the rows of row groups to decode: those that deletion vectors keep, on pages that may contain a match.

use std::ops::Range;

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
    /// The rows of the row group among which are those to decode: a row group may be split, so that others read others.
    part: Range<usize>,
    /// The rows of the part to decode; `None` for all.
    mask: Option<BooleanBuffer>,
    /// The number of rows of the row group.
    count: usize,
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
        let count = position(count)?;
        Ok(Self::new(index, 0..count, both, count))
    }

    /// `None` if no row is selected.
    fn new(index: usize, part: Range<usize>, mask: Option<BooleanBuffer>, count: usize) -> Option<Self> {
        let rows = mask.as_ref().map_or(part.len(), BooleanBuffer::count_set_bits);
        (rows > 0).then(|| Self {
            index,
            rows: rows as u64,
            mask: mask.filter(|_| rows < part.len()),
            part,
            count,
        })
    }

    /// Splits the rows into groups that end before each of `cuts`, and at the end of the row group. Does not split if the
    /// cuts are not ascending or not within the row group.
    pub(crate) fn split(self, cuts: &[u64]) -> Result<Vec<Self>> {
        let mut bounds = vec![0];
        for cut in cuts {
            bounds.push(position(*cut)?);
        }
        bounds.push(self.count);
        if !bounds.is_sorted_by(|first, end| first < end) {
            return Ok(vec![self]);
        }
        let parts = bounds.iter().zip(bounds.iter().skip(1));
        Ok(parts
            .filter_map(|(first, end)| self.between(*first..*end))
            .collect())
    }

    /// Returns the selected rows of a part of the row group; `None` if there are none.
    fn between(&self, part: Range<usize>) -> Option<Self> {
        let mask = self.mask.as_ref().map(|mask| mask.slice(part.start, part.len()));
        Self::new(self.index, part, mask, self.count)
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
        self.part.len() < self.count
    }

    pub(crate) fn selection(&self) -> Option<RowSelection> {
        match &self.mask {
            None if !self.is_part() => None,
            None => Some(RowSelection::from_consecutive_ranges(
                std::iter::once(self.part.clone()),
                self.count,
            )),
            Some(_) => Some(mask_of(std::slice::from_ref(self))),
        }
    }

    pub(crate) fn to_parquet(&self) -> RowGroupSelection {
        RowGroupSelection::new(self.index, self.selection())
    }
}

/// Returns the rows to decode of consecutive row groups; `None` if all are.
pub(crate) fn selection_of(groups: &[Group]) -> Option<RowSelection> {
    match groups {
        [one] => one.selection(),
        _ if groups
            .iter()
            .all(|group| group.mask.is_none() && !group.is_part()) =>
        {
            None
        }
        _ => Some(mask_of(groups)),
    }
}

fn mask_of(groups: &[Group]) -> RowSelection {
    let mut bits = BooleanBufferBuilder::new(groups.iter().map(|group| group.count).sum());
    for group in groups {
        bits.append_n(group.part.start, false);
        match &group.mask {
            Some(mask) => bits.append_buffer(mask),
            None => bits.append_n(group.part.len(), true),
        }
        bits.append_n(group.count.saturating_sub(group.part.end), false);
    }
    RowSelection::from_boolean_buffer(bits.finish())
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
    let Some(index) = file.page_index().filter(|_| rows >= 2 * PART_ROWS) else {
        return Vec::new();
    };
    let starts = |leaf: &usize| {
        let pages = index.offset_index(group, *leaf)?.page_locations().iter();
        let starts = pages.map(|page| u64::try_from(page.first_row_index).ok());
        starts.collect::<Option<Vec<u64>>>()
    };
    // A column without an offset index would be fetched again for each part.
    let Some(all) = read.iter().map(starts).collect::<Option<Vec<Vec<u64>>>>() else {
        return Vec::new();
    };
    let largest = largest(file, group, read);
    let largest = read.iter().zip(&all).find(|(leaf, _)| Some(**leaf) == largest);
    largest.map_or_else(Vec::new, |(_, starts)| cuts_at(starts, rows, PART_ROWS))
}

/// Returns those of the starts of pages at which parts have at least so many rows.
pub(crate) fn cuts_at(starts: &[u64], rows: u64, part_rows: u64) -> Vec<u64> {
    let mut cuts: Vec<u64> = Vec::new();
    for start in starts {
        let before = cuts.last().copied().unwrap_or(0);
        let is_far = *start >= before.saturating_add(part_rows) && rows.saturating_sub(*start) >= part_rows;
        if is_far {
            cuts.push(*start);
        }
    }
    cuts
}

/// Returns the column with most bytes.
pub(crate) fn largest(file: &ParquetMetaData, group: usize, read: &[usize]) -> Option<usize> {
    let columns = file.row_groups().get(group)?.columns();
    let size = |leaf: &usize| columns.get(*leaf).map(|column| column.compressed_size());
    read.iter().copied().max_by_key(size)
}

#[cfg(test)]
mod tests {
    use parquet::arrow::arrow_reader::RowSelector;

    use super::*;

    fn group(mask: &[bool]) -> Group {
        let mask: BooleanBuffer = mask.iter().copied().collect();
        let count = mask.len();
        Group {
            index: 0,
            rows: mask.count_set_bits() as u64,
            part: 0..count,
            mask: Some(mask),
            count,
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
            let parts = whole.split(cuts)?;
            let rows: Vec<u64> = parts.iter().map(|part| part.rows).collect();
            assert_eq!(
                (rows, parts.iter().any(Group::is_part)),
                (vec![3], false),
                "{cuts:?}"
            );
        }
        Ok(())
    }

    /// The rows of a selection, in order.
    fn rows_in(selection: Option<RowSelection>, count: usize) -> Vec<usize> {
        let Some(selection) = selection else {
            return (0..count).collect();
        };
        let mut row = 0;
        let mut rows = Vec::new();
        for run in Vec::<RowSelector>::from(selection) {
            if !run.skip {
                rows.extend(row..row + run.row_count);
            }
            row += run.row_count;
        }
        assert_eq!(row, count);
        rows
    }

    proptest::proptest! {
        /// Every row is in exactly one part, and parts are in order.
        #[test]
        fn parts_have_each_row_once(
            mask in proptest::collection::vec(proptest::bool::weighted(0.9), 1..40),
            cut in proptest::collection::btree_set(1u64..40, 0..6),
        ) {
            let count = mask.len();
            let all: Vec<usize> = (0..count).filter(|row| mask[*row]).collect();
            let cuts: Vec<u64> = cut.into_iter().filter(|cut| *cut < count as u64).collect();
            let whole = Group::new(0, 0..count, Some(mask.into()), count);
            let parts = whole.map(|whole| whole.split(&cuts)).transpose().expect("the cuts are rows");
            let mut found = vec![];
            for part in parts.into_iter().flatten() {
                let rows = rows_in(part.selection(), count);
                proptest::prop_assert_eq!(rows.len() as u64, part.rows);
                proptest::prop_assert!(rows.iter().all(|row| part.part.contains(row)));
                let again = rows_in(selection_of(&[part.clone(), part]), 2 * count);
                let twice = rows.iter().copied().chain(rows.iter().map(|row| row + count));
                proptest::prop_assert_eq!(again, twice.collect::<Vec<_>>());
                found.extend(rows);
            }
            proptest::prop_assert_eq!(found, all);
        }
    }
}
