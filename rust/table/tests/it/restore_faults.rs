//! Restores beside which files are deleted.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{CommitOptions, Committed};
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_table::restore::{Restore, RestoreTo, restore};
use deltaic_testkit::hold::HoldPoint;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use object_store::ObjectStoreExt;
use serde_json::json;

/// A table from which a file was removed.
async fn table() -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    let mut actions = TableBuilder::first_actions();
    actions.push(add("removed.parquet", None));
    table.commit(actions).await?;
    let remove = json!({"remove": {"path": "removed.parquet", "deletionTimestamp": 1, "dataChange": true}});
    table.commit(vec![remove]).await?;
    table.put("removed.parquet", b"12345".to_vec()).await?;
    Ok(table)
}

async fn restored(table: &TableBuilder, ignore_missing_files: bool) -> Result<Committed> {
    let snapshot = Snapshot::load(table.location(), None, LoadOptions::default()).await?;
    let request = Restore {
        to: RestoreTo::Version(Version::ZERO),
        ignore_missing_files,
        load: LoadOptions::default(),
    };
    let options = CommitOptions {
        post_commit: PostCommitPolicy::none(),
        ..CommitOptions::default()
    };
    restore(&snapshot, request, options).await
}

/// Restores while the file is deleted after it was looked up, and before the commit.
async fn restored_without_file(ignore_missing_files: bool) -> Result<Committed> {
    let counted = table().await?;
    counted.scripted().forget();
    restored(&counted, ignore_missing_files).await?;
    let requests = counted.scripted().report().requests;
    let commit = requests.iter().position(|request| {
        request.kind == RequestKind::Put && request.path.contains("00000000000000000002.json")
    });
    let table = table().await?;
    let mut hold = table
        .scripted()
        .hold(commit.expect("a commit"), HoldPoint::Before);
    let delete = async {
        hold.reached().await;
        let location = table.location();
        let path = location.below("removed.parquet")?;
        location.store().delete(&path).await.expect("deleted");
        drop(hold);
        Ok::<(), deltaic_protocol::Error>(())
    };
    let (restored, deleted) = futures::join!(restored(&table, ignore_missing_files), delete);
    deleted?;
    restored
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_deleted_before_the_commit_is_an_error() -> Result<()> {
    let error = restored_without_file(false).await.expect_err("a file is lost");
    assert_eq!(error.kind(), ErrorKind::CorruptData);
    let text = format!("{error} {}", error.hint_text().unwrap_or_default());
    for part in [
        "1 file of version 2 no longer exists: removed.parquet, deleted while the version was restored",
        "restore version 1",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let keys: BTreeSet<&str> = error.context().iter().map(|(key, _)| *key).collect();
    assert_eq!(keys, BTreeSet::from(["files", "table", "version"]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_deleted_before_the_commit_is_a_warning_if_missing_files_are_ignored() -> Result<()> {
    let committed = restored_without_file(true).await?;
    assert_eq!(committed.version.as_i64(), 2);
    let [warning] = committed.warnings.as_slice() else {
        panic!("{:?}", committed.warnings);
    };
    assert!(warning.contains("removed.parquet"), "{warning}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_whose_files_exist_has_no_warning() -> Result<()> {
    let committed = restored(&table().await?, false).await?;
    assert!(committed.warnings.is_empty(), "{:?}", committed.warnings);
    Ok(())
}
