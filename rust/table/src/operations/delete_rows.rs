//! Deletes single rows: their file is kept and gets a deletion vector.
//!
//! Protocol: *Deletion Vectors*.

use std::collections::{BTreeMap, HashMap};

use deltaic_log::checkpoint::whole_adds;
use deltaic_log::transaction::Operation;
use deltaic_protocol::actions::Add;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::features::ensure_vectors_writable;
use deltaic_protocol::{Result, TableConfiguration};

use super::verb::Verb;
use crate::rows::live_files::{key, unknown};
use crate::rows::plan::changed_file::ChangedFile;
use crate::rows::plan::file_vectors::vectors_of;
use crate::transaction::TableTransaction;

/// Deletes rows of live files, by position in the file, counted from 0. A file without remaining rows is removed. The
/// result is how many of them were not yet deleted.
///
/// # Errors
///
/// `UnsupportedFeature` if the table does not allow deletion vectors; `ConstraintViolation` if it is append-only;
/// `ValueError` with the `path` if it is not a live file, is already staged, has no such row, or has no `numRecords` in
/// the log; `CorruptData` for a damaged vector.
#[derive(Clone, Debug)]
pub struct DeleteRows {
    /// The positions by the path of the file.
    pub rows: BTreeMap<String, Vec<u64>>,
}

impl Verb for DeleteRows {
    type Staged = u64;

    fn operation(&self) -> Operation {
        Operation::Delete
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        ensure_vectors_writable(table)
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<u64> {
        if self.rows.is_empty() {
            return Ok(0);
        }
        let snapshot = transaction.snapshot.clone();
        let paths: Vec<String> = self.rows.keys().cloned().collect();
        let adds = whole_adds(&snapshot, Some(&paths)).await?;
        let mut adds: HashMap<String, Add> = adds.into_iter().map(|add| (key(&add.path), add)).collect();
        let mut files = Vec::with_capacity(self.rows.len());
        for (path, positions) in &self.rows {
            let add = adds.remove(&key(path)).ok_or_else(|| unknown(&snapshot, path))?;
            files.push((add, Bitmap::from_positions(positions.iter().copied())?));
        }
        transaction
            .staged
            .ensure_once(files.iter().map(|(add, _)| add.path.as_str()))?;
        let before = vectors_of(&snapshot, files.iter().map(|(add, _)| add)).await?;
        let mut changed = Vec::with_capacity(files.len());
        for ((add, positions), before) in files.into_iter().zip(before) {
            changed.push(ChangedFile::try_new(add, &positions, &before)?);
        }
        changed.retain(|file| !file.deleted().is_empty());
        if transaction.has_feed()? {
            let deleted = changed.iter().map(ChangedFile::deleted_rows);
            transaction.staged.unrecorded.deleted.extend(deleted);
        }
        transaction.stage_vectors(changed).await
    }
}
