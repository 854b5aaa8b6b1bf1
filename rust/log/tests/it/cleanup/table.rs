//! The table that is cleaned up: checkpoints, checksums and compactions between its commits, and orphaned files.

use deltaic_protocol::Result;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::checksum_writer::ChecksumForm;
use deltaic_testkit::compaction_writer::CompactionForm;
use deltaic_testkit::maintenance::MaintenanceStep;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::{Value, json};

use super::observed::DAY_MS;

pub(crate) const LAYOUTS: [Layout; 5] = [
    Layout::Classic,
    Layout::MultiPart(3),
    Layout::ClassicV2(2),
    Layout::V2(CheckpointFormat::Json, 2),
    Layout::V2(CheckpointFormat::Parquet, 2),
];

/// Orphaned files: the temporary file of an aborted commit, a probe, and an unreferenced sidecar.
pub(crate) const LEFT_BEHIND: [&str; 3] = [
    ".00000000000000000007.json.3a0d65cd-4056-49b8-937b-95f9e0ee90e5.tmp",
    "_probe-3a0d65cd-4056-49b8-937b-95f9e0ee90e5",
    "_sidecars/orphan.parquet",
];

/// Ten commits, checkpoints at 2, 5 and 8, checksums, compactions, an orphaned sidecar and an aborted commit.
pub(crate) async fn table(layout: Layout, properties: &Value) -> Result<TableBuilder> {
    table_of(layout, properties, None).await
}

/// The same, optionally with another protocol in versions 1 and 2.
pub(crate) async fn table_of(
    layout: Layout,
    properties: &Value,
    old: Option<&Value>,
) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    for number in 0..10 {
        let actions = match (number, old) {
            (0, _) => first_actions(properties),
            (1, Some(old)) => vec![json!({ "protocol": old }), add("f2", None)],
            (3, Some(_)) => [
                first_actions(properties),
                vec![remove("f2", None), add("f3", None)],
            ]
            .concat(),
            (2, Some(_)) => vec![json!({"commitInfo": {"operation": "WRITE"}})],
            _ => vec![
                json!({"commitInfo": {"operation": "WRITE", "inCommitTimestamp": number * 10 * DAY_MS}}),
                add(&format!("f{number}"), None),
                remove(&format!("f{}", number - 1), None),
            ],
        };
        table.commit(actions).await?;
        table
            .maintain(&MaintenanceStep::Checksum(ChecksumForm::Minimal))
            .await?;
        match number {
            2 | 5 | 8 => {
                table
                    .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(layout)))
                    .await?
            }
            4 | 7 => {
                table
                    .maintain(&MaintenanceStep::Compaction(2, CompactionForm::Right))
                    .await?
            }
            _ => {}
        }
    }
    for name in LEFT_BEHIND {
        table
            .put(&format!("_delta_log/{name}"), b"left behind".to_vec())
            .await?;
    }
    Ok(table)
}

pub(crate) fn first_actions(properties: &Value) -> Vec<Value> {
    let mut first = TableBuilder::first_actions();
    let features = ["v2Checkpoint", "inCommitTimestamp", "checkpointProtection"];
    first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"], "writerFeatures": features}});
    first[1]["metaData"]["configuration"] = properties.clone();
    first.insert(
        0,
        json!({"commitInfo": {"operation": "CREATE TABLE", "inCommitTimestamp": 0}}),
    );
    first
}
