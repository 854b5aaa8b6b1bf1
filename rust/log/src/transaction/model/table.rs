//! A table of the model: two partitions, a few keys, and files with deletion vectors.

/// A row: partition, key, and a value that identifies its writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) partition: u8,
    pub(super) key: u8,
    pub(super) value: u64,
}

/// A data file. Its rows are immutable; bit `n` of `deleted` deletes row `n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) partition: u8,
    pub(super) rows: Vec<Row>,
    pub(super) deleted: u64,
}

impl File {
    pub(super) fn live(&self) -> impl Iterator<Item = (usize, Row)> + '_ {
        let is_live = |(at, _): &(usize, Row)| self.deleted >> *at & 1 == 0;
        self.rows.iter().copied().enumerate().filter(is_live)
    }
}

/// The live files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) files: Vec<File>,
}

impl Table {
    /// Returns the sorted rows, with duplicates.
    pub(super) fn rows(&self) -> Vec<Row> {
        let live = self.files.iter().flat_map(File::live);
        let mut rows: Vec<Row> = live.map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    }

    pub(super) fn of_partition(&self, partition: u8) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.partition == partition)
    }
}

/// The keys of each file of each partition.
pub(super) type Layout = [&'static [&'static [u8]]; 2];

/// All combinations of present and absent partition-key pairs up to symmetry, with one file or two if a partition has
/// both keys.
pub(super) const START_STATES: [Layout; 12] = [
    [&[], &[]],
    [&[&[0]], &[]],
    [&[&[0, 1]], &[]],
    [&[&[0], &[1]], &[]],
    [&[&[0]], &[&[0]]],
    [&[&[0]], &[&[1]]],
    [&[&[0, 1]], &[&[0]]],
    [&[&[0], &[1]], &[&[0]]],
    [&[&[0, 1]], &[&[0, 1]]],
    [&[&[0, 1]], &[&[0], &[1]]],
    [&[&[0], &[1]], &[&[0, 1]]],
    [&[&[0], &[1]], &[&[0], &[1]]],
];

/// Larger files, with a third key.
pub(super) const FURTHER_STATES: [Layout; 3] = [
    [&[&[0, 1, 2]], &[&[0]]],
    [&[&[0, 2], &[1]], &[&[1, 2]]],
    [&[&[0, 1, 2]], &[&[0, 1, 2]]],
];

pub(super) fn start_state(layout: Layout) -> Table {
    let mut files = Vec::new();
    for (partition, of_partition) in (0u8..).zip(layout) {
        for (number, keys) in of_partition.iter().enumerate() {
            let row = |key: &u8| Row {
                partition,
                key: *key,
                value: 1,
            };
            files.push(File {
                path: format!("{partition}s{number}"),
                partition,
                rows: keys.iter().map(row).collect(),
                deleted: 0,
            });
        }
    }
    Table { files }
}
