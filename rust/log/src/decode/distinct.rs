//! Verifies that the batches of a checkpoint contain each logical file once.

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result};

use super::file_batch::FileBatch;
use deltaic_storage::location::without_secrets;

/// Verifies that a checkpoint contains each logical file once; the error names a duplicate. Returns a path
/// that occurs with several deletion vectors, if any: a check of the log may continue after it.
///
/// Rows are compared only if their 4-byte hashes are equal; of a million, about a hundred collide.
pub(crate) fn ensure_distinct(batches: &[Arc<FileBatch>]) -> Result<Option<String>> {
    // By path hashes: rows with one path share them, and so do duplicate keys.
    let path_hash = |batch: &FileBatch, row: usize, hash: u32| {
        if batch.keys.has_vector(row) {
            batch.path_hash(row)
        } else {
            hash
        }
    };
    let mut hashes: Vec<u32> = batches
        .iter()
        .flat_map(|batch| {
            let rows = batch.hashes.iter().enumerate();
            rows.map(|(row, hash)| path_hash(batch, row, *hash))
        })
        .collect();
    hashes.sort_unstable();
    let shared: HashSet<u32> = hashes
        .windows(2)
        .filter_map(|pair| match pair {
            [left, right] if left == right => Some(*left),
            _ => None,
        })
        .collect();
    drop(hashes);
    if shared.is_empty() {
        return Ok(None);
    }
    let (mut keys, mut paths) = (HashSet::new(), HashSet::new());
    let mut repeated = None;
    for batch in batches {
        for (row, hash) in batch.hashes.iter().enumerate() {
            if !shared.contains(&path_hash(batch, row, *hash)) {
                continue;
            }
            let (path, key) = (batch.keys.path(row), batch.keys.key(row));
            if keys.contains(&key) {
                let path = without_secrets(path);
                let message = format!("the checkpoint contains one logical file twice: {path}");
                return Err(Error::new(ErrorKind::CorruptLog, message));
            }
            if !paths.insert(key.path().to_owned()) {
                repeated.get_or_insert_with(|| without_secrets(path));
            }
            keys.insert(key);
        }
    }
    Ok(repeated)
}
