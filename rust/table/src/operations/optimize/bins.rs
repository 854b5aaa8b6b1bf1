//! Bins of files whose rows are written together, and the files that are combined into one.

use std::collections::BTreeMap;

use deltaic_protocol::actions::Add;
use deltaic_protocol::schema::ColumnName;
use deltaic_protocol::statistics::num_records;

use super::zcube::ClusteringTags;

/// Files with a larger share of deleted rows are rewritten, whatever their size, as in delta-spark.
const MAX_DELETED_ROWS_RATIO: f64 = 0.05;

/// Files whose rows are written together.
#[derive(Clone, Debug)]
pub(super) struct Bin {
    pub(super) files: Vec<Add>,
    /// Whether the rows are sorted, in the order of the plan; otherwise they stay in the order of the files.
    pub(super) is_sorted: bool,
    /// What the new files state about their clustering.
    pub(super) clustering: ClusteringTags,
}

impl Bin {
    /// Files that are combined into one.
    pub(super) fn combined(files: Vec<Add>) -> Self {
        Self {
            files,
            is_sorted: false,
            clustering: ClusteringTags::default(),
        }
    }

    /// A file that is written without its deleted rows. The others are as near each other as before.
    pub(super) fn purged(file: Add) -> Self {
        Self {
            clustering: ClusteringTags::of(&file),
            files: vec![file],
            is_sorted: false,
        }
    }

    /// Files whose rows are sorted.
    pub(super) fn sorted(files: Vec<Add>) -> Self {
        Self {
            files,
            is_sorted: true,
            clustering: ClusteringTags::default(),
        }
    }

    /// Files that become a ZCube.
    pub(super) fn new_cube(files: Vec<Add>, columns: &[ColumnName]) -> Self {
        Self {
            files,
            is_sorted: true,
            clustering: ClusteringTags::of_new_cube(columns),
        }
    }
}

/// Whether a compaction rewrites a file: it is smaller than the target, or too many of its rows are deleted.
pub(super) fn is_candidate(add: &Add, target_bytes: u64) -> bool {
    bytes_of(add) < target_bytes || has_many_deleted_rows(add)
}

/// Whether more than 5% of the rows of a file are deleted, or an unknown share.
pub(super) fn has_many_deleted_rows(add: &Add) -> bool {
    let Some(vector) = &add.deletion_vector else {
        return false;
    };
    match add.stats.as_deref().and_then(num_records) {
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        Some(records) => vector.cardinality as f64 > records as f64 * MAX_DELETED_ROWS_RATIO,
        // The new file has statistics.
        None => true,
    }
}

/// Packs the files of each partition into bins of at most the target size: each file, the oldest first, into the first
/// bin that it fits into. A file that would be alone is left as it is unless it has deleted rows.
pub(super) fn pack(files: Vec<Add>, target_bytes: u64) -> Vec<Vec<Add>> {
    let bins = by_partition(files)
        .into_iter()
        .flat_map(|files| pack_partition(files, target_bytes));
    bins.filter(|bin| bin.len() > 1 || bin.iter().any(|add| add.deletion_vector.is_some()))
        .collect()
}

/// Packs all files of each partition into bins of at most the target size, those that are alone included.
pub(super) fn pack_all(files: Vec<Add>, target_bytes: u64) -> Vec<Vec<Add>> {
    let partitions = by_partition(files).into_iter();
    partitions
        .flat_map(|files| pack_partition(files, target_bytes))
        .collect()
}

/// Returns the files of each partition, the oldest first: rows that were written together stay together.
pub(super) fn by_partition(files: Vec<Add>) -> Vec<Vec<Add>> {
    let mut partitions: BTreeMap<_, Vec<Add>> = BTreeMap::new();
    for add in files {
        partitions
            .entry(add.partition_values.clone())
            .or_default()
            .push(add);
    }
    for files in partitions.values_mut() {
        files.sort_by(|one, other| {
            let by_age = one.modification_time.cmp(&other.modification_time);
            by_age.then_with(|| one.path.cmp(&other.path))
        });
    }
    partitions.into_values().collect()
}

/// The number of files of about the target size that the rows of others make.
pub(super) fn new_files(files: &[Add], target_bytes: u64) -> usize {
    let bytes = files.iter().map(bytes_of).fold(0, u64::saturating_add);
    usize::try_from(bytes / target_bytes.max(1))
        .unwrap_or(usize::MAX)
        .max(1)
}

fn pack_partition(files: Vec<Add>, target_bytes: u64) -> Vec<Vec<Add>> {
    let smallest = files.iter().map(bytes_of).min().unwrap_or_default();
    let mut full = Vec::new();
    // Bins that may take more files, with the size of those in them.
    let mut open: Vec<(u64, Vec<Add>)> = Vec::new();
    for add in files {
        let bytes = bytes_of(&add);
        let fits = |used: u64| used.saturating_add(bytes) <= target_bytes;
        let at = open.iter().position(|(used, _)| fits(*used));
        let (used, mut bin) = at.map_or_else(Default::default, |at| open.remove(at));
        bin.push(add);
        let used = used.saturating_add(bytes);
        if used.saturating_add(smallest) > target_bytes {
            full.push(bin);
        } else {
            open.insert(at.unwrap_or(open.len()), (used, bin));
        }
    }
    full.extend(open.into_iter().map(|(_, bin)| bin));
    full
}

pub(super) fn bytes_of(add: &Add) -> u64 {
    u64::try_from(add.size).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::deletion_vector::Descriptor;
    use proptest::prelude::*;

    use super::*;

    fn file(path: &str, size: i64) -> Add {
        Add {
            path: path.to_owned(),
            size,
            ..Add::default()
        }
    }

    fn with_vector(mut add: Add, deleted: i64, records: Option<i64>) -> Add {
        add.deletion_vector = Some(Descriptor {
            storage_type: "u".to_owned(),
            path_or_inline_dv: String::new(),
            offset: None,
            size_in_bytes: 1,
            cardinality: deleted,
        });
        add.stats = records.map(|records| format!(r#"{{"numRecords":{records}}}"#));
        add
    }

    fn paths(bins: &[Vec<Add>]) -> Vec<Vec<&str>> {
        let paths = bins.iter().map(|bin| bin.iter().map(|add| add.path.as_str()));
        paths.map(Iterator::collect).collect()
    }

    #[test]
    fn small_files_and_files_with_many_deleted_rows_are_candidates() {
        assert!(is_candidate(&file("a", 99), 100));
        assert!(!is_candidate(&file("a", 100), 100));
        for (deleted, records, expected) in [
            (5, Some(100), false),
            (6, Some(100), true),
            (1, None, true),
            (0, Some(0), false),
        ] {
            let add = with_vector(file("a", 100), deleted, records);
            assert_eq!(is_candidate(&add, 100), expected, "{deleted} of {records:?}");
        }
    }

    #[test]
    fn each_file_is_put_into_the_first_bin_that_it_fits_into() {
        let sizes = [("a", 60), ("b", 50), ("c", 40), ("d", 50), ("e", 10)];
        let files: Vec<Add> = sizes.iter().rev().map(|(path, size)| file(path, *size)).collect();
        assert_eq!(paths(&pack(files, 100)), [vec!["a", "c"], vec!["b", "d"]]);
    }

    #[test]
    fn older_files_are_first() {
        let mut files = vec![file("a", 50), file("b", 50), file("c", 50), file("d", 50)];
        for (add, time) in files.iter_mut().zip([4, 1, 3, 2]) {
            add.modification_time = time;
        }
        assert_eq!(paths(&pack(files, 100)), [vec!["b", "d"], vec!["c", "a"]]);
    }

    #[test]
    fn a_file_alone_is_rewritten_only_without_its_deleted_rows() {
        assert!(pack(vec![file("a", 10)], 100).is_empty());
        let deleted = with_vector(file("a", 10), 1, Some(1000));
        assert_eq!(paths(&pack(vec![deleted], 100)), [vec!["a"]]);
    }

    #[test]
    fn files_of_different_partitions_are_never_in_one_bin() {
        let of = |path: &str, value: Option<&str>| {
            let mut add = file(path, 1);
            add.partition_values
                .insert("p".to_owned(), value.map(str::to_owned));
            add
        };
        let files = vec![
            of("a", Some("x")),
            of("b", None),
            of("c", Some("x")),
            of("d", None),
            of("e", Some("y")),
        ];
        assert_eq!(paths(&pack(files, 100)), [vec!["b", "d"], vec!["a", "c"]]);
    }

    proptest! {
        /// No two bins could be one, so that a compaction of its results finds nothing to do.
        #[test]
        fn bins_are_full(sizes in prop::collection::vec(0i64..120, 0..60)) {
            let files: Vec<Add> = sizes.iter().enumerate().map(|(at, size)| file(&format!("{at:03}"), *size)).collect();
            let bins = pack_partition(files.clone(), 100);
            let mut packed: Vec<Add> = bins.iter().flatten().cloned().collect();
            packed.sort_by(|one, other| one.path.cmp(&other.path));
            prop_assert_eq!(packed, files);
            let mut sums: Vec<i64> = bins.iter().map(|bin| bin.iter().map(|add| add.size).sum()).collect();
            for (bin, sum) in bins.iter().zip(&sums) {
                prop_assert!(bin.len() == 1 || *sum <= 100);
            }
            sums.sort_unstable();
            if let [one, other, ..] = sums.as_slice() {
                prop_assert!(one + other > 100);
            }
        }
    }
}
