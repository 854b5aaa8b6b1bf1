//! What verbs count: one map, of which the metrics of a commit, a dry run and the result of a verb are views.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_protocol::actions::Add;

/// What is counted. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Count {
    /// Added files that contain no rows of files that the transaction changes; their rows and bytes.
    NewFiles,
    NewRows,
    NewBytes,
    /// Files with copied rows and new versions of rows, and their bytes.
    WrittenFiles,
    WrittenBytes,
    CopiedRows,
    UpdatedRows,
    /// Rows that a verb selected to be deleted or replaced by new versions.
    SelectedRows,
    /// Files that are removed because of a condition, and files that are rewritten.
    RemovedFiles,
    RemovedBytes,
    /// Those of them that are rewritten.
    RewrittenFiles,
    RewrittenBytes,
    /// Files that get a deletion vector, by conditions and by positions, and the rows that these delete.
    Vectors,
    VectorRows,
    /// The same by conditions only; and the vectors before them.
    VectorsAdded,
    VectorsRemoved,
    VectorsUpdated,
    ChangeFiles,
    ScanTime,
    RewriteTime,
    /// Of merges.
    MergeTime,
    SourceRows,
    MatchedUpdated,
    MatchedDeleted,
    NotMatchedBySourceUpdated,
    NotMatchedBySourceDeleted,
    /// The sizes of the files of an optimization.
    MinFileSize,
    P25FileSize,
    P50FileSize,
    P75FileSize,
    MaxFileSize,
    /// Of computed statistics.
    ReadFiles,
    DescribedFiles,
}

/// The name of a metric in the history, and the counts that it is the sum of.
pub(crate) type Metric = (&'static str, &'static [Count]);

/// The counts of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metrics {
    counts: BTreeMap<Count, i64>,
    /// Counts that the log does not have for each file.
    unknown: BTreeSet<Count>,
}

impl Metrics {
    /// Adds to a count.
    pub(crate) fn add(&mut self, count: Count, number: impl TryInto<i64>) {
        let sum = self.counts.entry(count).or_default();
        *sum = sum.saturating_add(number.try_into().unwrap_or(i64::MAX));
    }

    /// Adds to a count; `None` makes it unknown.
    pub(crate) fn add_known(&mut self, count: Count, number: Option<u64>) {
        self.add(count, number.unwrap_or(0));
        if number.is_none() {
            self.unknown.insert(count);
        }
    }

    /// Adds files, and their bytes.
    pub(crate) fn add_files(&mut self, files: Count, bytes: Count, adds: &[Add]) {
        self.add(files, adds.len());
        self.add(
            bytes,
            adds.iter().fold(0, |sum: i64, add| sum.saturating_add(add.size)),
        );
    }

    /// A count, 0 without one.
    pub(crate) fn get(&self, count: Count) -> i64 {
        self.counts.get(&count).copied().unwrap_or(0)
    }

    /// The same as an unsigned number.
    pub(crate) fn number(&self, count: Count) -> u64 {
        u64::try_from(self.get(count)).unwrap_or(0)
    }

    /// The same as a number of files.
    pub(crate) fn files(&self, count: Count) -> usize {
        usize::try_from(self.get(count)).unwrap_or(usize::MAX)
    }

    /// A count; `None` if it is unknown.
    pub(crate) fn known(&self, count: Count) -> Option<u64> {
        (!self.unknown.contains(&count)).then(|| self.number(count))
    }

    /// The metrics with these names, without those of an unknown count.
    pub(crate) fn named(&self, metrics: &[Metric]) -> Vec<(&'static str, i64)> {
        let known = metrics.iter().filter(|(_, counts)| {
            let mut counts = counts.iter();
            !counts.any(|count| self.unknown.contains(count))
        });
        let sums = known.map(|(name, counts)| {
            let sum = counts
                .iter()
                .fold(0, |sum: i64, count| sum.saturating_add(self.get(*count)));
            (*name, sum)
        });
        sums.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_the_sum_of_its_counts_unless_one_is_unknown() {
        let mut metrics = Metrics::default();
        metrics.add(Count::NewFiles, 2usize);
        metrics.add(Count::WrittenFiles, u64::MAX);
        metrics.add_known(Count::SelectedRows, Some(3));
        let names: &[Metric] = &[
            ("files", &[Count::NewFiles]),
            ("all", &[Count::NewFiles, Count::WrittenFiles]),
            ("rows", &[Count::SelectedRows]),
            ("bytes", &[Count::NewBytes]),
        ];
        let named = metrics.named(names);
        assert_eq!(
            named,
            [("files", 2), ("all", i64::MAX), ("rows", 3), ("bytes", 0)]
        );
        metrics.add_known(Count::SelectedRows, None);
        assert_eq!(metrics.known(Count::SelectedRows), None);
        assert!(metrics.named(names).iter().all(|(name, _)| *name != "rows"));
    }
}
