//! Estimates how much of the files is decoded.

use std::collections::BTreeSet;

use parquet::arrow::arrow_reader::RowSelection;
use parquet::file::metadata::ParquetMetaData;

use crate::read::file::open_file::OpenFile;
use crate::read::pruning::selection::rows_of;

/// The amount of data that is decoded of one or more files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) row_groups: usize,
    /// Pages of the columns that are read.
    pub(crate) pages: usize,
    pub(crate) rows: u64,
    /// Compressed bytes of the columns that are read.
    pub(crate) bytes: u64,
}

impl Amount {
    /// Adds another amount.
    pub(crate) fn add(&mut self, other: Self) {
        self.row_groups = self.row_groups.saturating_add(other.row_groups);
        self.pages = self.pages.saturating_add(other.pages);
        self.rows = self.rows.saturating_add(other.rows);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl OpenFile {
    /// Returns the total amount in the columns that are read, and the amount left to decode after pruning.
    pub(crate) fn amounts(&self) -> [Amount; 2] {
        let leaves: BTreeSet<usize> = self.plan.leaves.iter().copied().collect();
        let file = self.footer.metadata.as_ref();
        let mut all = Amount::default();
        for index in 0..file.num_row_groups() {
            all.add(amount_of(file, &leaves, index, None));
        }
        let mut kept = Amount::default();
        for group in self.units.iter().flatten() {
            kept.add(amount_of(file, &leaves, group.index, group.selection().as_ref()));
        }
        [all, kept]
    }
}

/// Returns the amount decoded of a row group. Pages are counted only if the file has an offset index.
fn amount_of(
    file: &ParquetMetaData,
    leaves: &BTreeSet<usize>,
    group: usize,
    selection: Option<&RowSelection>,
) -> Amount {
    let mut amount = Amount {
        row_groups: 1,
        rows: selection.map_or(rows_of(file, group), |selection| {
            u64::try_from(selection.row_count()).unwrap_or(u64::MAX)
        }),
        ..Amount::default()
    };
    let columns = file
        .row_groups()
        .get(group)
        .map_or(&[][..], |group| group.columns());
    for (leaf, column) in columns
        .iter()
        .enumerate()
        .filter(|(leaf, _)| leaves.contains(leaf))
    {
        let pages = file
            .page_index()
            .and_then(|index| index.offset_index(group, leaf));
        let (start, length) = column.byte_range();
        match (pages, selection) {
            (Some(pages), Some(selection)) => {
                let ranges = selection.scan_ranges(pages.page_locations());
                let first = pages.page_locations().first();
                let first = first.and_then(|page| u64::try_from(page.offset).ok());
                // The dictionary page precedes the first data page.
                let before = first.map_or(0, |first| first.saturating_sub(start));
                amount.pages += ranges.len();
                amount.bytes += before + ranges.iter().map(|range| range.end - range.start).sum::<u64>();
            }
            (pages, _) => {
                amount.pages += pages.map_or(0, |pages| pages.page_locations().len());
                amount.bytes = amount.bytes.saturating_add(length);
            }
        }
    }
    amount
}
