//! Finds live files by path.

use std::collections::HashMap;

use deltaic_log::Snapshot;
use deltaic_log::snapshot::{Pruning, WithStatistics};
use deltaic_protocol::actions::{Add, LogicalFileKey};
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::{Error, ErrorKind, Result};

/// Returns the live files at the given paths, in order, as replay provides them: without statistics and tags.
///
/// # Errors
///
/// `ValueError` with the first `path` that is not a live file.
pub(crate) async fn live_files(snapshot: &Snapshot, paths: &[String]) -> Result<Vec<Add>> {
    let mut wanted: HashMap<String, Option<Add>> = paths.iter().map(|path| (key(path), None)).collect();
    let (files, _) = snapshot.files(None).await?;
    for batch in &files.batches {
        let adds = &batch.adds;
        for row in 0..batch.len() {
            let Some(found) = wanted.get_mut(&key(adds.path.value(row))) else {
                continue;
            };
            *found = Some(Add {
                path: adds.path.value(row).to_owned(),
                partition_values: values_of_row(&adds.partition_values, row),
                size: adds.size.value(row),
                modification_time: adds.modification_time.value(row),
                deletion_vector: adds.descriptor(row),
                base_row_id: adds.base_row_id(row),
                default_row_commit_version: adds.default_row_commit_version(row),
                ..Add::default()
            });
        }
    }
    let taken = paths.iter().map(|path| {
        let found = wanted.get(&key(path)).cloned().flatten();
        found.ok_or_else(|| unknown(snapshot, path))
    });
    taken.collect()
}

/// Returns the paths of the live files that may have a row for which a predicate is true; of all without a predicate.
///
/// # Errors
///
/// `CorruptLog` if a file would be read twice, because the log spells its path in two ways.
pub(crate) async fn paths_that_may_match(
    snapshot: &Snapshot,
    predicate: Option<&BoundPredicate>,
) -> Result<Vec<String>> {
    let (files, _) = snapshot
        .prune(Pruning {
            predicate,
            statistics: WithStatistics::None,
        })
        .await?;
    snapshot.ensure_unique_files(&files)?;
    let paths = files
        .batches
        .iter()
        .flat_map(|batch| batch.adds.path.iter().flatten());
    Ok(paths.map(str::to_owned).collect())
}

/// The error for a path that is not a live file.
pub(crate) fn unknown(snapshot: &Snapshot, path: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("{path:?} is not a live file of version {}", snapshot.version()),
    )
    .with("path", path)
    .hint("give paths as the log has them: those of tx.files() or snapshot.files()")
}

/// Returns the normalized path, which is equal for all spellings of a path.
pub(crate) fn key(path: &str) -> String {
    LogicalFileKey::new(path, None).path().to_owned()
}
