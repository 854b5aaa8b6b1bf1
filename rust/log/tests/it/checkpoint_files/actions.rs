//! Actions of tables with given columns, properties and features, and the actions in their checkpoints.

use deltaic_log::checkpoint::CheckpointWritten;
use deltaic_protocol::Result;
use deltaic_testkit::checkpoint_reader::actions_of;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

/// A table with these columns, partition columns, properties and features.
pub(crate) fn first(
    fields: Value,
    partition_columns: &[&str],
    properties: Value,
    features: &[&str],
) -> Vec<Value> {
    let schema = json!({"type": "struct", "fields": fields}).to_string();
    let protocol = match features {
        [] => json!({"minReaderVersion": 1, "minWriterVersion": 2}),
        _ => json!({"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features,
            "writerFeatures": features}),
    };
    vec![
        json!({"protocol": protocol}),
        json!({"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}}, "schemaString": schema,
            "partitionColumns": partition_columns, "configuration": properties}}),
    ]
}

pub(crate) fn field(name: &str, data_type: &str) -> Value {
    json!({"name": name, "type": data_type, "nullable": true, "metadata": {}})
}

pub(crate) fn one_column() -> Value {
    json!([field("id", "long")])
}

pub(crate) fn v2(properties: &Value) -> Vec<Value> {
    let mut properties = properties.clone();
    properties["delta.checkpointPolicy"] = json!("v2");
    first(one_column(), &[], properties, &["v2Checkpoint"])
}

pub(crate) fn named(count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| add(&format!("f{number}"), None))
        .collect()
}

/// The actions of one kind in the files of a checkpoint.
pub(crate) async fn actions(
    table: &TableBuilder,
    written: &CheckpointWritten,
    kind: &str,
) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for relative in std::iter::once(&written.path).chain(&written.sidecars) {
        let all = actions_of(&table.read(relative).await?)?;
        found.extend(all.iter().filter_map(|action| action.get(kind)).cloned());
    }
    Ok(found)
}

pub(crate) fn names(actions: &[Value], key: &str) -> Vec<String> {
    let mut names: Vec<String> = actions
        .iter()
        .map(|action| action[key].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names
}
