//! Deletes single rows: their file is kept and gets a deletion vector.
//!
//! Protocol: *Deletion Vectors*, *Writer Requirement for Deletion Vectors*, *Per-file Statistics*.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use deltaic_log::checkpoint::whole_adds;
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::features::ensure_vectors_writable;
use deltaic_protocol::iceberg_compat::ensure_kept;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::clock::now_ms;
use serde_json::value::RawValue;

use super::TableTransaction;
use super::change_data::DeletedRows;
use super::file_vectors::vectors_of;
use super::live_files::{key, unknown};

impl TableTransaction {
    /// Stages the deletion of rows of live files, by position in the file, counted from 0. Returns how many of them
    /// were not yet deleted. A file without remaining rows is removed. All files are changed or none.
    ///
    /// # Errors
    ///
    /// `UnsupportedFeature` if the table does not allow deletion vectors; `ConstraintViolation` if it is
    /// append-only; `ValueError` with the `path` if it is not a live file, is already staged, has no such row, or has
    /// no `numRecords` in the log; `CorruptData` for a damaged vector.
    pub async fn delete_rows(&mut self, rows: BTreeMap<String, Vec<u64>>) -> Result<u64> {
        let snapshot = self.snapshot.clone();
        ensure_vectors_writable(snapshot.configuration()).map_err(|error| self.located(error))?;
        if self.is_done() || rows.is_empty() {
            return Ok(0);
        }
        let paths: Vec<String> = rows.keys().cloned().collect();
        let adds = whole_adds(&snapshot, Some(&paths)).await?;
        let mut adds: HashMap<String, Add> = adds.into_iter().map(|add| (key(&add.path), add)).collect();
        let mut files = Vec::with_capacity(rows.len());
        for (path, positions) in rows {
            let add = adds
                .remove(&key(&path))
                .ok_or_else(|| unknown(&snapshot, &path))?;
            files.push((add, Bitmap::from_positions(positions)?));
        }
        self.ensure_staged_once(files.iter().map(|(add, _)| add.path.as_str()))?;
        let before = vectors_of(&snapshot, files.iter().map(|(add, _)| add)).await?;
        let mut changed = Vec::with_capacity(files.len());
        for ((add, positions), before) in files.into_iter().zip(before) {
            changed.push(ChangedFile::try_new(add, &positions, &before)?);
        }
        changed.retain(|file| !file.deleted.is_empty());
        if self.has_feed()? {
            let deleted = changed.iter().map(ChangedFile::deleted_rows);
            self.unrecorded.deleted.extend(deleted);
        }
        self.stage_vectors(changed).await
    }

    /// Writes the deletion vectors of files and stages them. Returns the number of deleted rows.
    pub(super) async fn stage_vectors(&mut self, changed: Vec<ChangedFile>) -> Result<u64> {
        if !changed.is_empty() {
            ensure_kept(self.snapshot.configuration()).map_err(|error| self.located(error))?;
        }
        let deleted = changed.iter().map(|file| file.deleted.len()).sum();
        let kept = changed.iter().filter(|file| !file.is_empty);
        let vectors: Vec<(String, Bitmap)> = kept
            .map(|file| (file.add.path.clone(), file.vector.clone()))
            .collect();
        let descriptors = match vectors.is_empty() {
            true => Vec::new(),
            false => self.vectors.write(&vectors).await?,
        };
        let (mut descriptors, now) = (descriptors.into_iter(), now_ms());
        for file in changed {
            self.read.read_files([file.add.path.as_str()]);
            self.proposal.removes.push(Remove::of(&file.add, now));
            if !file.is_empty {
                self.proposal.adds.push(Add {
                    data_change: true,
                    stats: Some(file.stats),
                    deletion_vector: Some(
                        descriptors
                            .next()
                            .ok_or_else(|| Error::internal("a deletion vector was not written"))?,
                    ),
                    ..file.add
                });
                self.vectors_added += 1;
            }
        }
        self.deleted_rows += deleted;
        Ok(deleted)
    }
}

/// A file from which rows are deleted.
#[derive(Debug)]
pub(super) struct ChangedFile {
    /// The current file.
    pub(super) add: Add,
    /// Its deletion vector, including the deleted rows.
    vector: Bitmap,
    /// Its statistics next to the deletion vector.
    stats: String,
    /// The rows that were not yet deleted.
    deleted: Bitmap,
    /// Whether all rows are deleted.
    is_empty: bool,
}

impl ChangedFile {
    /// The positions of the rows that were not yet deleted.
    pub(super) fn deleted(&self) -> &Bitmap {
        &self.deleted
    }

    /// The rows that were not yet deleted.
    pub(super) fn deleted_rows(&self) -> DeletedRows {
        DeletedRows {
            add: self.add.clone(),
            positions: Some(Arc::new(self.deleted.clone())),
        }
    }

    pub(super) fn try_new(add: Add, positions: &Bitmap, before: &Bitmap) -> Result<Self> {
        let wrong =
            |what: String| Error::new(ErrorKind::InvalidArgument, what).with("path", add.path.as_str());
        let (stats, records) = loose_stats(add.stats.as_deref()).ok_or_else(|| {
            wrong(format!(
                "the log has no numRecords of {:?}, so it cannot get a deletion vector",
                add.path
            ))
            .hint("rewrite the file without these rows")
        })?;
        if let Some(last) = positions.max()
            && last >= records
        {
            return Err(wrong(format!(
                "{:?} has {records} rows, and none at {last}",
                add.path
            )));
        }
        let vector = before.union(positions);
        Ok(Self {
            deleted: positions.difference(before),
            is_empty: vector.len() == records && vector.max().is_some_and(|last| last < records),
            vector,
            stats,
            add,
        })
    }
}

/// Returns the statistics for a file with a deletion vector, and its number of rows. The bounds are no longer tight, as
/// they may come from deleted rows. Values are not parsed, because a number could change when it is written again.
fn loose_stats(stats: Option<&str>) -> Option<(String, u64)> {
    let mut parts: BTreeMap<String, Box<RawValue>> = serde_json::from_str(stats?).ok()?;
    let records = serde_json::from_str(parts.get("numRecords")?.get()).ok()?;
    let no = RawValue::from_string("false".to_owned()).ok()?;
    parts.insert("tightBounds".to_owned(), no);
    Some((serde_json::to_string(&parts).ok()?, records))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// protocol: per-file-statistics.1, per-file-statistics.2, writer-requirement-for-deletion-vectors.1
    #[test]
    fn bounds_beside_a_vector_are_loose_and_retain_their_spelling() {
        let stats = r#"{"numRecords":3,"minValues":{"a":12345678901234567890.123},"tightBounds":true}"#;
        let loose = r#"{"minValues":{"a":12345678901234567890.123},"numRecords":3,"tightBounds":false}"#;
        assert_eq!(loose_stats(Some(stats)), Some((loose.to_owned(), 3)));
        for none in [None, Some("{}"), Some(r#"{"numRecords":-1}"#), Some("no JSON")] {
            assert_eq!(loose_stats(none), None, "{none:?}");
        }
    }
}
