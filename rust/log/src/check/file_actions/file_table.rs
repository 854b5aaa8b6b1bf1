//! The logical files of a check by key, with every fact that other files of the log may contradict.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::Arc;

use deltaic_protocol::actions::LogicalFileKey;
use deltaic_protocol::deletion_vector::Descriptor;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::fingerprint::Fingerprint;

/// Partition values as in the log.
pub(in crate::check) type SharedPartitionValues = Arc<BTreeMap<String, Option<String>>>;

/// A logical file.
#[derive(Clone, Debug)]
pub struct FileEntry {
    /// The path as in the log.
    pub path: Box<str>,
    /// The deletion vector.
    pub deletion_vector: Option<Box<Descriptor>>,
    /// Size in bytes according to the log.
    pub size: i64,
    /// `numRecords` of its statistics, including deleted rows.
    pub num_records: Option<i64>,
    /// Modification time in milliseconds since the epoch.
    pub modification_time: i64,
    pub(in crate::check) partition_values: SharedPartitionValues,
    /// Whether it has a `baseRowId` and a `defaultRowCommitVersion`.
    pub(in crate::check) has_row_ids: bool,
    /// Fingerprint of its statistics; `None` if unknown.
    pub(in crate::check) statistics: Option<Fingerprint>,
    /// The version of the action.
    pub(in crate::check) version: i64,
    /// The last comparison that included it.
    pub(in crate::check) met: u64,
}

impl FileEntry {
    /// Creates an entry of which only the path is known.
    #[cfg(test)]
    pub(super) fn of_path(path: &str) -> Self {
        Self {
            path: path.into(),
            deletion_vector: None,
            size: 0,
            num_records: None,
            modification_time: 0,
            partition_values: SharedPartitionValues::default(),
            has_row_ids: false,
            statistics: None,
            version: 0,
            met: 0,
        }
    }

    pub(in crate::check) fn key(&self) -> LogicalFileKey<'_> {
        let vector = self.deletion_vector.as_deref();
        LogicalFileKey::new(&self.path, vector.map(Descriptor::key))
    }

    /// Whether a copy of the action agrees in size, modification time, partition values and, if it has them,
    /// statistics.
    pub(in crate::check) fn is_copied_by(&self, copy: &Self) -> bool {
        self.size == copy.size
            && self.modification_time == copy.modification_time
            && are_same_values(&self.partition_values, &copy.partition_values)
            && !Fingerprint::contradicts(copy.statistics, self.statistics)
    }
}

/// Whether partition values are equal; an empty string is NULL.
pub(in crate::check) fn are_same_values(
    one: &BTreeMap<String, Option<String>>,
    other: &BTreeMap<String, Option<String>>,
) -> bool {
    let there = |text: &&Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    let values = |map: &'_ BTreeMap<String, Option<String>>| -> Vec<(String, Option<String>)> {
        let present = map.iter().filter(|(_, text)| there(text));
        present.map(|(name, text)| (name.clone(), text.clone())).collect()
    };
    one == other || values(one) == values(other)
}

/// Logical files by key.
#[derive(Debug, Default)]
pub(in crate::check) struct FileTable {
    table: HashTable<FileEntry>,
    seed: foldhash::quality::RandomState,
    /// Number of live files with a deletion vector by path.
    with_vector: HashMap<Box<str>, u32>,
    size_in_bytes: i128,
}

impl FileTable {
    pub(in crate::check) fn len(&self) -> usize {
        self.table.len()
    }

    pub(in crate::check) fn size_in_bytes(&self) -> i64 {
        let bounded = self
            .size_in_bytes
            .clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        i64::try_from(bounded).unwrap_or(i64::MAX)
    }

    pub(in crate::check) fn iter(&self) -> impl Iterator<Item = &FileEntry> {
        self.table.iter()
    }

    pub(in crate::check) fn find(&self, key: &LogicalFileKey<'_>) -> Option<&FileEntry> {
        let hash = self.seed.hash_one(key);
        self.table.find(hash, |entry| entry.key() == *key)
    }

    pub(in crate::check) fn find_mut(&mut self, key: &LogicalFileKey<'_>) -> Option<&mut FileEntry> {
        let hash = self.seed.hash_one(key);
        self.table.find_mut(hash, |entry| entry.key() == *key)
    }

    /// Inserts a file; returns the previous one of the same key.
    pub(in crate::check) fn insert(&mut self, file: FileEntry) -> Option<FileEntry> {
        let hash = self.seed.hash_one(file.key());
        self.size_in_bytes += i128::from(file.size);
        let seed = &self.seed;
        let has_vector = file.deletion_vector.is_some().then(|| file.path.clone());
        match self.table.entry(
            hash,
            |entry| entry.key() == file.key(),
            |entry| seed.hash_one(entry.key()),
        ) {
            Entry::Occupied(mut occupied) => {
                let older = std::mem::replace(occupied.get_mut(), file);
                self.size_in_bytes -= i128::from(older.size);
                Some(older)
            }
            Entry::Vacant(vacant) => {
                vacant.insert(file);
                if let Some(path) = has_vector {
                    *self.with_vector.entry(path).or_default() += 1;
                }
                None
            }
        }
    }

    pub(in crate::check) fn remove(&mut self, key: &LogicalFileKey<'_>) -> Option<FileEntry> {
        let hash = self.seed.hash_one(key);
        let occupied = self.table.find_entry(hash, |entry| entry.key() == *key).ok()?;
        let (removed, _) = occupied.remove();
        self.size_in_bytes -= i128::from(removed.size);
        if removed.deletion_vector.is_some()
            && let Some(count) = self.with_vector.get_mut(&removed.path)
        {
            *count -= 1;
            if *count == 0 {
                self.with_vector.remove(&removed.path);
            }
        }
        Some(removed)
    }

    /// Number of live files with a path.
    pub(in crate::check) fn times_live(&self, path: &str) -> u32 {
        let plain = self.find(&LogicalFileKey::new(path, None)).is_some();
        let with_vector = self.with_vector.get(path).copied().unwrap_or(0);
        u32::from(plain).saturating_add(with_vector)
    }

    /// Returns paths that are live more than once.
    pub(in crate::check) fn paths_live_twice(&self) -> Vec<&str> {
        let paths = self.with_vector.keys().map(AsRef::as_ref);
        let mut twice: Vec<&str> = paths.filter(|path| self.times_live(path) > 1).collect();
        twice.sort_unstable();
        twice
    }
}

/// Interned partition values: each is stored once, however many files share it.
#[derive(Debug, Default)]
pub(in crate::check) struct PartitionPool(HashSet<SharedPartitionValues>);

impl PartitionPool {
    pub(in crate::check) fn keep(
        &mut self,
        values: BTreeMap<String, Option<String>>,
    ) -> SharedPartitionValues {
        if let Some(known) = self.0.get(&values) {
            return Arc::clone(known);
        }
        let values = Arc::new(values);
        self.0.insert(Arc::clone(&values));
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, vector: Option<&str>, size: i64) -> FileEntry {
        FileEntry {
            deletion_vector: vector.map(|text| {
                Box::new(Descriptor {
                    storage_type: "u".to_owned(),
                    path_or_inline_dv: text.to_owned(),
                    offset: Some(1),
                    size_in_bytes: 1,
                    cardinality: 1,
                })
            }),
            size,
            ..FileEntry::of_path(path)
        }
    }

    #[test]
    fn files_are_reported_apart_by_path_and_vector() {
        let mut table = FileTable::default();
        assert!(table.insert(file("/a", None, 3)).is_none());
        assert!(table.insert(file("file:///a", None, 5)).is_some());
        assert_eq!((table.len(), table.size_in_bytes()), (1, 5));
        assert!(table.insert(file("b", Some("v"), 7)).is_none());
        assert!(table.insert(file("b", Some("w"), 7)).is_none());
        assert_eq!(table.paths_live_twice(), ["b"]);
        let removed = file("b", Some("v"), 0);
        assert!(table.remove(&removed.key()).is_some());
        assert!(table.remove(&removed.key()).is_none());
        assert!(table.paths_live_twice().is_empty());
        assert!(table.insert(file("b", None, 1)).is_none());
        assert_eq!(table.paths_live_twice(), ["b"]);
        assert_eq!((table.len(), table.size_in_bytes()), (3, 13));
    }

    #[test]
    fn equal_partition_values_are_retained_once() {
        let mut pool = PartitionPool::default();
        let values = || BTreeMap::from([("p".to_owned(), Some("x".to_owned()))]);
        assert!(Arc::ptr_eq(&pool.keep(values()), &pool.keep(values())));
    }
}
