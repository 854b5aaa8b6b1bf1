//! Transactions after winning commits: completed operations are not repeated, and row ids and timestamps follow the
//! winning commit's.

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Committed};
use deltaic_protocol::actions::Add;
use deltaic_protocol::{Conflict, ErrorKind, Result, Version};
use deltaic_testkit::compaction_writer::CompactionForm;
use deltaic_testkit::maintenance::MaintenanceStep;
use deltaic_testkit::own_commits::{Append, append, without_maintenance};
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::{Value, json};

/// A table with writer features and properties, and the snapshot that was read.
async fn table(features: &[&str], properties: Value) -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    let mut actions = TableBuilder::first_actions();
    for action in &mut actions {
        if action.get("metaData").is_some() {
            action["metaData"]["configuration"] = properties.clone();
        } else if !features.is_empty() {
            action["protocol"] =
                json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features});
        }
    }
    actions.insert(
        0,
        json!({"commitInfo": {"inCommitTimestamp": 1_000, "operation": "CREATE TABLE"}}),
    );
    table.commit(actions).await?;
    let snapshot = table.open().await?;
    Ok((table, snapshot))
}

fn an_append(paths: &[(&str, i64)], app_transaction: Option<(&str, i64)>) -> Append {
    let adds = paths.iter().map(|(path, rows)| Add {
        path: (*path).to_owned(),
        size: 1,
        data_change: true,
        stats: Some(format!(r#"{{"numRecords":{rows}}}"#)),
        ..Add::default()
    });
    Append {
        adds: adds.collect(),
        options: CommitOptions {
            app_transaction: app_transaction.map(|(app_id, version)| (app_id.to_owned(), version)),
            ..without_maintenance()
        },
    }
}

fn txn(version: i64) -> Value {
    json!({"txn": {"appId": "app", "version": version, "lastUpdated": 1}})
}

/// protocol: transaction-identifiers.1, transaction-identifiers.2, transaction-identifiers.3
#[tokio::test]
async fn a_committed_app_transaction_is_skipped() -> Result<()> {
    let (table, snapshot) = table(&[], json!({})).await?;
    let first = append(&snapshot, &an_append(&[("a", 1)], Some(("app", 7)))).await?;
    assert!(!first.skipped);
    let actions = table.actions_of(1).await?;
    let staged = actions
        .iter()
        .find_map(|action| action.get("txn"))
        .expect("a txn");
    assert_eq!((&staged["appId"], &staged["version"]), (&json!("app"), &json!(7)));
    let snapshot = table.open().await?;
    for version in [7, 6, 0] {
        let again = append(&snapshot, &an_append(&[("b", 1)], Some(("app", version)))).await?;
        assert!(again.skipped && again.version == snapshot.version() && again.commit_info.is_none());
    }
    for app in [("app", 8), ("other", 1)] {
        assert!(
            !append(&table.open().await?, &an_append(&[("c", 1)], Some(app)))
                .await?
                .skipped
        );
    }
    assert_eq!(table.open().await?.version().as_i64(), 3);
    Ok(())
}

/// The files of an append that another commit made unnecessary are kept if that commit may name them.
#[tokio::test]
async fn files_that_a_winning_commit_of_the_same_application_adds_are_retained() -> Result<()> {
    for (theirs, is_kept) in [("theirs", false), ("ours", true)] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![add(theirs, None), txn(7)]).await?;
        let ended = append(&snapshot, &an_append(&[("ours", 1)], Some(("app", 7)))).await?;
        assert_eq!((ended.skipped, ended.keeps_files), (true, is_kept), "{theirs}");
    }
    Ok(())
}

#[tokio::test]
async fn a_winning_commit_of_the_same_application_has_done_it_or_is_a_conflict() -> Result<()> {
    for (theirs, outcome) in [
        (7, Ok(true)),
        (9, Ok(true)),
        (6, Err(Conflict::ConcurrentTransaction)),
    ] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![add("before", None)]).await?;
        table.commit(vec![add("theirs", None), txn(theirs)]).await?;
        let ended = append(&snapshot, &an_append(&[("ours", 1)], Some(("app", 7)))).await;
        let skipped = ended.map(|committed: Committed| committed.skipped && committed.version.as_i64() == 2);
        let kinds = outcome.map_err(ErrorKind::CommitConflict);
        assert_eq!(skipped.map_err(|error| error.kind()), kinds, "{theirs}");
        assert_eq!(table.open().await?.num_files(), 2);
    }
    Ok(())
}

/// protocol: writer-requirements-for-in-commit-timestamps.1, writer-requirements-for-in-commit-timestamps.2,
/// writer-requirements-for-in-commit-timestamps.3, commit-provenance-information.1, commit-provenance-information.2
#[tokio::test]
async fn in_commit_timestamps_continue_after_winning_commits() -> Result<()> {
    const FAR: i64 = 9_000_000_000_000;
    let (table, snapshot) = table(
        &["inCommitTimestamp"],
        json!({"delta.enableInCommitTimestamps": "true"}),
    )
    .await?;
    let committed = append(&snapshot, &an_append(&[("a", 1)], None)).await?;
    let first = &table.actions_of(1).await?[0]["commitInfo"];
    assert_eq!(first["inCommitTimestamp"], json!(committed.timestamp_ms));
    assert!(committed.timestamp_ms > 1_000 && committed.timestamp_ms < FAR);
    // A commit with a clock ahead of ours has won.
    let snapshot = table.open().await?;
    let theirs = json!({"commitInfo": {"inCommitTimestamp": FAR, "operation": "WRITE"}});
    table
        .put(
            "_delta_log/00000000000000000002.json",
            format!("{theirs}\n{}\n", add("b", None)).into_bytes(),
        )
        .await?;
    let committed = append(&snapshot, &an_append(&[("c", 1)], None)).await?;
    assert_eq!((committed.version.as_i64(), committed.timestamp_ms), (3, FAR + 1));
    let info = &table.actions_of(3).await?[0]["commitInfo"];
    assert_eq!(
        (&info["inCommitTimestamp"], &info["timestamp"]),
        (&json!(FAR + 1), &json!(FAR + 1))
    );
    let after = append(&table.open().await?, &an_append(&[("d", 1)], None)).await?;
    assert_eq!(after.timestamp_ms, FAR + 2);
    Ok(())
}

/// The timestamp of the version that was read is respected, even if its commit is covered by a compaction file without
/// it and many commits precede.
///
/// protocol: writer-requirements-for-in-commit-timestamps.2
#[tokio::test]
async fn in_commit_timestamps_continue_after_a_compaction_file() -> Result<()> {
    const FAR: i64 = 9_000_000_000_000;
    let enabled = json!({"delta.enableInCommitTimestamps": "true"});
    let (mut table, _) = table(&["inCommitTimestamp"], enabled).await?;
    for version in 1..=40 {
        let theirs = json!({"commitInfo": {"inCommitTimestamp": FAR + version, "operation": "WRITE"}});
        table
            .commit(vec![theirs, add(&format!("theirs{version}"), None)])
            .await?;
    }
    table
        .maintain(&MaintenanceStep::Compaction(3, CompactionForm::Right))
        .await?;
    let snapshot = table.open().await?;
    assert_eq!(snapshot.commit_info(), None, "the newest commit was not read");
    let committed = append(&snapshot, &an_append(&[("ours", 1)], None)).await?;
    assert_eq!(committed.timestamp_ms, FAR + 41);
    Ok(())
}

/// protocol: writer-requirements-for-row-tracking.1, writer-requirements-for-row-tracking.2,
/// writer-requirements-for-row-tracking.3, writer-requirements-for-row-tracking.5,
/// writer-requirements-for-row-tracking.6,
/// writer-requirements-for-row-tracking.7, writer-requirements-for-row-tracking.8,
/// writer-requirements-for-row-tracking.9, writer-requirements-for-row-tracking.10,
/// writer-requirements-for-row-tracking.11, writer-requirements-for-row-tracking.19,
/// writer-requirements-for-row-tracking.20, writer-requirements-for-row-tracking.25,
/// writer-requirements-for-row-tracking.30, writer-requirements-for-row-tracking.31
#[tokio::test]
async fn row_ids_are_fresh_after_winning_commits() -> Result<()> {
    let properties = json!({
        "delta.enableRowTracking": "true",
        "delta.rowTracking.materializedRowIdColumnName": "_row-id",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-version",
    });
    let (table, read) = table(&["rowTracking", "domainMetadata"], properties).await?;
    // Both have read version 0: the second one loses version 1, and its ids.
    append(&read, &an_append(&[("a", 10), ("b", 5)], None)).await?;
    let committed = append(&read, &an_append(&[("c", 3), ("d", 1)], None)).await?;
    assert_eq!(
        (committed.version.as_i64(), committed.conflicts_resolved.len()),
        (2, 1)
    );
    let mut given = Vec::new();
    for version in [1, 2] {
        let actions = table.actions_of(version).await?;
        for add in actions.iter().filter_map(|action| action.get("add")) {
            assert_eq!(add["defaultRowCommitVersion"], json!(version));
            given.push(add["baseRowId"].as_i64());
        }
        let marks: Vec<&Value> = actions
            .iter()
            .filter_map(|action| action.get("domainMetadata"))
            .collect();
        assert_eq!(marks.len(), 1);
        let mark: Value =
            serde_json::from_str(marks[0]["configuration"].as_str().unwrap_or("")).expect("JSON");
        assert_eq!(
            mark["rowIdHighWaterMark"],
            json!(if version == 1 { 14 } else { 18 })
        );
        assert_eq!(
            actions[0]["commitInfo"]["tags"]["delta.rowTracking.preserved"],
            json!("true")
        );
    }
    assert_eq!(given, [Some(0), Some(10), Some(15), Some(18)]);
    Ok(())
}

/// A file without a row count cannot get row ids, and nothing is committed.
#[tokio::test]
async fn rows_that_are_not_counted_get_no_ids() -> Result<()> {
    let (table, read) = table(&["rowTracking", "domainMetadata"], json!({})).await?;
    let mut ours = an_append(&[("a", 1)], None);
    ours.adds[0].stats = None;
    let error = append(&read, &ours).await.expect_err("it has no numRecords");
    assert!(error.to_string().contains("numRecords"), "{error}");
    assert_eq!(table.open().await?.version(), Version::ZERO);
    Ok(())
}

/// A deletion vector between two adds of a file would leave two logical files with one path.
#[tokio::test]
async fn a_file_that_a_winning_commit_added_does_not_return() -> Result<()> {
    for is_cut in [false, true] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![add("same", None)]).await?;
        if is_cut {
            table
                .commit(vec![remove("same", None), add("same", Some("vector"))])
                .await?;
        }
        let newest = if is_cut { 2 } else { 1 };
        let late = append(&snapshot, &an_append(&[("other", 1), ("same", 1)], None)).await;
        let error = late.expect_err("it is there already");
        let kind = ErrorKind::CommitConflict(Conflict::AddedTwice);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.context().contains(&("path", "same".into())), "{error}");
        let committed = append(&snapshot, &an_append(&[("other", 1)], None)).await?;
        assert_eq!(committed.version.as_i64(), newest + 1);
    }
    Ok(())
}
