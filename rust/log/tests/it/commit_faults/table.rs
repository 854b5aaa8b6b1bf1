//! A table with row ids and in-commit timestamps, a commit that has to be rebased, and its traces in the log.

use std::sync::Arc;
use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{Committed, IsolationLevel, Operation, Transaction};
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::Deadline;
use deltaic_storage::store_error;
use deltaic_testkit::table_builder::TableBuilder;
use serde_json::{Value, json};

/// Rows of the existing files, of a winning commit's file, and of our files.
const ROWS: (i64, i64, [i64; 2]) = (10, 5, [3, 4]);

/// The last version before any winning commit.
const READ: i64 = 1;

fn file(path: &str, rows: i64, first_row: i64, version: i64) -> Value {
    json!({"add": {"path": path, "partitionValues": {}, "size": 1, "modificationTime": 0, "dataChange": true,
        "stats": format!(r#"{{"numRecords":{rows}}}"#), "baseRowId": first_row, "defaultRowCommitVersion": version}})
}

fn info(version: i64) -> Value {
    json!({"commitInfo": {"operation": "WRITE", "isBlindAppend": true, "inCommitTimestamp": 1_000 * (version + 1)}})
}

fn mark(mark: i64) -> Value {
    let configuration = json!({"rowIdHighWaterMark": mark}).to_string();
    json!({"domainMetadata": {"domain": "delta.rowTracking", "configuration": configuration, "removed": false}})
}

/// A table with row ids, in-commit timestamps and two files.
pub(crate) async fn table() -> Result<TableBuilder> {
    let mut first = TableBuilder::first_actions();
    let features = ["inCommitTimestamp", "rowTracking", "domainMetadata"];
    first[0] =
        json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}});
    first[1]["metaData"]["configuration"] = json!({
        "delta.enableInCommitTimestamps": "true",
        "delta.enableRowTracking": "true",
        "delta.rowTracking.materializedRowIdColumnName": "_row-id",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-version",
    });
    first.insert(0, info(0));
    let mut table = TableBuilder::new();
    table.commit(first).await?;
    let files = [file("old1", ROWS.0, 0, 1), file("old2", ROWS.0, ROWS.0, 1)];
    let mut actions = vec![info(READ), mark(2 * ROWS.0 - 1)];
    actions.extend(files);
    table.commit(actions).await?;
    Ok(table)
}

/// Commits versions of other writers.
pub(crate) async fn win(table: &mut TableBuilder, winning_commits: i64) -> Result<()> {
    for number in 0..winning_commits {
        let (version, first_row) = (READ + 1 + number, 2 * ROWS.0 + number * ROWS.1);
        let add = file(&format!("theirs{number}"), ROWS.1, first_row, version);
        table
            .commit(vec![info(version), mark(first_row + ROWS.1 - 1), add])
            .await?;
    }
    Ok(())
}

pub(crate) async fn open(location: &Arc<TableLocation>) -> Result<Snapshot> {
    Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await
}

/// The files of our commit with this number.
pub(crate) fn names(number: i64) -> [String; 2] {
    [format!("ours{number}a"), format!("ours{number}b")]
}

/// Removes a file and adds two, as version `number` of an application.
pub(crate) async fn commit(snapshot: &Snapshot, number: i64, takes: Option<&str>) -> Result<Committed> {
    let mut ours = Transaction::try_new(snapshot, Operation::Update, ensure_appendable)?;
    ours.options.isolation = Some(IsolationLevel::WriteSerializable);
    ours.options.app_transaction = Some(("app".to_owned(), number));
    ours.read.read_files(takes);
    ours.proposal.removes = takes.map(|path| Remove::of(&gone(path), 7)).into_iter().collect();
    let adds = names(number).into_iter().zip(ROWS.2).map(|(path, rows)| Add {
        path,
        size: 1,
        data_change: true,
        stats: Some(format!(r#"{{"numRecords":{rows}}}"#)),
        ..Add::default()
    });
    ours.proposal.adds = adds.collect();
    // A slow request exceeds the default deadline of a commit.
    ours.options.deadline = Some(Deadline::after(Duration::MAX));
    ours.commit().await
}

fn gone(path: &str) -> Add {
    Add {
        path: path.to_owned(),
        size: 1,
        data_change: true,
        ..Add::default()
    }
}

/// The actions of each version; every version up to the newest exists.
async fn history(location: &Arc<TableLocation>) -> Result<Vec<Vec<Value>>> {
    let newest = open(location).await?.version().as_i64();
    let mut all = Vec::new();
    for version in 0..=newest {
        let path = LogPath::commit(Version::try_new(version)?);
        let bytes = location.read(&path).await;
        let bytes = bytes.map_err(|error| store_error(&error, &path))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        all.push(
            text.lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect(),
        );
    }
    Ok(all)
}

fn of<'a>(actions: &'a [Value], name: &'a str) -> Vec<&'a Value> {
    actions.iter().filter_map(|action| action.get(name)).collect()
}

fn mark_of(domain: &Value) -> Option<i64> {
    let configuration: Value = serde_json::from_str(domain["configuration"].as_str()?).ok()?;
    configuration["rowIdHighWaterMark"].as_i64()
}

/// The versions whose commits contain any of our actions; each contains all of them, with row ids and a timestamp that
/// follow the previous version's.
pub(crate) async fn found(
    location: &Arc<TableLocation>,
    number: i64,
    takes: Option<&str>,
    how: &str,
) -> Result<Vec<i64>> {
    let (mut found, mut last_time, mut last_mark) = (Vec::new(), 0, -1);
    for (version, actions) in history(location).await?.iter().enumerate() {
        let paths: Vec<&str> = of(actions, "add")
            .iter()
            .filter_map(|add| add["path"].as_str())
            .collect();
        let marks: Vec<i64> = of(actions, "domainMetadata")
            .into_iter()
            .filter_map(mark_of)
            .collect();
        let time = of(actions, "commitInfo")[0]["inCommitTimestamp"].as_i64();
        assert!(time > Some(last_time), "{how}: the time of version {version}");
        last_time = time.unwrap_or_default();
        if names(number).iter().any(|name| paths.contains(&name.as_str())) {
            found.push(i64::try_from(version).unwrap_or(-1));
            let first_rows: Vec<i64> = of(actions, "add")
                .iter()
                .filter_map(|add| add["baseRowId"].as_i64())
                .collect();
            assert_eq!(paths, names(number), "{how}");
            assert_eq!(first_rows, [last_mark + 1, last_mark + 1 + ROWS.2[0]], "{how}");
            assert_eq!(marks, [last_mark + ROWS.2[0] + ROWS.2[1]], "{how}");
            assert!(
                of(actions, "add")
                    .iter()
                    .all(|add| add["defaultRowCommitVersion"] == json!(version)),
                "{how}"
            );
            let went: Vec<&str> = of(actions, "remove")
                .iter()
                .filter_map(|remove| remove["path"].as_str())
                .collect();
            assert_eq!(went, takes.into_iter().collect::<Vec<_>>(), "{how}");
            assert_eq!(
                of(actions, "txn")
                    .iter()
                    .map(|txn| txn["version"].as_i64())
                    .collect::<Vec<_>>(),
                [Some(number)]
            );
        }
        last_mark = marks.last().copied().unwrap_or(last_mark);
    }
    Ok(found)
}
