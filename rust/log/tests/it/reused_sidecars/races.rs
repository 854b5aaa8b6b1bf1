//! A cleanup that runs while a checkpoint is written deletes no sidecar that the new checkpoint needs.
//!
//! Protocol: *Metadata Cleanup*, steps 3 to 5.

use std::collections::BTreeSet;

use deltaic_log::checkpoint::write_checkpoint;
use deltaic_log::cleanup::{Expired, clean_up, plan_cleanup};
use deltaic_log::listing::Listing;
use deltaic_log::segment::complete_checkpoints;
use deltaic_protocol::{Result, Version};
use deltaic_storage::clock::now_ms;
use deltaic_storage::store_error;
use deltaic_testkit::checkpoint_reader::actions_of;
use deltaic_testkit::facts::facts;
use deltaic_testkit::hold::HoldPoint;
use deltaic_testkit::oracle::replay;
use deltaic_testkit::table_builder::{TableBuilder, remove};
use futures::TryStreamExt;
use object_store::ObjectStore;
use serde_json::json;

use super::table::{adds, checkpoint, first, options};

const DAY_MS: i64 = 86_400_000;

/// More requests than the writer sends.
const REQUESTS: usize = 60;

/// The paths of the sidecars in the folder.
async fn sidecars(table: &TableBuilder) -> Result<BTreeSet<String>> {
    let location = table.location();
    let folder = location.below("_delta_log/_sidecars")?;
    let listed = location.store().list(Some(&folder)).try_collect::<Vec<_>>().await;
    let listed = listed.map_err(|error| store_error(&error, "_sidecars"))?;
    let relative = |path: &str| path.trim_start_matches("t/").to_owned();
    Ok(listed
        .iter()
        .map(|object| relative(object.location.as_ref()))
        .collect())
}

/// The paths of the sidecars that the checkpoints of the log reference.
async fn referenced(table: &TableBuilder) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let listing = Listing::whole(&table.location()).await?;
    for checkpoint in complete_checkpoints(&listing, None) {
        for file in &checkpoint.files {
            for action in actions_of(&table.read(&file.relative()).await?)? {
                if let Some(name) = action["sidecar"]["path"].as_str() {
                    found.insert(format!("_delta_log/_sidecars/{name}"));
                }
            }
        }
    }
    Ok(found)
}

/// Before or after each request of the writer, another client's cleanup deletes the older checkpoint and lists what the
/// remaining checkpoints reference; when the writer is done, it deletes all other sidecars that it had listed.
///
/// protocol: metadata-cleanup.1, checkpoints.3
#[tokio::test]
async fn a_cleanup_at_any_time_leaves_the_new_checkpoint_whole() -> Result<()> {
    let (mut complete, mut reused) = (0, 0);
    for point in [HoldPoint::Before, HoldPoint::After] {
        for number in 0..REQUESTS {
            let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 30)]).await?;
            let old = checkpoint(&table, 10).await?;
            table.commit(adds("b", 1)).await?;
            let snapshot = table.open().await?;
            let mut hold = table.scripted().hold(number, point);
            let location = table.location();
            let writing = tokio::spawn(async move {
                let written = write_checkpoint(&snapshot, &options(10)).await;
                drop(location);
                written
            });
            let is_reached = tokio::select! {
                () = hold.reached() => true,
                () = async { while !writing.is_finished() { tokio::task::yield_now().await; } } => false,
            };
            // Reads are not blocked after the store has executed them, and the writer may send fewer requests.
            if !is_reached {
                continue;
            }
            table.delete(&old.path).await?;
            let (listed, needed) = (sidecars(&table).await?, referenced(&table).await?);
            drop(hold);
            let written = writing.await.expect("no panic")?;
            for sidecar in listed
                .difference(&needed)
                .filter(|path| old.sidecars.contains(path))
            {
                table.delete(sidecar).await?;
            }
            let how = format!("{point:?} request {number}: {written:?}");
            complete += usize::from(written.reused_sidecars == 0);
            reused += usize::from(written.reused_sidecars > 0);
            // Every checkpoint that is left has all its sidecars.
            let (left, needed) = (sidecars(&table).await?, referenced(&table).await?);
            assert!(needed.is_subset(&left), "{how}");
            for version in 0..=2 {
                table.delete(&format!("_delta_log/{version:020}.json")).await?;
            }
            let alone = table.open().await?;
            assert_eq!(facts(&alone).await?, replay(table.commits()).facts(), "{how}");
            assert_eq!(alone.warnings(), [""; 0], "{how}");
        }
    }
    assert!(
        complete > 10 && reused > 0,
        "{complete} complete, {reused} reused"
    );
    Ok(())
}

/// A cleanup retains the sidecars that a retained checkpoint references, whichever checkpoint wrote them.
///
/// protocol: metadata-cleanup.1
#[tokio::test]
async fn a_cleanup_retains_referenced_sidecars() -> Result<()> {
    let mut table = TableBuilder::of(&[first(&json!({})), adds("a", 30)]).await?;
    checkpoint(&table, 10).await?;
    for number in 0..12 {
        let mut changes = adds(&format!("b{number}-"), 2);
        if number % 3 == 2 {
            changes.push(remove(&format!("b{}-0", number - 1), None));
        }
        table.commit(changes).await?;
        checkpoint(&table, 10).await?;
    }
    let before = sidecars(&table).await?;
    let now_ms = now_ms() + 40 * DAY_MS;
    let snapshot = table.open().await?;
    let planned = plan_cleanup(&snapshot, now_ms).await?;
    let cleaned = clean_up(&snapshot, now_ms).await?;
    assert!(cleaned.not_deleted.is_empty(), "{:?}", cleaned.not_deleted);
    let planned: Vec<_> = planned.deletions().cloned().collect();
    assert_eq!(planned, cleaned.deleted);
    let deleted = cleaned
        .deleted
        .iter()
        .filter(|deletion| deletion.why == Expired::Sidecar);
    let deleted = deleted.count();
    let left = sidecars(&table).await?;
    assert_eq!(
        (deleted + left.len(), &left),
        (before.len(), &referenced(&table).await?)
    );
    // Three of the sidecars are from the first checkpoint, which was deleted.
    assert!(deleted > 10 && left.len() > 3, "{left:?}");
    let opened = table.open().await?;
    assert_eq!(facts(&opened).await?, replay(table.commits()).facts());
    let base = opened
        .segment()
        .checkpoint
        .as_ref()
        .map(|checkpoint| checkpoint.version);
    assert_eq!(base, Some(Version::try_new(13)?));
    Ok(())
}
