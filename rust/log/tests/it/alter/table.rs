//! The table that is changed: one column `id`, files, and their statistics.

use deltaic_log::Snapshot;
use deltaic_protocol::Result;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

/// A table of one column, `id`, with writer features and properties.
pub(crate) async fn table(features: &[&str], properties: Value) -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    let mut actions = TableBuilder::first_actions();
    for action in &mut actions {
        if action.get("metaData").is_some() {
            action["metaData"]["configuration"] = properties.clone();
        } else if !features.is_empty() {
            action["protocol"] =
                json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features});
        }
    }
    table.commit(actions).await?;
    let snapshot = table.open().await?;
    Ok((table, snapshot))
}

/// A file with this number of rows, optionally with bounds of `id`.
pub(crate) fn file(path: &str, rows: i64, bounds: bool) -> Value {
    let mut stats = json!({"numRecords": rows});
    if bounds {
        stats["minValues"] = json!({"id": 1});
        stats["maxValues"] = json!({"id": rows});
        stats["nullCount"] = json!({"id": 0});
    }
    let mut action = add(path, None);
    action["add"]["stats"] = json!(stats.to_string());
    action["add"]["tags"] = json!({"k": "v"});
    action
}

pub(crate) fn kinds(actions: &[Value]) -> Vec<&str> {
    let objects = actions.iter().filter_map(Value::as_object);
    objects
        .flat_map(|object| object.keys().map(String::as_str))
        .collect()
}

/// The metadata of a winning commit, with other properties.
pub(crate) fn their_metadata(properties: Value) -> Value {
    let mut actions = TableBuilder::first_actions();
    let mut metadata = actions.remove(1);
    metadata["metaData"]["configuration"] = properties;
    metadata
}
