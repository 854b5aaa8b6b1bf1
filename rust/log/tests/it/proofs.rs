//! Preconditions of table changes on existing files: a concurrently added file invalidates them at every isolation
//! level.

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{CommitOptions, IsolationLevel, Proved, RowVerifier, alter};
use deltaic_protocol::change::{ChangeContext, Precondition, TableChange, change, preconditions};
use deltaic_protocol::features::Traces;
use deltaic_protocol::schema::ColumnName;
use deltaic_protocol::{Conflict, ErrorKind, Result};
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

async fn open(table: &TableBuilder) -> Result<Snapshot> {
    Snapshot::load(table.location(), None, LoadOptions::default()).await
}

/// A check of rows that always succeeds.
struct Right;

impl RowVerifier for Right {
    fn rows_satisfy<'a>(&'a self, _: &'a Snapshot, _: &'a str, _: &'a str) -> Proved<'a> {
        Box::pin(async { Ok(()) })
    }
}

/// A change with a precondition on files, and its table.
struct Case {
    name: &'static str,
    reader_features: &'static [&'static str],
    features: &'static [&'static str],
    has_file: bool,
    changes: Vec<TableChange>,
}

/// One attempt at an isolation level: the expected result is a conflict.
fn at(isolation: Option<IsolationLevel>) -> CommitOptions {
    CommitOptions {
        max_attempts: 100,
        isolation,
        post_commit: PostCommitPolicy::none(),
        row_level: false,
        ..CommitOptions::default()
    }
}

fn set(key: &str) -> TableChange {
    TableChange::SetProperties([(key.to_owned(), "true".to_owned())].into())
}

fn drop_feature(name: &str) -> TableChange {
    TableChange::DropFeature(name.to_owned(), Traces::InHistory)
}

fn by_id() -> TableChange {
    TableChange::SetClustering(vec![ColumnName::from_parts(vec!["id".to_owned()])])
}

fn cases() -> Vec<Case> {
    let case = |name, features, change| Case {
        name,
        reader_features: &[],
        features,
        has_file: true,
        changes: vec![change],
    };
    let constraint = TableChange::AddConstraint {
        name: "small".to_owned(),
        expression: "id < 10".to_owned(),
    };
    let mapping = ("delta.columnMapping.mode".to_owned(), "name".to_owned());
    let mapped = TableChange::SetProperties([mapping].into());
    vec![
        case("a constraint", &[], constraint),
        case("row ids", &[], set("delta.enableRowTracking")),
        case(
            "row ids of a table that hands them out",
            &["rowTracking", "domainMetadata"],
            set("delta.enableRowTracking"),
        ),
        case("clustering", &[], by_id()),
        // Only a domain changes.
        case(
            "clustering by other columns",
            &["clustering", "domainMetadata"],
            by_id(),
        ),
        case(
            "no row ids",
            &["rowTracking", "domainMetadata"],
            drop_feature("rowTracking"),
        ),
        Case {
            reader_features: &["deletionVectors"],
            ..case(
                "no deletion vectors",
                &["deletionVectors"],
                drop_feature("deletionVectors"),
            )
        },
        Case {
            has_file: false,
            changes: vec![mapped, set("delta.enableIcebergCompatV2")],
            ..case("Iceberg", &[], by_id())
        },
    ]
}

/// The initial table of a case, and the version that is changed.
async fn table(case: &Case, promised: Option<&str>) -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    let mut first = TableBuilder::first_actions();
    if let Some(level) = promised {
        first[1]["metaData"]["configuration"] = json!({"delta.isolationLevel": level});
    }
    if !case.features.is_empty() {
        let mut protocol =
            json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": case.features});
        if !case.reader_features.is_empty() {
            protocol["minReaderVersion"] = json!(3);
            protocol["readerFeatures"] = json!(case.reader_features);
        }
        first[0] = json!({ "protocol": protocol });
    }
    table.commit(first).await?;
    if case.has_file {
        let bounds =
            json!({"numRecords": 5, "minValues": {"id": 1}, "maxValues": {"id": 5}, "nullCount": {"id": 0}});
        table.commit(vec![file("here", &bounds)]).await?;
    }
    let snapshot = open(&table).await?;
    Ok((table, snapshot))
}

fn file(path: &str, stats: &Value) -> Value {
    let mut action = add(path, None);
    action["add"]["stats"] = json!(stats.to_string());
    action
}

/// A blind append by another writer of a file without row ids, bounds or anything else that a change could rely on.
fn their_append() -> Vec<Value> {
    vec![
        json!({"commitInfo": {"operation": "WRITE", "isBlindAppend": true}}),
        file("theirs", &json!({"numRecords": 5})),
    ]
}

fn name_of(precondition: &Precondition) -> &'static str {
    match precondition {
        Precondition::RowsSatisfy { .. } => "rows",
        Precondition::FilesHaveRowIds => "row ids",
        Precondition::FilesHaveStatistics(_) => "statistics",
        Precondition::NothingUses { .. } => "no use",
        Precondition::FilesAreReadAsIceberg(_) => "Iceberg",
        Precondition::CheckpointsStandBefore => "checkpoints",
    }
}

/// Every precondition has a case.
#[tokio::test]
async fn every_precondition_has_a_case() -> Result<()> {
    let mut found = BTreeSet::new();
    for case in cases() {
        let (_, snapshot) = table(&case, None).await?;
        let before = snapshot.configuration().clone();
        let mut new_id = || "id".to_owned();
        let mut context = ChangeContext {
            version: snapshot.version().next()?,
            timestamp_ms: 1,
            new_id: &mut new_id,
        };
        let mut after = before.clone();
        for one in &case.changes {
            after = change(&after, one, &mut context)?;
        }
        let owed = preconditions(&before, &after)?;
        assert!(!owed.is_empty(), "{}", case.name);
        found.extend(owed.iter().map(name_of));
    }
    let all = [
        "Iceberg",
        "checkpoints",
        "no use",
        "row ids",
        "rows",
        "statistics",
    ];
    assert_eq!(found, BTreeSet::from(all));
    Ok(())
}

/// protocol: check-constraints.9, check-constraints.10, row-ids.4
#[tokio::test]
async fn an_unverified_file_conflicts_at_every_isolation_level() -> Result<()> {
    let levels = [
        None,
        Some(IsolationLevel::Serializable),
        Some(IsolationLevel::WriteSerializable),
        Some(IsolationLevel::SnapshotIsolation),
    ];
    for case in cases() {
        for promised in [None, Some("Serializable"), Some("WriteSerializable")] {
            for isolation in levels {
                let how = format!("{} on {promised:?} at {isolation:?}", case.name);
                let (mut table, snapshot) = table(&case, promised).await?;
                table.commit(their_append()).await?;
                let newest = snapshot.version().next()?;
                let options = at(isolation);
                let ended = alter(&snapshot, &case.changes, &options, Some(&Right)).await;
                let Err(error) = ended else {
                    panic!("{how}: it was committed");
                };
                assert!(
                    matches!(error.kind(), ErrorKind::CommitConflict(_)),
                    "{how}: {error}"
                );
                assert_eq!(open(&table).await?.version(), newest, "{how}");
            }
        }
    }
    Ok(())
}

/// Without a precondition on files the user's isolation level applies.
#[tokio::test]
async fn a_read_without_files_skips_them() -> Result<()> {
    for isolation in [None, Some(IsolationLevel::SnapshotIsolation)] {
        let case = Case {
            changes: vec![TableChange::SetName(Some("n".to_owned()))],
            ..cases().remove(0)
        };
        let (mut table, snapshot) = table(&case, None).await?;
        table.commit(their_append()).await?;
        let options = at(isolation);
        let committed = alter(&snapshot, &case.changes, &options, None).await?;
        assert_eq!(committed.conflicts_resolved.len(), 1);
    }
    Ok(())
}

/// The kind of conflict that is reported for an added file.
#[tokio::test]
async fn it_is_reported_as_an_append() -> Result<()> {
    let case = cases().remove(0);
    let (mut table, snapshot) = table(&case, None).await?;
    table.commit(their_append()).await?;
    let options = at(Some(IsolationLevel::SnapshotIsolation));
    let error = alter(&snapshot, &case.changes, &options, Some(&Right))
        .await
        .err();
    let kind = error.map(|error| error.kind());
    assert_eq!(kind, Some(ErrorKind::CommitConflict(Conflict::ConcurrentAppend)));
    Ok(())
}
