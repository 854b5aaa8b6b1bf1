//! Ranges that are not compacted: invalid ranges, damage, and unpublished commits of a catalog.

use deltaic_log::Snapshot;
use deltaic_log::compaction::compact;
use deltaic_log::log_tail::{LogTail, StagedCommit};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::maintenance::{LastCommit, MaintenanceStep};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::json;

use super::lines::{lines, txn, version};

#[tokio::test]
async fn an_invalid_range_is_refused_and_nothing_is_written() -> Result<()> {
    let mut commits = vec![TableBuilder::first_actions()];
    commits.extend((0..5).map(|number| vec![add(&format!("f{number}"), None)]));
    let mut table = TableBuilder::of(&commits).await?;
    let snapshot = table.open().await?;
    for (from, to) in [(3, 3), (4, 2), (4, 6), (7, 9)] {
        let refused = compact(&snapshot, version(from), version(to)).await;
        let kind = refused.err().map(|error| error.kind());
        assert_eq!(kind, Some(ErrorKind::InvalidArgument), "{from} {to}");
    }
    table
        .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(Layout::Classic)))
        .await?;
    table
        .maintain(&MaintenanceStep::CleanUp(LastCommit::Kept))
        .await?;
    let missing = compact(&snapshot, version(3), version(5)).await;
    assert_eq!(
        missing.err().map(|error| error.kind()),
        Some(ErrorKind::VersionNotFound)
    );
    let empty = TableBuilder::of(&[
        TableBuilder::first_actions(),
        vec![json!({"commitInfo": {}})],
        vec![json!({"commitInfo": {}})],
    ])
    .await?;
    assert_eq!(compact(&empty.open().await?, version(1), version(2)).await?, None);
    for table in [&table, &empty] {
        let puts = table.scripted().report().count(RequestKind::Put);
        assert_eq!(puts, 0);
    }
    Ok(())
}

#[tokio::test]
async fn damage_is_not_compacted() -> Result<()> {
    for (bad, kind) in [
        (vec![add("a", None), add("a", None)], ErrorKind::CorruptLog),
        (vec![add("a", None), remove("a", None)], ErrorKind::CorruptLog),
        (vec![txn(1), txn(2)], ErrorKind::CorruptLog),
        (vec![json!(["no action"])], ErrorKind::CorruptLog),
        (Vec::new(), ErrorKind::CorruptLog),
        (
            vec![
                json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["fromTheFuture"]}}),
            ],
            ErrorKind::UnsupportedFeature,
        ),
    ] {
        let mut table = TableBuilder::of(&[TableBuilder::first_actions(), vec![add("b", None)]]).await?;
        let snapshot_before = table.open().await?;
        table.commit(bad.clone()).await?;
        // After a later protocol and a checkpoint the table opens; the commit itself is unchanged.
        table.commit(TableBuilder::first_actions()).await?;
        table
            .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(Layout::Classic)))
            .await?;
        let snapshot = table.open().await?;
        assert!(snapshot.version() > snapshot_before.version());
        let refused = compact(&snapshot, version(1), version(3))
            .await
            .expect_err("damage");
        assert_eq!(refused.kind(), kind, "{bad:?}: {refused}");
        assert!(refused.hint_text().is_some(), "{refused}");
        assert_eq!(table.scripted().report().count(RequestKind::Put), 0);
    }
    Ok(())
}

/// protocol: catalog:maintenance-operations-on-catalog-managed-tables.1
#[tokio::test]
async fn of_a_table_with_a_catalog_only_published_commits_are_compacted() -> Result<()> {
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["catalogManaged", "vacuumProtocolCheck"],
        "writerFeatures": ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"]}});
    let mut table = TableBuilder::of(&[first, vec![add("a", None)], vec![add("b", None)]]).await?;
    let name = format!("{:020}.3a0d65cd-4056-49b8-937b-95f9e0ee90e5.json", 3);
    let bytes = lines(&[add("c", None)]);
    let size = bytes.len() as u64;
    table
        .put(&format!("_delta_log/_staged_commits/{name}"), bytes)
        .await?;
    let tail = LogTail {
        commits: vec![StagedCommit {
            version: version(3),
            name,
            size,
            modified_ms: 0,
        }],
        max_version: Some(version(3)),
    };
    let load = || Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default());
    let snapshot = load().await?;
    assert_eq!(snapshot.version(), version(3));
    let unpublished = compact(&snapshot, version(1), version(3)).await;
    assert_eq!(
        unpublished.err().map(|error| error.kind()),
        Some(ErrorKind::VersionNotFound)
    );
    assert!(compact(&snapshot, version(0), version(2)).await?.is_some());
    // Another file with the version's name is not the commit that the catalog ratified.
    table.commit(vec![add("usurper", None)]).await?;
    let snapshot = Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
    let usurped = compact(&snapshot, version(1), version(3)).await;
    assert_eq!(
        usurped.err().map(|error| error.kind()),
        Some(ErrorKind::VersionNotFound)
    );
    Ok(())
}
