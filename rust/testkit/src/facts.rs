//! Comparable actual and expected contents of a snapshot.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::{Pruning, WithStatistics};
use deltaic_protocol::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};

use crate::oracle::{LogicalFile, State, shortest};

/// A table at a version as described by the log, without statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The compared fields of the protocol.
    pub protocol: Value,
    /// The compared fields of the metadata.
    pub metadata: Value,
    /// The live files.
    pub files: BTreeMap<LogicalFile, FileFacts>,
    /// The tombstones: the path as written, and the deletion timestamp.
    pub tombstones: BTreeMap<LogicalFile, (String, Option<i64>)>,
    /// The newest version of each application, and its `lastUpdated`.
    pub txns: BTreeMap<String, (i64, Option<i64>)>,
    /// The configuration of each existing domain.
    pub domains: BTreeMap<String, String>,
}

/// The log's description of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// The path as written.
    pub path: String,
    /// Size in bytes.
    pub size: i64,
    /// Milliseconds since the epoch.
    pub modification_time: i64,
    /// Partition values by column, serialized.
    pub partition_values: BTreeMap<String, Option<String>>,
}

/// Statistics of a file for its column `id`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatisticsFacts {
    /// Number of rows.
    pub num_records: Option<i64>,
    /// Minimum of `id`.
    pub min: Option<i64>,
    /// Maximum of `id`.
    pub max: Option<i64>,
    /// Number of nulls.
    pub null_count: Option<i64>,
}

/// The live files of a snapshot: available once a table is open and listed.
pub async fn live_files(snapshot: &Snapshot) -> Result<BTreeMap<LogicalFile, FileFacts>> {
    let (files, _) = snapshot.files(None).await?;
    let files = files.to_batches()?;
    each_row(&files, file_facts)
}

/// The contents of a snapshot. Tests read snapshots only through this function.
pub async fn facts(snapshot: &Snapshot) -> Result<Facts> {
    let (_, tombstones) = snapshot.tombstones().await?;
    let as_json = |value: serde_json::Result<Value>| value.map_err(|error| wrong(&error.to_string()));
    Ok(Facts {
        protocol: protocol_facts(&as_json(serde_json::to_value(snapshot.protocol()))?),
        metadata: metadata_facts(&as_json(serde_json::to_value(snapshot.metadata()))?),
        files: live_files(snapshot).await?,
        tombstones: each_row(&tombstones, |batch, row| {
            Ok((
                text(batch, "path", row)?,
                number(batch, "deletion_timestamp", row)?,
            ))
        })?,
        txns: snapshot
            .txns()
            .iter()
            .map(|(app, txn)| (app.clone(), (txn.version, txn.last_updated)))
            .collect(),
        domains: snapshot
            .domains()
            .iter()
            .map(|(name, domain)| (name.clone(), domain.configuration.clone()))
            .collect(),
    })
}

/// The statistics of a snapshot's files.
pub async fn statistics_facts(snapshot: &Snapshot) -> Result<BTreeMap<LogicalFile, StatisticsFacts>> {
    let pruning = Pruning {
        statistics: WithStatistics::All,
        predicate: None,
    };
    let (files, _) = snapshot.prune(pruning).await?;
    let files = files.to_batches()?;
    each_row(&files, |batch, row| {
        let of_id = |column: &str| -> Result<Option<i64>> {
            let ids = batch
                .column_by_name(column)
                .and_then(|column| column.as_struct_opt());
            let ids = ids.and_then(|ids| Some((ids.is_valid(row), ids.column_by_name("id")?.clone())));
            let Some((true, ids)) = ids else { return Ok(None) };
            let ids = ids
                .as_primitive_opt::<Int64Type>()
                .ok_or_else(|| wrong(column))?
                .clone();
            Ok(ids.is_valid(row).then(|| ids.value(row)))
        };
        Ok(StatisticsFacts {
            num_records: number(batch, "num_records", row)?,
            min: of_id("min")?,
            max: of_id("max")?,
            null_count: of_id("null_count")?,
        })
    })
}

impl State {
    /// Expected contents of a snapshot of this state.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let long = |action: &Value, key: &str| action[key].as_i64();
        let path = |action: &Value| crate::oracle::text(action, "path");
        Facts {
            protocol: protocol_facts(self.protocol.as_ref().unwrap_or(&Value::Null)),
            metadata: metadata_facts(self.metadata.as_ref().unwrap_or(&Value::Null)),
            files: self
                .files
                .iter()
                .map(|(key, add)| {
                    let facts = FileFacts {
                        path: path(add),
                        size: long(add, "size").unwrap_or_default(),
                        modification_time: long(add, "modificationTime").unwrap_or_default(),
                        partition_values: partition_values(add),
                    };
                    (key.clone(), facts)
                })
                .collect(),
            tombstones: self
                .tombstones
                .iter()
                .map(|(key, remove)| (key.clone(), (path(remove), long(remove, "deletionTimestamp"))))
                .collect(),
            txns: self
                .txns
                .iter()
                .map(|(app, txn)| {
                    let version = long(txn, "version").unwrap_or_default();
                    (app.clone(), (version, long(txn, "lastUpdated")))
                })
                .collect(),
            domains: self
                .live_domains()
                .map(|(name, domain)| (name.clone(), crate::oracle::text(domain, "configuration")))
                .collect(),
        }
    }

    /// Expected statistics of this state's files, as far as the log retains them.
    #[must_use]
    pub fn statistics_facts(&self) -> BTreeMap<LogicalFile, StatisticsFacts> {
        let of = |add: &Value| {
            let stats: Value =
                serde_json::from_str(add["stats"].as_str().unwrap_or("null")).unwrap_or_default();
            StatisticsFacts {
                num_records: stats["numRecords"].as_i64(),
                min: stats["minValues"]["id"].as_i64(),
                max: stats["maxValues"]["id"].as_i64(),
                null_count: stats["nullCount"]["id"].as_i64(),
            }
        };
        self.files
            .iter()
            .map(|(key, add)| (key.clone(), of(add)))
            .collect()
    }
}

/// An empty string as partition value is null.
fn partition_values(add: &Value) -> BTreeMap<String, Option<String>> {
    let values = add["partitionValues"].as_object().cloned().unwrap_or_default();
    let text = |value: Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    values
        .into_iter()
        .map(|(name, value)| (name, text(value)))
        .collect()
}

fn protocol_facts(protocol: &Value) -> Value {
    let sorted = |key: &str| {
        let mut names: Vec<String> = serde_json::from_value(protocol[key].clone()).unwrap_or_default();
        names.sort();
        names
    };
    json!({
        "versions": [protocol["minReaderVersion"], protocol["minWriterVersion"]],
        "features": [sorted("readerFeatures"), sorted("writerFeatures")],
    })
}

fn metadata_facts(metadata: &Value) -> Value {
    let keys = [
        "id",
        "name",
        "description",
        "schemaString",
        "partitionColumns",
        "configuration",
        "createdTime",
    ];
    let there = keys.iter().filter(|key| !metadata[**key].is_null());
    Value::Object(
        there
            .map(|key| ((*key).to_owned(), metadata[*key].clone()))
            .collect::<Map<_, _>>(),
    )
}

fn file_facts(batch: &RecordBatch, row: usize) -> Result<FileFacts> {
    let mut partition_values = BTreeMap::new();
    if let Some(values) = batch.column_by_name("partition_values") {
        let values = values.as_struct_opt().ok_or_else(|| wrong("partition_values"))?;
        for (field, column) in values.fields().iter().zip(values.columns()) {
            let column = column.as_string_opt::<i32>().ok_or_else(|| wrong(field.name()))?;
            let value = column.is_valid(row).then(|| column.value(row).to_owned());
            partition_values.insert(field.name().clone(), value);
        }
    }
    Ok(FileFacts {
        path: text(batch, "path", row)?,
        size: number(batch, "size", row)?.unwrap_or_default(),
        modification_time: number(batch, "modification_time", row)?.unwrap_or_default(),
        partition_values,
    })
}

/// The facts of each row by key; a duplicate key, which a map would hide, is an error.
fn each_row<T>(
    batches: &[RecordBatch],
    facts: impl Fn(&RecordBatch, usize) -> Result<T>,
) -> Result<BTreeMap<LogicalFile, T>> {
    let mut all = BTreeMap::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let key = (shortest(&text(batch, "path", row)?), vector_id(batch, row)?);
            if all.insert(key.clone(), facts(batch, row)?).is_some() {
                return Err(wrong(&format!("{key:?} is listed twice")));
            }
        }
    }
    Ok(all)
}

fn vector_id(batch: &RecordBatch, row: usize) -> Result<Option<String>> {
    let vectors = batch
        .column_by_name("deletion_vector")
        .and_then(|column| column.as_struct_opt());
    let vectors = vectors.ok_or_else(|| wrong("deletion_vector"))?;
    if !vectors.is_valid(row) {
        return Ok(None);
    }
    let part = |name: &str| {
        let texts = vectors
            .column_by_name(name)
            .and_then(|column| column.as_string_opt::<i32>());
        texts
            .map(|texts| texts.value(row).to_owned())
            .ok_or_else(|| wrong(name))
    };
    let offsets = vectors
        .column_by_name("offset")
        .and_then(|column| column.as_primitive_opt::<Int32Type>());
    let offsets = offsets.ok_or_else(|| wrong("offset"))?;
    let offset = match offsets.is_valid(row) {
        true => format!("@{}", offsets.value(row)),
        false => String::new(),
    };
    Ok(Some(format!(
        "{}{}{offset}",
        part("storage_type")?,
        part("path_or_inline_dv")?
    )))
}

fn text(batch: &RecordBatch, name: &str, row: usize) -> Result<String> {
    let column = batch
        .column_by_name(name)
        .and_then(|column| column.as_string_opt::<i32>());
    Ok(column.ok_or_else(|| wrong(name))?.value(row).to_owned())
}

fn number(batch: &RecordBatch, name: &str, row: usize) -> Result<Option<i64>> {
    let column = batch
        .column_by_name(name)
        .and_then(|column| column.as_primitive_opt::<Int64Type>());
    let column = column.ok_or_else(|| wrong(name))?;
    Ok(column.is_valid(row).then(|| column.value(row)))
}

fn wrong(what: &str) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("a snapshot has an unexpected structure: {what}"),
    )
}
