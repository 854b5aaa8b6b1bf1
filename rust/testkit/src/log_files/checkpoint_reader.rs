//! Contents of a checkpoint file as read by the `parquet` crate, and the expected contents according to the oracle.
//!
//! Protocol: *Checkpoint Schema*.

use std::collections::BTreeMap;

use arrow_json::WriterBuilder;
use arrow_json::writer::LineDelimited;
use bytes::Bytes;
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

use crate::oracle::State;

/// Fields that are maps in the log: null map entries are values, null struct fields are absent.
const MAPS: [&str; 4] = ["partitionValues", "tags", "configuration", "options"];

/// The actions of a Parquet file of actions, wrapped by action name, in file order. Absent fields and empty maps are
/// omitted.
pub fn actions_of(file: &[u8]) -> Result<Vec<Value>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(file)).map_err(failed)?;
    let mut lines = Vec::new();
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, LineDelimited>(&mut lines);
    for batch in builder.build().map_err(failed)? {
        writer.write(&batch.map_err(failed)?).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    drop(writer);
    let text = String::from_utf8(lines).map_err(failed)?;
    let rows = text.lines().map(serde_json::from_str::<Value>);
    rows.map(|row| row.map(|row| without_absent(&row, false)).map_err(failed))
        .collect()
}

/// The column paths of a Parquet file of actions, dot-separated.
pub fn columns_of(file: &[u8]) -> Result<Vec<String>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(file)).map_err(failed)?;
    let columns = builder.parquet_schema().columns();
    Ok(columns.iter().map(|column| column.path().string()).collect())
}

impl State {
    /// Expected actions of a checkpoint of this state with all fields, unordered, without `stats_parsed`,
    /// `partitionValues_parsed` and V2-only actions.
    #[must_use]
    pub fn checkpointed(&self) -> Vec<Value> {
        let mut actions = self.actions();
        actions.retain(|action| action["domainMetadata"]["removed"] != Value::Bool(true));
        actions.iter().map(checkpointed).collect()
    }
}

/// An action as expected in a checkpoint.
fn checkpointed(action: &Value) -> Value {
    let mut action = action.clone();
    for (kind, gone) in [
        ("add", &["fromTheFuture"][..]),
        ("remove", &["fromTheFuture", "stats", "tags"][..]),
    ] {
        if let Some(members) = action.get_mut(kind).and_then(Value::as_object_mut) {
            members.retain(|name, _| !gone.contains(&name.as_str()));
            members.insert("dataChange".to_owned(), Value::Bool(false));
        }
    }
    without_absent(&action, false)
}

/// A value without absent fields.
fn without_absent(value: &Value, is_map: bool) -> Value {
    let Value::Object(members) = value else {
        return value.clone();
    };
    let kept = members
        .iter()
        .filter(|(_, value)| is_map || !value.is_null())
        .map(|(name, value)| {
            let value = match is_map {
                true => value.clone(),
                false => without_absent(value, MAPS.contains(&name.as_str())),
            };
            (name.clone(), value)
        })
        .filter(|(_, value)| is_map || value.as_object().is_none_or(|members| !members.is_empty()));
    // Sorted, so that equal values serialize equally.
    let kept: BTreeMap<String, Value> = kept.collect();
    Value::Object(kept.into_iter().collect::<Map<_, _>>())
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the written file is not a checkpoint: {error}"),
    )
}
