//! A snapshot that is refreshed for a long time references the sidecars of the newest checkpoint, not of its first.

use deltaic_log::checkpoint::write_checkpoint;
use deltaic_protocol::Result;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::TableBuilder;
use serde_json::json;

use super::table::{adds, assert_alone, checkpoint, first, options};

#[tokio::test]
async fn a_refreshed_snapshot_builds_on_the_newest_checkpoint() -> Result<()> {
    for has_checkpoint in [false, true] {
        let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 30)]).await?;
        if has_checkpoint {
            checkpoint(&table, 10).await?;
        }
        let mut snapshot = table.open().await?;
        let mut last: Vec<String> = Vec::new();
        for round in 0..6 {
            table.commit(adds(&format!("b{round}-"), 10)).await?;
            snapshot = snapshot.refresh().await?;
            table.scripted().forget();
            let made = write_checkpoint(&snapshot, &options(10)).await?;
            let expected = if has_checkpoint || round > 0 { 3 + round } else { 0 };
            assert_eq!((made.reused_sidecars, made.sidecars.len()), (expected, 4 + round));
            if round > 0 {
                assert_eq!(made.sidecars[..expected], last[..]);
            }
            // The first three sidecars are in the memory of a snapshot that was opened with them.
            let report = table.scripted().report();
            let reads = last
                .iter()
                .filter(|sidecar| report.at(RequestKind::Get, sidecar).count() > 0);
            if has_checkpoint {
                assert_eq!(reads.count(), round);
            }
            last = made.sidecars;
        }
        assert_alone(&table).await?;
    }
    Ok(())
}

/// A checkpoint that another client wrote is found by its hint.
#[tokio::test]
async fn a_checkpoint_of_another_writer_is_found() -> Result<()> {
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 30)]).await?;
    let snapshot = table.open().await?;
    table.commit(adds("b", 1)).await?;
    let theirs = checkpoint(&table, 10).await?;
    table.commit(adds("c", 10)).await?;
    let ours = write_checkpoint(&snapshot.refresh().await?, &options(10)).await?;
    assert_eq!(ours.reused_sidecars, 4);
    assert_eq!(ours.sidecars[..4], theirs.sidecars);
    // Without the hint, more is written.
    table.commit(adds("d", 10)).await?;
    table.delete("_delta_log/_last_checkpoint").await?;
    let complete = write_checkpoint(&snapshot.refresh().await?, &options(10)).await?;
    assert_eq!(complete.reused_sidecars, 0);
    assert_alone(&table).await
}
