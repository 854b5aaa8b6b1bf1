//! Actions that a checkpoint omits: expired ones, and ones that a later commit overrides.

use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_protocol::Result;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_testkit::checkpoint_reader::columns_of;
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::maintenance::{LastCommit, MaintenanceStep};
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::json;

use super::actions::{actions, first, named, names, one_column, v2};

/// protocol: add-file-and-remove-file.2, checkpoints.10
#[tokio::test]
async fn expired_actions_are_left_out() -> Result<()> {
    let properties = json!({"delta.deletedFileRetentionDuration": "interval 1 seconds",
        "delta.setTransactionRetentionDuration": "interval 2 seconds"});
    let gone = |path: &str, at: Option<i64>| {
        let mut gone = remove(path, None);
        gone["remove"]["deletionTimestamp"] = json!(at);
        gone
    };
    let txn = |app: &str, at: Option<i64>| json!({"txn": {"appId": app, "version": 1, "lastUpdated": at}});
    let commits = [
        first(one_column(), &[], properties, &[]),
        vec![
            gone("early", Some(8_999)),
            gone("late", Some(9_000)),
            gone("timeless", None),
            txn("early", Some(7_999)),
            txn("late", Some(8_000)),
            txn("timeless", None),
            add("file", None),
        ],
        vec![
            gone("of another commit", Some(8_000)),
            gone("newest", Some(20_000)),
        ],
    ];
    let table = TableBuilder::of(&commits).await?;
    for (version, now_ms, removes, txns) in [
        (1, 10_000, &["late"][..], &["late", "timeless"][..]),
        (
            1,
            0,
            &["early", "late", "timeless"],
            &["early", "late", "timeless"],
        ),
        // From a checkpoint that contains them, and the commits after it.
        (2, 10_001, &["newest"], &["timeless"]),
    ] {
        let snapshot = table.open_at(version).await?;
        let options = CheckpointOptions {
            now_ms: Some(now_ms),
            ..CheckpointOptions::default()
        };
        let written = write_checkpoint(&snapshot, &options).await?;
        assert_eq!(
            names(&actions(&table, &written, "remove").await?, "path"),
            removes
        );
        assert_eq!(names(&actions(&table, &written, "txn").await?, "appId"), txns);
        if version == 1 && now_ms == 10_000 {
            table.delete(&written.path).await?;
        }
    }
    Ok(())
}

/// A re-added file is not a tombstone, even if its tombstone is in a JSON top level.
///
/// protocol: action-reconciliation.1
#[tokio::test]
async fn a_file_added_again_is_no_tombstone() -> Result<()> {
    for format in [CheckpointFormat::Json, CheckpointFormat::Parquet] {
        let gone = vec![remove("back", None), remove("gone", None)];
        let mut table = TableBuilder::of(&[v2(&json!({})), gone]).await?;
        let form = CheckpointForm::of(Layout::V2(format, 0));
        table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
        table
            .maintain(&MaintenanceStep::CleanUp(LastCommit::Deleted))
            .await?;
        table.commit(named(1)).await?;
        table.commit(vec![add("back", None)]).await?;
        let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
        assert_eq!(
            names(&actions(&table, &written, "add").await?, "path"),
            ["back", "f0"]
        );
        assert_eq!(
            names(&actions(&table, &written, "remove").await?, "path"),
            ["gone"]
        );
    }
    Ok(())
}

/// Actions of a large row group, read in many batches, are selected individually.
#[tokio::test]
async fn only_the_selected_rows_of_a_large_row_group_are_read() -> Result<()> {
    const FILES: usize = 70_000;
    let mut table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), named(FILES)]).await?;
    let form = CheckpointForm::of(Layout::Classic);
    table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
    table
        .maintain(&MaintenanceStep::CleanUp(LastCommit::Deleted))
        .await?;
    let gone = [3, 4_095, 4_096, 8_191, 65_535, 65_536, 69_999];
    let removes = gone.iter().map(|number| remove(&format!("f{number}"), None));
    table.commit(removes.collect()).await?;
    let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    let mut expected: Vec<String> = (0..FILES)
        .filter(|number| !gone.contains(number))
        .map(|number| format!("f{number}"))
        .collect();
    expected.sort();
    assert_eq!(names(&actions(&table, &written, "add").await?, "path"), expected);
    assert_eq!(actions(&table, &written, "remove").await?.len(), gone.len());
    Ok(())
}

/// Omitted both as actions and as columns, in both specs.
///
/// protocol: checkpoints.12
#[tokio::test]
async fn provenance_and_change_data_are_left_out() -> Result<()> {
    let cdc =
        json!({"cdc": {"path": "_change_data/c", "partitionValues": {}, "size": 1, "dataChange": false}});
    let info = json!({"commitInfo": {"operation": "UPDATE", "timestamp": 1}});
    for first in [first(one_column(), &[], json!({}), &[]), v2(&json!({}))] {
        let table = TableBuilder::of(&[first, vec![info.clone(), cdc.clone(), add("f", None)]]).await?;
        let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
        assert_eq!(actions(&table, &written, "add").await?.len(), 1);
        for relative in std::iter::once(&written.path).chain(&written.sidecars) {
            let columns = columns_of(&table.read(relative).await?)?;
            let left_out = |column: &&String| column.starts_with("commitInfo") || column.starts_with("cdc");
            assert_eq!(columns.iter().find(left_out), None, "{relative}");
        }
    }
    Ok(())
}
