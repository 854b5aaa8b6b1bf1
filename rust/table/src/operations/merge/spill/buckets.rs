//! Divides the rows of a table into ranges that are changed one after the other.

use std::collections::HashMap;
use std::ops::Range;

use deltaic_protocol::actions::Add;
use deltaic_protocol::statistics::num_records;
use deltaic_protocol::{Error, Result};

/// The log may state any number of rows, so larger buckets limit their number.
const MOST_BUCKETS: u64 = 4096;

/// Ranges of the rows of files, in order, with about as many rows each.
pub(in crate::operations::merge) struct Buckets {
    paths: Vec<String>,
    number_of: HashMap<String, u32>,
    /// The file and the position of the first row of each bucket.
    starts: Vec<(u32, u64)>,
}

impl Buckets {
    /// Divides files into buckets of this many rows. A file whose number of rows the log does not have is one bucket.
    pub(in crate::operations::merge) fn new(adds: &[Add], rows: u64) -> Self {
        let records_of = |add: &Add| {
            let records = add.stats.as_deref().and_then(num_records)?;
            u64::try_from(records).ok()
        };
        let total = adds.iter().filter_map(records_of).fold(0, u64::saturating_add);
        let rows = rows.max(total / MOST_BUCKETS + 1);
        let paths: Vec<String> = adds.iter().map(|add| add.path.clone()).collect();
        let (mut starts, mut left) = (vec![(0, 0)], rows);
        for (file, add) in (0u32..).zip(adds) {
            let (records, mut position) = (records_of(add).unwrap_or(rows), 0);
            while records - position > left {
                position += left;
                starts.push((file, position));
                left = rows;
            }
            left -= records - position;
        }
        Self {
            number_of: paths.iter().cloned().zip(0..).collect(),
            paths,
            starts,
        }
    }

    /// The number of buckets.
    pub(in crate::operations::merge) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The bucket of a row.
    pub(in crate::operations::merge) fn of(&self, file: u32, position: u64) -> usize {
        let next = self.starts.partition_point(|start| *start <= (file, position));
        next.saturating_sub(1)
    }

    /// The number of a file.
    ///
    /// # Errors
    ///
    /// `Internal` for another file.
    pub(in crate::operations::merge) fn number_of(&self, path: &str) -> Result<u32> {
        let number = self.number_of.get(path).copied();
        number.ok_or_else(|| Error::internal("a file was not to be read").with("path", path))
    }

    pub(in crate::operations::merge) fn path_of(&self, file: u32) -> &str {
        self.paths.get(file as usize).map_or("", String::as_str)
    }

    pub(in crate::operations::merge) fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The rows of a bucket: its files, and their positions.
    pub(in crate::operations::merge) fn ranges(&self, bucket: usize) -> Vec<(&str, Range<u64>)> {
        let files = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        let start = self.starts.get(bucket).copied().unwrap_or((files, 0));
        let end = self.starts.get(bucket + 1).copied().unwrap_or((files, 0));
        let mut ranges = Vec::new();
        for file in start.0..=end.0.min(files.saturating_sub(1)) {
            let from = if file == start.0 { start.1 } else { 0 };
            let to = if file == end.0 { end.1 } else { u64::MAX };
            if from < to {
                ranges.push((self.path_of(file), from..to));
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(path: &str, records: Option<u64>) -> Add {
        Add {
            path: path.to_owned(),
            stats: records.map(|records| format!("{{\"numRecords\":{records}}}")),
            ..Add::default()
        }
    }

    /// Each row of each file is in one bucket, the one that its ranges say.
    #[test]
    fn each_row_is_in_one_bucket() {
        let files = [
            ("a", Some(25)),
            ("b", Some(0)),
            ("c", Some(5)),
            ("d", None),
            ("e", Some(3)),
            ("f", Some(30)),
        ];
        let adds: Vec<Add> = files.iter().map(|(path, rows)| add(path, *rows)).collect();
        for rows in [1, 7, 10, 30, 1000] {
            let buckets = Buckets::new(&adds, rows);
            for (file, path) in (0u32..).zip(["a", "b", "c", "d", "e", "f"]) {
                assert_eq!(buckets.number_of(path).expect("a file"), file);
                for position in [0, 1, 4, 24, 29, 1 << 40] {
                    let found = (0..buckets.len()).filter(|bucket| {
                        let mut ranges = buckets.ranges(*bucket).into_iter();
                        ranges.any(|(name, range)| name == path && range.contains(&position))
                    });
                    let found: Vec<usize> = found.collect();
                    assert_eq!(found, [buckets.of(file, position)], "{path} {position} of {rows}");
                }
            }
        }
        let buckets = Buckets::new(&adds, 10);
        assert_eq!(buckets.ranges(0), [("a", 0..10)]);
        assert_eq!(
            buckets.ranges(2),
            [("a", 20..u64::MAX), ("b", 0..u64::MAX), ("c", 0..u64::MAX)]
        );
        assert!(buckets.number_of("g").is_err());
        assert!(Buckets::new(&vec![add("a", Some(1 << 62)); 2], 1).len() <= 4098);
        assert!(Buckets::new(&[], 10).ranges(0).is_empty());
    }
}
