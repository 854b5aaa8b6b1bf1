//! Compares the live files of two versions.

use std::collections::HashMap;

use deltaic_log::Snapshot;
use deltaic_protocol::Result;
use deltaic_protocol::actions::LogicalFileKey;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::row_tracking::RowTracking;

/// The files in which the newest version and an earlier one differ, by their paths. A file whose deletion vector
/// differs is removed and added.
#[derive(Debug, Default)]
pub(super) struct DifferingFiles {
    /// Files of the earlier version to be added.
    pub(super) added: Vec<String>,
    /// Files of the newest version to be removed.
    pub(super) removed: Vec<String>,
    /// Files of both versions that lost their row ids since.
    pub(super) with_other_row_ids: Vec<String>,
    /// The number of files that remain.
    pub(super) unchanged: usize,
    /// Their size in bytes.
    pub(super) unchanged_bytes: i64,
}

/// A live file of the newest version.
struct Known {
    path: String,
    deletion_vector: Option<Descriptor>,
    has_row_ids: bool,
}

impl DifferingFiles {
    pub(super) async fn of(now: &Snapshot, then: &Snapshot) -> Result<Self> {
        let (current, _) = now.files(None).await?;
        let mut known: HashMap<String, Known> = HashMap::with_capacity(current.len());
        for batch in &current.batches {
            for row in 0..batch.len() {
                let path = batch.adds.path.value(row);
                let file = Known {
                    path: path.to_owned(),
                    deletion_vector: batch.adds.descriptor(row),
                    has_row_ids: batch.adds.base_row_id(row).is_some(),
                };
                known.insert(key(path), file);
            }
        }
        drop(current);
        let needs_row_ids = matches!(RowTracking::of(then.configuration())?, RowTracking::Enabled(_));
        let mut found = Self::default();
        let (earlier, _) = then.files(None).await?;
        for batch in &earlier.batches {
            for row in 0..batch.len() {
                let path = batch.adds.path.value(row);
                let deletion_vector = batch.adds.descriptor(row);
                let id = deletion_vector.as_ref().map(Descriptor::key);
                let is_same = |file: &Known| file.deletion_vector.as_ref().map(Descriptor::key) == id;
                let path_key = key(path);
                if !known.get(&path_key).is_some_and(is_same) {
                    found.added.push(path.to_owned());
                    continue;
                }
                let file = known.remove(&path_key);
                if needs_row_ids && file.is_some_and(|file| !file.has_row_ids) {
                    found.with_other_row_ids.push(path.to_owned());
                }
                found.unchanged += 1;
                found.unchanged_bytes = found.unchanged_bytes.saturating_add(batch.adds.size.value(row));
            }
        }
        found.removed = known.into_values().map(|file| file.path).collect();
        Ok(found)
    }
}

/// Returns the normalized path, which is equal for all spellings of a path.
pub(super) fn key(path: &str) -> String {
    LogicalFileKey::new(path, None).path().to_owned()
}
