//! Converts a snapshot to the model's state.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int64Array, RecordBatch};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::{FilesBatch, Pruning, WithStatistics};
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::row_tracking;

use super::model::{File, State};
use super::planned_commit::PARTITION;
use super::vectors::rows_of;

/// The features that the model covers, with the properties that enable them.
pub(crate) const TURNED_ON_BY: [(&str, &str, &str); 4] = [
    ("delta.columnMapping.mode", "name", "columnMapping"),
    ("delta.enableTypeWidening", "true", "typeWidening"),
    ("delta.enableInCommitTimestamps", "true", "inCommitTimestamp"),
    ("delta.enableDeletionVectors", "true", "deletionVectors"),
];

/// The version that enabled in-commit timestamps, as a property.
const TIMES_SINCE: &str = "delta.inCommitTimestampEnablementVersion";

/// Properties that the library sets itself.
const OWN: [&str; 4] = [
    TIMES_SINCE,
    "delta.inCommitTimestampEnablementTimestamp",
    "delta.columnMapping.maxColumnId",
    "delta.requireCheckpointProtectionBeforeVersion",
];

/// The features that properties enable.
pub(crate) fn features_of(properties: &BTreeMap<String, String>) -> impl Iterator<Item = &'static str> {
    let turned_on = TURNED_ON_BY.into_iter();
    turned_on
        .filter(|(key, value, _)| properties.get(*key).is_some_and(|is| is == value))
        .map(|(.., feature)| feature)
}

/// How much of a snapshot is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// What is known once it is opened.
    Short,
    /// Additionally what is read lazily: row counts of files, and tombstones.
    Whole,
}

/// The state of a snapshot's table.
pub(crate) async fn seen(snapshot: &Snapshot, look: Look) -> Result<State> {
    let statistics = match look {
        Look::Short => WithStatistics::None,
        Look::Whole => WithStatistics::NumRecords,
    };
    let pruning = Pruning {
        statistics,
        predicate: None,
    };
    let (found, _) = snapshot.prune(pruning).await?;
    let mut files = BTreeMap::new();
    for batch in &found.batches {
        for row in 0..batch.len() {
            let path = batch.adds.path.value(row).to_owned();
            let file = file(snapshot, batch, row).await?;
            assert!(files.insert(path, file).is_none(), "a path is live twice");
        }
    }
    assert_eq!(snapshot.num_files(), files.len());
    let mut gone = BTreeMap::new();
    let tombstones = match look {
        Look::Short => Vec::new(),
        Look::Whole => snapshot.tombstones().await?.1,
    };
    for batch in &tombstones {
        for row in 0..batch.num_rows() {
            let (path, rows, removed_ms) = tombstone(snapshot, batch, row).await?;
            let before = gone.insert((path, rows), removed_ms);
            assert!(before.is_none(), "a file is gone twice");
        }
    }
    let metadata = snapshot.metadata();
    let mut domains: BTreeMap<String, String> = BTreeMap::new();
    let mut mark = None;
    for (name, domain) in snapshot.domains() {
        if name == row_tracking::DOMAIN {
            mark = row_tracking::high_water_mark(domain)?;
        } else {
            domains.insert(name.clone(), domain.configuration.clone());
        }
    }
    let apps = snapshot.txns().iter();
    let properties = metadata.configuration.iter();
    let properties = properties.filter(|(key, _)| {
        let is_numbered = key.starts_with("delta.rowTracking.materialized");
        !is_numbered && !OWN.contains(&key.as_str())
    });
    let fields = snapshot.schema().fields.iter();
    let features = TURNED_ON_BY.into_iter().map(|(.., feature)| feature);
    Ok(State {
        files,
        gone,
        columns: fields
            .map(|field| (field.name.clone(), field.data_type.to_string()))
            .collect(),
        partition_column: metadata.partition_columns.first().cloned(),
        properties: properties
            .map(|(key, value)| (key.clone(), value.clone().unwrap_or_default()))
            .collect(),
        features: features
            .filter(|feature| supports_for_writers(snapshot.protocol(), feature))
            .collect(),
        times_since: metadata
            .property(TIMES_SINCE)
            .and_then(|version| version.parse().ok()),
        apps: apps.map(|(id, txn)| (id.clone(), txn.version)).collect(),
        domains,
        mark,
    })
}

async fn file(snapshot: &Snapshot, batch: &FilesBatch, row: usize) -> Result<File> {
    let adds = &batch.adds;
    let records = batch.statistics.as_ref();
    let records = records.and_then(|known| known.num_records.as_any().downcast_ref::<Int64Array>());
    let rows = records.and_then(|records| records.is_valid(row).then(|| records.value(row)));
    let vector = adds.descriptor(row);
    let texts = values_of_row(&adds.partition_values, row);
    let value = texts.into_iter().find(|(name, _)| *name == PARTITION);
    Ok(File {
        size: adds.size.value(row),
        rows: rows.map(|rows| u64::try_from(rows).unwrap_or(u64::MAX)),
        partition: value.and_then(|(_, value)| value),
        deleted: rows_of(snapshot.location(), vector.as_ref()).await?,
        numbered: adds.base_row_id(row).zip(adds.default_row_commit_version(row)),
    })
}

/// The path of a tombstone, the rows that its vector had deleted, and its deletion timestamp.
async fn tombstone(
    snapshot: &Snapshot,
    batch: &RecordBatch,
    row: usize,
) -> Result<(String, BTreeSet<u64>, i64)> {
    let column = |name: &str| batch.column_by_name(name).expect("a column of removes");
    let path = column("path").as_string::<i32>().value(row).to_owned();
    let removed_ms = column("deletion_timestamp")
        .as_primitive::<Int64Type>()
        .value(row);
    let vectors = column("deletion_vector").as_struct();
    if vectors.is_null(row) {
        return Ok((path, BTreeSet::new(), removed_ms));
    }
    let part = |name: &str| vectors.column_by_name(name).expect("a field of vectors");
    let text = |name: &str| part(name).as_string::<i32>().value(row).to_owned();
    let offset = part("offset").as_primitive::<Int32Type>();
    let descriptor = Descriptor {
        storage_type: text("storage_type"),
        path_or_inline_dv: text("path_or_inline_dv"),
        offset: offset.is_valid(row).then(|| offset.value(row)),
        size_in_bytes: part("size_in_bytes").as_primitive::<Int32Type>().value(row),
        cardinality: part("cardinality").as_primitive::<Int64Type>().value(row),
    };
    let rows = rows_of(snapshot.location(), Some(&descriptor)).await?;
    Ok((path, rows, removed_ms))
}
