//! Sidecars that are written again: other columns, other writers, or a checkpoint that may be deleted.

use deltaic_log::checkpoint::write_checkpoint;
use deltaic_protocol::Result;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_storage::clock::now_ms;
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::maintenance::MaintenanceStep;
use deltaic_testkit::table_builder::TableBuilder;
use serde_json::{Value, json};

use super::table::{adds, assert_alone, checkpoint, first, options};

const DAY_MS: i64 = 86_400_000;

/// The metadata after a change.
fn metadata(properties: &Value, columns: &[(&str, &str)]) -> Value {
    let fields: Vec<Value> = columns
        .iter()
        .map(|(name, kind)| json!({"name": name, "type": kind, "nullable": true, "metadata": {}}))
        .collect();
    let mut metadata = first(properties).remove(1);
    metadata["metaData"]["schemaString"] = json!({"type": "struct", "fields": fields}).to_string().into();
    metadata
}

/// A change of the columns of statistics, by the schema or by a property, needs other sidecars; other changes do not.
#[tokio::test]
async fn sidecars_with_other_columns_are_written_again() -> Result<()> {
    let id = [("id", "long")];
    for (change, reused) in [
        (metadata(&json!({}), &[("id", "long"), ("more", "long")]), 0),
        (
            metadata(&json!({"delta.checkpoint.writeStatsAsStruct": "false"}), &id),
            0,
        ),
        (
            metadata(&json!({"delta.checkpoint.writeStatsAsJson": "false"}), &id),
            0,
        ),
        (
            metadata(&json!({"delta.dataSkippingNumIndexedCols": "0"}), &id),
            0,
        ),
        (metadata(&json!({"delta.appendOnly": "true"}), &id), 2),
        (metadata(&json!({}), &id), 2),
    ] {
        let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 20)]).await?;
        checkpoint(&table, 10).await?;
        table.commit(vec![change.clone()]).await?;
        let two = checkpoint(&table, 10).await?;
        assert_eq!((two.reused_sidecars, two.sidecars.len()), (reused, 2), "{change}");
        assert_alone(&table).await?;
    }
    Ok(())
}

/// A smaller limit of actions is respected.
#[tokio::test]
async fn sidecars_with_too_many_actions_are_written_again() -> Result<()> {
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 20)]).await?;
    checkpoint(&table, 10).await?;
    table.commit(adds("b", 1)).await?;
    let two = checkpoint(&table, 9).await?;
    assert_eq!((two.reused_sidecars, two.sidecars.len()), (0, 3));
    assert_alone(&table).await
}

/// Sidecars of other writers are written again once.
#[tokio::test]
async fn sidecars_of_another_writer_are_written_again() -> Result<()> {
    for layout in [
        Layout::V2(CheckpointFormat::Parquet, 2),
        Layout::V2(CheckpointFormat::Json, 2),
        Layout::ClassicV2(2),
        Layout::Classic,
    ] {
        let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 20)]).await?;
        let form = CheckpointForm::of(layout);
        table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
        for reused in [0, 2] {
            table.commit(adds(&format!("b{reused}-"), 1)).await?;
            let made = checkpoint(&table, 10).await?;
            assert_eq!(made.reused_sidecars, reused, "{layout:?}");
        }
        assert_alone(&table).await?;
    }
    Ok(())
}

/// If a cleanup may delete the older checkpoint while the new one is written, all actions are written.
///
/// protocol: metadata-cleanup.1
#[tokio::test]
async fn a_checkpoint_that_may_be_deleted_is_not_relied_on() -> Result<()> {
    for (retention, later_ms, reused) in [
        ("interval 30 days", 0, 2),
        ("interval 30 days", 28 * DAY_MS, 2),
        ("interval 30 days", 29 * DAY_MS + 1, 0),
        ("interval 2 days", 0, 2),
        ("interval 1 day", 0, 0),
        ("interval 0 seconds", 0, 0),
    ] {
        let created = first(&json!({"delta.logRetentionDuration": retention}));
        let mut table = TableBuilder::of(&[created, adds("a", 20)]).await?;
        checkpoint(&table, 10).await?;
        table.commit(adds("b", 1)).await?;
        let mut options = options(10);
        options.now_ms = Some(now_ms() + later_ms);
        let two = write_checkpoint(&table.open().await?, &options).await?;
        assert_eq!(two.reused_sidecars, reused, "{retention}, {later_ms} ms later");
        assert_alone(&table).await?;
    }
    Ok(())
}
