//! A table with V2 checkpoints, and its checkpoints.

use deltaic_log::checkpoint::{CheckpointOptions, CheckpointWritten, write_checkpoint};
use deltaic_protocol::Result;
use deltaic_testkit::checkpoint_reader::actions_of;
use deltaic_testkit::facts::facts;
use deltaic_testkit::oracle::replay;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

/// The first commit of a table with V2 checkpoints and these properties.
pub(crate) fn first(properties: &Value) -> Vec<Value> {
    let mut actions = TableBuilder::first_actions();
    actions[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}});
    actions[1]["metaData"]["configuration"] = properties.clone();
    actions[1]["metaData"]["configuration"]["delta.checkpointPolicy"] = json!("v2");
    actions
}

/// Adds of files whose names begin with `name`.
pub(crate) fn adds(name: &str, count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| add(&format!("{name}{number}"), None))
        .collect()
}

/// Options with at most this number of actions in a sidecar.
pub(crate) fn options(sidecar_actions: usize) -> CheckpointOptions {
    CheckpointOptions {
        sidecar_actions,
        ..CheckpointOptions::default()
    }
}

/// Opens the table and writes a checkpoint.
pub(crate) async fn checkpoint(table: &TableBuilder, sidecar_actions: usize) -> Result<CheckpointWritten> {
    let made = write_checkpoint(&table.open().await?, &options(sidecar_actions)).await?;
    assert!(made.is_new, "{made:?}");
    Ok(made)
}

/// The paths in a sidecar, in order.
pub(crate) async fn paths_of(table: &TableBuilder, sidecar: &str) -> Result<Vec<String>> {
    let actions = actions_of(&table.read(sidecar).await?)?;
    let of_action = |action: &Value| {
        let file = action.get("add").or(action.get("remove"));
        file.and_then(|file| file["path"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    Ok(actions.iter().map(of_action).collect())
}

/// Whether a list begins with the elements of another.
pub(crate) fn is_prefix(start: &[String], of: &[String]) -> bool {
    of.get(..start.len()) == Some(start)
}

/// Without the commits, the newest checkpoint gives the table.
pub(crate) async fn assert_alone(table: &TableBuilder) -> Result<()> {
    let newest = table.commits().len() - 1;
    for version in 0..=newest {
        table.delete(&format!("_delta_log/{version:020}.json")).await?;
    }
    let alone = table.open().await?;
    assert_eq!(facts(&alone).await?, replay(table.commits()).facts());
    assert_eq!(alone.warnings(), [""; 0]);
    Ok(())
}
