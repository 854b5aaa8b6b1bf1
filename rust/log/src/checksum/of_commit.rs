//! Computes the checksum of a committed version from the previous checksum.

use std::collections::{HashMap, HashSet};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use deltaic_protocol::Result;
use deltaic_protocol::actions::columns::AddColumns;
use deltaic_protocol::actions::{CommitInfo, LogicalFileKey};
use deltaic_protocol::checksum::{Before, CommitSummary, FileChange, FileCount, VersionChecksum};

use crate::decode::FileBatch;
use crate::decode::commits::DecodedCommit;
use crate::snapshot::Snapshot;

/// The known files of the version before a commit.
#[derive(Clone, Copy, Debug)]
pub enum FilesBefore<'a> {
    /// None, so the checksum of a commit with file actions cannot be computed.
    Unknown,
    /// The commit is from our own transaction: its adds have unused names, and its removes are of live files
    /// and contain their sizes.
    OwnCommit,
    /// The snapshot of the version.
    Snapshot(&'a Snapshot),
}

/// Computes the checksum of a committed version from the checksum of the previous version; `None`
/// if it cannot be computed exactly. `now_ms` is the time in milliseconds since the epoch at which the
/// expiration of transaction identifiers is evaluated.
///
/// # Errors
///
/// `CorruptLog` if the commit's columns are invalid.
pub fn checksum_after(
    previous: &VersionChecksum,
    commit: &DecodedCommit,
    before: FilesBefore<'_>,
    now_ms: i64,
) -> Result<Option<VersionChecksum>> {
    let known = match before {
        FilesBefore::Snapshot(snapshot) => live_before(snapshot, commit)?,
        FilesBefore::Unknown | FilesBefore::OwnCommit => HashMap::new(),
    };
    let mut files = Vec::new();
    for batch in &commit.adds {
        let columns = AddColumns::of(&batch.batch)?;
        for row in 0..batch.len() {
            let after = FileCount {
                size: columns.size.value(row),
                deleted_records: columns.cardinality(row),
            };
            files.push(FileChange {
                before: match before {
                    FilesBefore::Unknown => Before::Unknown,
                    FilesBefore::OwnCommit => Before::Absent,
                    FilesBefore::Snapshot(_) => known_before(&known, batch.keys.key(row)),
                },
                after: Some(after),
            });
        }
    }
    for batch in &commit.removes {
        for row in 0..batch.len() {
            files.push(FileChange {
                before: match before {
                    FilesBefore::Unknown => Before::Unknown,
                    FilesBefore::OwnCommit => {
                        removed(&batch.batch, row).map_or(Before::Unknown, Before::Live)
                    }
                    FilesBefore::Snapshot(_) => known_before(&known, batch.keys.key(row)),
                },
                after: None,
            });
        }
    }
    let table = &commit.table;
    let info: CommitInfo = table
        .commit_info
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let summary = CommitSummary {
        txn_id: info.txn_id.as_deref(),
        in_commit_timestamp: info.in_commit_timestamp,
        protocol: table.protocol.as_ref(),
        metadata: table.metadata.as_ref(),
        txns: &table.txns,
        domains: &table.domains,
        files: &files,
    };
    Ok(previous.after(&summary, now_ms))
}

/// An owned copy of a logical file key.
type OwnedKey = (String, Option<(String, String, Option<i32>)>);

fn owned(key: &LogicalFileKey<'_>) -> OwnedKey {
    let vector = key.deletion_vector();
    let vector = vector.map(|(kind, text, offset)| (kind.to_owned(), text.to_owned(), offset));
    (key.path().to_owned(), vector)
}

fn known_before(known: &HashMap<OwnedKey, FileCount>, key: LogicalFileKey<'_>) -> Before {
    known
        .get(&owned(&key))
        .map_or(Before::Absent, |file| Before::Live(*file))
}

/// Returns the live files of a snapshot that a commit may affect.
fn live_before(snapshot: &Snapshot, commit: &DecodedCommit) -> Result<HashMap<OwnedKey, FileCount>> {
    let batches = || commit.adds.iter().chain(&commit.removes);
    let of_batch = |batch: &std::sync::Arc<FileBatch>| batch.hashes.clone();
    let hashes: HashSet<u32> = batches().flat_map(of_batch).collect();
    let mut known = HashMap::new();
    snapshot.for_live_files(&hashes, &mut |key, file| {
        known.insert(owned(&key), file);
    })?;
    Ok(known)
}

/// Returns the file that a remove deletes, if the remove contains its size.
fn removed(batch: &RecordBatch, row: usize) -> Option<FileCount> {
    let sizes = batch.column_by_name("size")?.as_primitive_opt::<Int64Type>()?;
    let vectors = batch.column_by_name("deletion_vector")?.as_struct_opt()?;
    let deleted_records = if vectors.is_valid(row) {
        let counts = vectors
            .column_by_name("cardinality")?
            .as_primitive_opt::<Int64Type>()?;
        Some(counts.value(row))
    } else {
        None
    };
    sizes.is_valid(row).then(|| FileCount {
        size: sizes.value(row),
        deleted_records,
    })
}
