//! What a snapshot says, in the words of the model.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int64Array, RecordBatch};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::{FilesBatch, Pruning, WithStatistics};
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::row_tracking;

use super::model::{File, State};
use super::wish::PARTITION;

/// How closely a snapshot is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// What is known once it is opened.
    Short,
    /// Besides what it leaves where it lies until it is asked: how many rows files have, and what is gone.
    Whole,
}

/// The table that a snapshot tells of.
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
            assert!(
                files.insert(path, file(batch, row)?).is_none(),
                "a path is live twice"
            );
        }
    }
    assert_eq!(snapshot.num_files(), files.len());
    let mut gone = BTreeSet::new();
    let tombstones = match look {
        Look::Short => Vec::new(),
        Look::Whole => snapshot.tombstones().await?.1,
    };
    for batch in &tombstones {
        for row in 0..batch.num_rows() {
            assert!(gone.insert(tombstone(batch, row)?), "a file is gone twice");
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
    Ok(State {
        files,
        gone,
        columns: snapshot.schema().names().map(str::to_owned).collect(),
        properties: properties
            .map(|(key, value)| (key.clone(), value.clone().unwrap_or_default()))
            .collect(),
        apps: apps.map(|(id, txn)| (id.clone(), txn.version)).collect(),
        domains,
        mark,
    })
}

fn file(batch: &FilesBatch, row: usize) -> Result<File> {
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
        deleted: rows_of(vector.as_ref())?,
        numbered: adds.base_row_id(row).zip(adds.default_row_commit_version(row)),
    })
}

/// The rows that a vector in the log deletes.
fn rows_of(vector: Option<&Descriptor>) -> Result<BTreeSet<u64>> {
    let bitmap = vector.map(Descriptor::decode_inline).transpose()?.flatten();
    Ok(bitmap.map(|bitmap| bitmap.iter().collect()).unwrap_or_default())
}

fn tombstone(batch: &RecordBatch, row: usize) -> Result<(String, BTreeSet<u64>)> {
    let column = |name: &str| batch.column_by_name(name).expect("a column of removes");
    let path = column("path").as_string::<i32>().value(row).to_owned();
    let vectors = column("deletion_vector").as_struct();
    if vectors.is_null(row) {
        return Ok((path, BTreeSet::new()));
    }
    let part = |name: &str| vectors.column_by_name(name).expect("a field of vectors");
    let text = |name: &str| part(name).as_string::<i32>().value(row).to_owned();
    let descriptor = Descriptor {
        storage_type: text("storage_type"),
        path_or_inline_dv: text("path_or_inline_dv"),
        offset: None,
        size_in_bytes: part("size_in_bytes").as_primitive::<Int32Type>().value(row),
        cardinality: part("cardinality").as_primitive::<Int64Type>().value(row),
    };
    Ok((path, rows_of(Some(&descriptor))?))
}
