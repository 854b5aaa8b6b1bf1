//! Tombstones have sidecars of their own, which are written again when one of them expires or is superseded.

use deltaic_log::checkpoint::{CheckpointWritten, write_checkpoint};
use deltaic_protocol::Result;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::{Value, json};

use super::table::{adds, assert_alone, checkpoint, first, is_prefix, options, paths_of};

const DAY_MS: i64 = 86_400_000;

/// Tombstones of files whose names begin with `name`, deleted at a time.
fn removes(name: &str, count: usize, deleted_ms: i64) -> Vec<Value> {
    let tombstone = |number| {
        let mut action = remove(&format!("{name}{number}"), None);
        action["remove"]["deletionTimestamp"] = json!(deleted_ms);
        action
    };
    (0..count).map(tombstone).collect()
}

async fn checkpoint_at(table: &TableBuilder, now_ms: i64) -> Result<CheckpointWritten> {
    let mut options = options(10);
    options.now_ms = Some(now_ms);
    write_checkpoint(&table.open().await?, &options).await
}

/// protocol: checkpoints.10, add-file-and-remove-file.2
#[tokio::test]
async fn a_sidecar_is_written_again_when_a_tombstone_expires() -> Result<()> {
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 20)]).await?;
    table.commit(removes("old", 10, DAY_MS)).await?;
    table.commit(removes("mid", 4, 2 * DAY_MS)).await?;
    table.commit(removes("new", 6, 3 * DAY_MS)).await?;
    let one = checkpoint_at(&table, 3 * DAY_MS).await?;
    assert_eq!(one.sidecars.len(), 4);
    // Nothing has expired: a week is the default retention.
    table.commit(vec![json!({"commitInfo": {}})]).await?;
    let two = checkpoint_at(&table, 8 * DAY_MS - 1).await?;
    assert_eq!((two.reused_sidecars, &two.sidecars), (4, &one.sidecars));
    // The oldest have expired, and with them a whole sidecar.
    table.commit(vec![json!({"commitInfo": {}})]).await?;
    let three = checkpoint_at(&table, 8 * DAY_MS + 1).await?;
    assert_eq!((three.reused_sidecars, three.sidecars.len()), (3, 3));
    // A part of the last sidecar has expired; adds are not written again.
    table.commit(vec![json!({"commitInfo": {}})]).await?;
    let four = checkpoint_at(&table, 9 * DAY_MS + 1).await?;
    assert_eq!((four.reused_sidecars, four.sidecars.len()), (2, 3));
    assert!(is_prefix(&one.sidecars[..2], &four.sidecars));
    let new: Vec<String> = (0..6).map(|number| format!("new{number}")).collect();
    assert_eq!(paths_of(&table, &four.sidecars[2]).await?, new);
    Ok(())
}

/// A file that is added again has no tombstone any more.
#[tokio::test]
async fn a_sidecar_is_written_again_when_a_tombstone_is_superseded() -> Result<()> {
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 20)]).await?;
    table
        .commit(
            (0..3)
                .map(|number| remove(&format!("gone{number}"), None))
                .collect(),
        )
        .await?;
    checkpoint(&table, 10).await?;
    table.commit(vec![add("gone1", None)]).await?;
    let two = checkpoint(&table, 10).await?;
    assert_eq!((two.reused_sidecars, two.sidecars.len()), (2, 4));
    assert_eq!(paths_of(&table, &two.sidecars[2]).await?, ["gone1"]);
    assert_eq!(paths_of(&table, &two.sidecars[3]).await?, ["gone0", "gone2"]);
    assert_alone(&table).await
}

/// Small sidecars of tombstones are merged, beside those of adds.
#[tokio::test]
async fn small_sidecars_of_tombstones_are_merged() -> Result<()> {
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 100)]).await?;
    checkpoint(&table, 100).await?;
    for number in 0..40 {
        table.commit(vec![remove(&format!("gone{number}"), None)]).await?;
        let made = checkpoint(&table, 100).await?;
        assert!(made.reused_sidecars >= 1 && made.sidecars.len() <= 8, "{made:?}");
        assert_eq!(
            made.actions,
            Some(100 + number + 1 + 3 + made.sidecars.len() as u64)
        );
    }
    assert_alone(&table).await
}
