//! Commits passed by a catalog, in addition to the listed ones.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use deltaic_log::Snapshot;
use deltaic_log::log_tail::{LogTail, StagedCommit};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

fn version(number: i64) -> Version {
    Version::try_new(number).expect("a version")
}

fn managed() -> Vec<Value> {
    let mut actions = TableBuilder::first_actions();
    actions[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["catalogManaged", "vacuumProtocolCheck"],
        "writerFeatures": ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"]}});
    actions
}

/// A table with two published commits, and the staged third one, which adds the file `staged`.
async fn table() -> Result<(TableBuilder, StagedCommit)> {
    let mut table = TableBuilder::new();
    table.commit(managed()).await?;
    table.commit(vec![add("published", None)]).await?;
    let staged = staged(&table, 2, "staged").await?;
    Ok((table, staged))
}

async fn staged(table: &TableBuilder, number: i64, path: &str) -> Result<StagedCommit> {
    let name = format!("{number:020}.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json");
    let bytes = (add(path, None).to_string() + "\n").into_bytes();
    let size = bytes.len() as u64;
    table
        .put(&format!("_delta_log/_staged_commits/{name}"), bytes)
        .await?;
    Ok(StagedCommit {
        version: version(number),
        name,
        size,
        modified_ms: 0,
    })
}

async fn paths(snapshot: &Snapshot) -> Result<Vec<String>> {
    let (files, _) = snapshot.files(None).await?;
    let mut paths: Vec<String> = files
        .batches
        .iter()
        .flat_map(|batch| batch.adds.path.iter().flatten().map(str::to_owned))
        .collect();
    paths.sort();
    Ok(paths)
}

/// protocol: catalog:reading-catalog-managed-tables.2, catalog:reader-requirements-for-catalog-managed-tables.2,
/// catalog:reader-requirements-for-catalog-managed-tables.3,
/// catalog:terminology-delta-client.3,
/// catalog:getting-ratified-commits-from-the-catalog.1
#[tokio::test]
async fn ratified_commits_follow_the_published_ones() -> Result<()> {
    let (table, staged) = table().await?;
    let tail = LogTail {
        commits: vec![staged],
        max_version: Some(version(2)),
    };
    let load = |asked| Snapshot::load_with_tail(table.location(), &tail, asked, LoadOptions::default());
    let newest = load(None).await?;
    assert_eq!(newest.version(), version(2));
    assert_eq!(paths(&newest).await?, ["published", "staged"]);
    assert_eq!(paths(&load(Some(version(1))).await?).await?, ["published"]);
    Ok(())
}

/// protocol: catalog:reading-catalog-managed-tables.3, catalog:reading-catalog-managed-tables.4,
/// catalog:reader-requirements-for-catalog-managed-tables.4,
/// catalog:reader-requirements-for-catalog-managed-tables.5
#[tokio::test]
async fn unratified_commits_are_no_part_of_the_table() -> Result<()> {
    let (mut table, staged) = table().await?;
    // Another writer put commits that the catalog does not know; for version 2 the catalog is authoritative.
    table.commit(vec![add("usurper", None)]).await?;
    table.commit(vec![add("beyond", None)]).await?;
    let tail = LogTail {
        commits: vec![staged],
        max_version: Some(version(2)),
    };
    let snapshot = Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
    assert_eq!(snapshot.version(), version(2));
    assert_eq!(paths(&snapshot).await?, ["published", "staged"]);
    let beyond =
        Snapshot::load_with_tail(table.location(), &tail, Some(version(3)), LoadOptions::default()).await;
    assert_eq!(
        beyond.err().map(|error| error.kind()),
        Some(ErrorKind::VersionNotFound)
    );
    Ok(())
}

/// protocol: catalog:reading-catalog-managed-tables.1
#[tokio::test]
async fn without_its_catalog_such_a_table_is_refused_and_never_refreshed() -> Result<()> {
    let (table, staged) = table().await?;
    let by_path = table.open().await;
    let refused = |error: Option<Error>| error.map(|error| error.kind());
    assert_eq!(refused(by_path.err()), Some(ErrorKind::UnsupportedFeature));
    let tail = LogTail {
        commits: vec![staged],
        max_version: None,
    };
    let snapshot = Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
    assert_eq!(
        refused(snapshot.refresh().await.err()),
        Some(ErrorKind::UnsupportedFeature)
    );
    Ok(())
}

#[tokio::test]
async fn a_tail_with_a_gap_or_a_wrong_name_is_an_error() -> Result<()> {
    let (table, staged) = table().await?;
    let far = StagedCommit {
        version: version(4),
        name: staged.name.replacen('2', "4", 1),
        ..staged.clone()
    };
    let load = async |commit: StagedCommit| {
        let tail = LogTail {
            commits: vec![commit],
            max_version: None,
        };
        let opened = Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await;
        opened.err().map(|error| error.kind())
    };
    assert_eq!(load(far).await, Some(ErrorKind::CorruptLog));
    for name in [
        "2.json",
        "../00000000000000000002.x.json",
        "00000000000000000003.x.json",
        "00000000000000000002..json",
    ] {
        let named = StagedCommit {
            name: name.to_owned(),
            ..staged.clone()
        };
        assert_eq!(load(named).await, Some(ErrorKind::InvalidArgument), "{name}");
    }
    Ok(())
}
