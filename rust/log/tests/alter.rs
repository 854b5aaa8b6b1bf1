//! Changes of what a table says of itself: what they commit, what they ask of the files, and what a winner means for them.

use std::collections::BTreeMap;
use std::sync::Mutex;

use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::store_error::store_error;
use deltaic_log::transaction::{
    AlterOptions, Committed, IfExists, NewTable, Proved, RowProof, UserInfo, alter, create, form_of,
};
use deltaic_log::upkeep::UpkeepPolicy;
use deltaic_protocol::change::{IfAbsent, TableChange};
use deltaic_protocol::features::{Traces, supports_for_writers};
use deltaic_protocol::schema::evolution::Place;
use deltaic_protocol::schema::{ColumnName, DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

async fn open(table: &TableBuilder) -> Result<Snapshot> {
    Snapshot::load(table.location(), None, LoadOptions::default()).await
}

/// A table of one column, `id`, with writer features and properties.
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
    table.commit(actions).await?;
    let snapshot = open(&table).await?;
    Ok((table, snapshot))
}

/// A file of so many rows, with bounds of `id` where they are told.
fn file(path: &str, rows: i64, bounds: bool) -> Value {
    let mut stats = json!({"numRecords": rows});
    if bounds {
        stats["minValues"] = json!({"id": 1});
        stats["maxValues"] = json!({"id": rows});
        stats["nullCount"] = json!({"id": 0});
    }
    let mut action = add(path, None);
    action["add"]["stats"] = json!(stats.to_string());
    action["add"]["tags"] = json!({"k": "v"});
    action
}

/// The metadata of a winner, which has other properties.
fn their_metadata(properties: Value) -> Value {
    let mut actions = TableBuilder::first_actions();
    let mut metadata = actions.remove(1);
    metadata["metaData"]["configuration"] = properties;
    metadata
}

fn options() -> AlterOptions {
    AlterOptions {
        user: UserInfo::default(),
        max_attempts: 100,
        app_transaction: None,
        isolation: None,
        deadline: None,
        upkeep: UpkeepPolicy::none(),
        again: true,
    }
}

fn strict() -> AlterOptions {
    AlterOptions {
        again: false,
        ..options()
    }
}

async fn change(snapshot: &Snapshot, changes: &[TableChange]) -> Result<Committed> {
    alter(snapshot, changes, &options(), None).await
}

fn set(key: &str, value: &str) -> TableChange {
    TableChange::SetProperties([(key.to_owned(), value.to_owned())].into())
}

fn column(text: &str) -> ColumnName {
    ColumnName::from_parts(text.split('.').map(str::to_owned).collect())
}

fn new_column(name: &str) -> TableChange {
    TableChange::AddColumn {
        field: StructField::new(name, PrimitiveType::Long.into(), true),
        within: None,
        place: Place::Last,
    }
}

fn positive() -> TableChange {
    TableChange::AddConstraint {
        name: "positive".to_owned(),
        expression: "id > 0".to_owned(),
    }
}

/// The actions of a version, as they stand in the log.
async fn actions_of(table: &TableBuilder, version: i64) -> Result<Vec<Value>> {
    let path = deltaic_protocol::log_path::LogPath::commit(Version::try_new(version)?);
    let bytes = table.location().read(&path).await;
    let bytes = bytes.map_err(|error| store_error(&error, &path))?;
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(lines
        .map(|line| serde_json::from_slice(line).unwrap_or_default())
        .collect())
}

fn kinds(actions: &[Value]) -> Vec<&str> {
    let objects = actions.iter().filter_map(Value::as_object);
    objects
        .flat_map(|object| object.keys().map(String::as_str))
        .collect()
}

/// Rows that are as a test wants them, and how often they were asked.
#[derive(Default)]
struct Rows {
    broken: i64,
    asked: Mutex<Vec<(i64, String)>>,
}

impl RowProof for Rows {
    fn rows_satisfy<'a>(&'a self, snapshot: &'a Snapshot, name: &'a str, _: &'a str) -> Proved<'a> {
        self.asked
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push((snapshot.version().as_i64(), name.to_owned()));
        Box::pin(async move {
            match self.broken {
                0 => Ok(()),
                rows => Err(Error::new(ErrorKind::ConstraintViolation, "broken").with("rows", rows)),
            }
        })
    }
}

/// protocol: change-metadata.2, check-constraints.1
#[tokio::test]
async fn every_change_is_a_commit_that_is_read_again() -> Result<()> {
    let (table, mut snapshot) = table(&[], json!({"delta.columnMapping.mode": "none"})).await?;
    let mapped = set("delta.columnMapping.mode", "name");
    let steps: Vec<(TableChange, &str)> = vec![
        (mapped, "SET TBLPROPERTIES"),
        (TableChange::SetName(Some("n".to_owned())), "SET TBLPROPERTIES"),
        (
            TableChange::SetDescription(Some("d".to_owned())),
            "SET TBLPROPERTIES",
        ),
        (new_column("a"), "ADD COLUMNS"),
        (
            TableChange::RenameColumn(column("a"), "b".to_owned()),
            "RENAME COLUMN",
        ),
        (
            TableChange::MoveColumn(column("b"), Place::First),
            "CHANGE COLUMN",
        ),
        (
            TableChange::SetComment(column("b"), Some("c".to_owned())),
            "CHANGE COLUMN",
        ),
        (TableChange::DropColumn(column("b")), "DROP COLUMNS"),
        (positive(), "ADD CONSTRAINT"),
        (
            TableChange::DropConstraint("positive".to_owned(), IfAbsent::Error),
            "DROP CONSTRAINT",
        ),
        (
            TableChange::AddFeature("allowColumnDefaults".to_owned()),
            "ADD FEATURE",
        ),
        (
            TableChange::SetDefault(column("id"), Some("1".to_owned())),
            "CHANGE COLUMN",
        ),
        (TableChange::SetDefault(column("id"), None), "CHANGE COLUMN"),
        (
            TableChange::DropFeature("allowColumnDefaults".to_owned(), Traces::InHistory),
            "DROP FEATURE",
        ),
        (set("delta.enableTypeWidening", "true"), "SET TBLPROPERTIES"),
        (
            TableChange::MergeSchema(StructType {
                fields: vec![StructField::new(
                    "x",
                    DataType::Primitive(PrimitiveType::Integer),
                    true,
                )],
            }),
            "UPDATE SCHEMA",
        ),
        (
            TableChange::ChangeType(column("x"), PrimitiveType::Long),
            "CHANGE COLUMN",
        ),
        (
            TableChange::SetDomain {
                domain: "app".to_owned(),
                configuration: "1".to_owned(),
            },
            "SET DOMAIN METADATA",
        ),
        (
            TableChange::RemoveDomain("app".to_owned()),
            "REMOVE DOMAIN METADATA",
        ),
        (TableChange::SetClustering(vec![column("id")]), "CLUSTER BY"),
        (set("delta.enableInCommitTimestamps", "true"), "SET TBLPROPERTIES"),
        (
            TableChange::UnsetProperties(vec!["delta.enableTypeWidening".to_owned()], IfAbsent::Error),
            "UNSET TBLPROPERTIES",
        ),
        (TableChange::Upgrade(3, 7), "UPGRADE PROTOCOL"),
    ];
    for (number, (one, operation)) in steps.iter().enumerate() {
        let before = form_of(&snapshot);
        let how = format!("{operation}: {one:?}");
        let committed = change(&snapshot, std::slice::from_ref(one)).await;
        let committed = committed.map_err(|error| error.with("step", how.clone()))?;
        let fresh = open(&table).await?;
        if *operation == "UPGRADE PROTOCOL" {
            // The table is there already.
            assert!(committed.skipped, "{how}");
            continue;
        }
        assert_eq!(
            committed.version.as_i64(),
            i64::try_from(number).unwrap_or(0) + 1,
            "{how}"
        );
        assert!(
            !committed.skipped && fresh.version() == committed.version,
            "{how}"
        );
        assert_ne!(form_of(&fresh), before, "{how}");
        let actions = actions_of(&table, committed.version.as_i64()).await?;
        assert_eq!(actions[0]["commitInfo"]["operation"], json!(operation), "{how}");
        assert!(!kinds(&actions).contains(&"add"), "{how}");
        snapshot = fresh;
    }
    assert_eq!(snapshot.schema().names().collect::<Vec<_>>(), ["id", "x"]);
    assert!(snapshot.domains().contains_key("delta.clustering") && !snapshot.domains().contains_key("app"));
    let last = actions_of(&table, snapshot.version().as_i64() - 1).await?;
    assert!(last[0]["commitInfo"]["inCommitTimestamp"].is_i64());
    assert_eq!(
        snapshot
            .metadata()
            .property("delta.inCommitTimestampEnablementVersion"),
        Some((snapshot.version().as_i64() - 1).to_string().as_str())
    );
    Ok(())
}

#[tokio::test]
async fn changes_are_made_together_or_not_at_all() -> Result<()> {
    let (table, snapshot) = table(&[], json!({})).await?;
    let broken = [new_column("a"), new_column("id")];
    let error = change(&snapshot, &broken)
        .await
        .expect_err("there is a column id");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(open(&table).await?.version(), Version::ZERO);
    let committed = change(&snapshot, &[new_column("a"), positive(), new_column("b")]).await?;
    assert_eq!(committed.version.as_i64(), 1);
    let actions = actions_of(&table, 1).await?;
    assert_eq!(kinds(&actions), ["commitInfo", "protocol", "metaData"]);
    let info = &actions[0]["commitInfo"];
    assert_eq!(info["operation"], json!("ALTER TABLE"));
    let told: Value = serde_json::from_str(info["operationParameters"]["changes"].as_str().unwrap_or(""))
        .expect("JSON in JSON");
    assert_eq!(told[1]["operationParameters"]["expr"], json!("id > 0"));
    assert_eq!(
        open(&table).await?.schema().names().collect::<Vec<_>>(),
        ["id", "a", "b"]
    );
    Ok(())
}

#[tokio::test]
async fn what_changes_nothing_commits_nothing() -> Result<()> {
    let (table, snapshot) = table(&[], json!({"delta.appendOnly": "true"})).await?;
    let same = [set("delta.appendOnly", "TRUE")];
    let committed = change(&snapshot, &same).await?;
    assert!(committed.skipped && committed.version == Version::ZERO && committed.commit_info.is_none());
    // How far an application comes is something to say.
    let with_app = AlterOptions {
        app_transaction: Some(("app".to_owned(), 7)),
        ..options()
    };
    let committed = alter(&snapshot, &same, &with_app, None).await?;
    assert_eq!((committed.version.as_i64(), committed.skipped), (1, false));
    assert_eq!(kinds(&actions_of(&table, 1).await?), ["commitInfo", "txn"]);
    let committed = alter(&open(&table).await?, &[new_column("a")], &with_app, None).await?;
    assert!(committed.skipped);
    assert_eq!(open(&table).await?.version().as_i64(), 1);
    Ok(())
}

#[tokio::test]
async fn changes_are_made_anew_behind_others_or_conflict() -> Result<()> {
    for again in [true, false] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![their_metadata(json!({"theirs": "1"}))]).await?;
        let how = if again { options() } else { strict() };
        let ended = alter(&snapshot, &[set("ours", "1")], &how, None).await;
        let fresh = open(&table).await?;
        if !again {
            let kind = ended.err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::CommitConflict(Conflict::MetadataChanged)));
            assert_eq!(fresh.version().as_i64(), 1);
            continue;
        }
        let committed = ended?;
        assert_eq!(
            (committed.version.as_i64(), committed.conflicts_resolved.len()),
            (2, 1)
        );
        for key in ["theirs", "ours"] {
            assert_eq!(fresh.metadata().property(key), Some("1"));
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_change_that_a_winner_has_made_or_forbids_is_judged_anew() -> Result<()> {
    let (mut table, snapshot) = table(&[], json!({})).await?;
    let mut theirs = their_metadata(json!({}));
    let schema = snapshot.metadata().schema_string.replace(
        "]}",
        r#",{"name":"a","type":"string","nullable":true,"metadata":{}}]}"#,
    );
    theirs["metaData"]["schemaString"] = json!(schema);
    table.commit(vec![theirs]).await?;
    let error = change(&snapshot, &[new_column("a")])
        .await
        .expect_err("it is there by now");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    table.commit(vec![their_metadata(json!({"k": "v"}))]).await?;
    let committed = change(&snapshot, &[set("k", "v")]).await?;
    assert_eq!((committed.skipped, committed.version.as_i64()), (true, 2));
    assert_eq!(open(&table).await?.version().as_i64(), 2);
    Ok(())
}

/// As many winners as versions may be tried.
#[tokio::test]
async fn winners_are_counted_over_all_rounds() -> Result<()> {
    for (attempts, wins) in [(1, false), (2, false), (3, true)] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![add("theirs", None)]).await?;
        table.commit(vec![their_metadata(json!({"theirs": "1"}))]).await?;
        let how = AlterOptions {
            max_attempts: attempts,
            ..options()
        };
        let ended = alter(&snapshot, &[set("ours", "1")], &how, None).await;
        assert_eq!(ended.is_ok(), wins, "{attempts}");
        if let Err(error) = ended {
            assert!(matches!(error.kind(), ErrorKind::CommitConflict(_)), "{error}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_append_stands_in_the_way_of_no_change_that_reads_no_row() -> Result<()> {
    for how in [options(), strict()] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![add("theirs", None)]).await?;
        let committed = alter(&snapshot, &[new_column("a")], &how, None).await?;
        assert_eq!(
            (committed.version.as_i64(), committed.conflicts_resolved.len()),
            (2, 1)
        );
        assert_eq!(open(&table).await?.num_files(), 1);
    }
    Ok(())
}

/// protocol: check-constraints.1, check-constraints.3
#[tokio::test]
async fn a_new_constraint_is_proved_by_the_rows_of_the_version_before() -> Result<()> {
    for broken in [0, 3] {
        let (mut table, _) = table(&[], json!({})).await?;
        table.commit(vec![file("a", 5, true)]).await?;
        let snapshot = open(&table).await?;
        let rows = Rows {
            broken,
            ..Rows::default()
        };
        // Another file comes before the commit: it was not looked at.
        table.commit(vec![file("b", 5, true)]).await?;
        let raced = alter(&snapshot, &[positive()], &strict(), Some(&rows)).await;
        let expected = if broken == 0 {
            ErrorKind::CommitConflict(Conflict::ConcurrentAppend)
        } else {
            ErrorKind::ConstraintViolation
        };
        assert_eq!(raced.err().map(|error| error.kind()), Some(expected));
        let ended = alter(&snapshot, &[positive()], &options(), Some(&rows)).await;
        let asked: Vec<i64> = rows
            .asked
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .iter()
            .map(|(version, _)| *version)
            .collect();
        if broken > 0 {
            assert_eq!(
                ended.err().map(|error| error.kind()),
                Some(ErrorKind::ConstraintViolation)
            );
            assert_eq!(open(&table).await?.version().as_i64(), 2);
            continue;
        }
        assert_eq!(ended?.version.as_i64(), 3);
        assert_eq!(asked, [1, 1, 2]);
        let info = &actions_of(&table, 3).await?[0]["commitInfo"];
        assert_eq!(info["isBlindAppend"], json!(false));
    }
    // Nobody looks at rows where there are none, and nobody promises what was not looked at.
    let (_, empty) = table(&[], json!({})).await?;
    change(&empty, &[positive()]).await?;
    let (mut other, _) = table(&[], json!({})).await?;
    other.commit(vec![file("a", 1, true)]).await?;
    let error = change(&open(&other).await?, &[positive()])
        .await
        .expect_err("no rows are read");
    assert_eq!(error.kind(), ErrorKind::UnsupportedFeature);
    Ok(())
}

/// protocol: row-tracking.6, row-ids.3, row-ids.4, row-ids.5, writer-requirements-for-row-tracking.1,
/// writer-requirements-for-row-tracking.6, writer-requirements-for-row-tracking.17,
/// writer-requirements-for-row-tracking.18
#[tokio::test]
async fn files_get_row_ids_with_the_property_and_lose_them_with_the_feature() -> Result<()> {
    let (mut table, _) = table(&[], json!({})).await?;
    table
        .commit(vec![file("a", 5, false), file("b", 3, true)])
        .await?;
    let before = open(&table).await?;
    table.commit(vec![file("c", 2, false)]).await?;
    // The file that came meanwhile gets its ids, too.
    let committed = change(&before, &[set("delta.enableRowTracking", "true")]).await?;
    assert_eq!(committed.version.as_i64(), 3);
    let actions = actions_of(&table, 3).await?;
    assert_eq!(
        kinds(&actions),
        [
            "commitInfo",
            "protocol",
            "metaData",
            "domainMetadata",
            "add",
            "add",
            "add"
        ]
    );
    let mut given = Vec::new();
    for add in actions.iter().filter_map(|action| action.get("add")) {
        assert_eq!(
            (&add["dataChange"], &add["tags"]),
            (&json!(false), &json!({"k": "v"}))
        );
        assert_eq!(add["defaultRowCommitVersion"], json!(3));
        given.push((
            add["path"].clone(),
            add["baseRowId"].as_i64(),
            add["stats"].clone(),
        ));
    }
    given.sort_by_key(|(path, _, _)| path.to_string());
    let ids: Vec<Option<i64>> = given.iter().map(|(_, id, _)| *id).collect();
    assert_eq!(ids.iter().flatten().count(), 3);
    assert_eq!(given[1].2, file("b", 3, true)["add"]["stats"]);
    let snapshot = open(&table).await?;
    assert_eq!(snapshot.num_files(), 3);
    let mark = snapshot
        .domains()
        .get("delta.rowTracking")
        .map(|domain| domain.configuration.clone());
    assert_eq!(
        mark.as_deref(),
        Some(r#"{"rowIdHighWaterMark":9,"domainName":"delta.rowTracking"}"#)
    );
    // A checkpoint in between changes nothing about what is brought again.
    deltaic_log::checkpoint::write_checkpoint(
        &snapshot,
        &deltaic_log::checkpoint::CheckpointOptions::default(),
    )
    .await?;
    let snapshot = open(&table).await?;
    let off = [
        set("delta.enableRowTracking", "false"),
        TableChange::DropFeature("rowTracking".to_owned(), Traces::InHistory),
    ];
    change(&snapshot, &off).await?;
    let actions = actions_of(&table, 4).await?;
    let adds: Vec<&Value> = actions.iter().filter_map(|action| action.get("add")).collect();
    assert_eq!(adds.len(), 3);
    for add in adds {
        assert!(add.get("baseRowId").is_none() && add.get("defaultRowCommitVersion").is_none());
        assert_eq!(add["tags"], json!({"k": "v"}));
        assert!(add["stats"].is_string());
    }
    let gone = actions
        .iter()
        .filter_map(|action| action.get("domainMetadata"))
        .find(|domain| domain["domain"] == "delta.rowTracking");
    assert_eq!(gone.map(|domain| &domain["removed"]), Some(&json!(true)));
    let snapshot = open(&table).await?;
    assert!(!supports_for_writers(snapshot.protocol(), "rowTracking"));
    assert_eq!(snapshot.num_files(), 3);
    Ok(())
}

#[tokio::test]
async fn rows_that_are_not_counted_get_no_ids() -> Result<()> {
    let (mut table, _) = table(&[], json!({})).await?;
    table.commit(vec![add("a", None)]).await?;
    let ended = change(&open(&table).await?, &[set("delta.enableRowTracking", "true")]).await;
    let error = ended.expect_err("it has no numRecords");
    assert!(error.to_string().contains("numRecords"), "{error}");
    assert_eq!(open(&table).await?.version().as_i64(), 1);
    Ok(())
}

/// protocol: clustered-table.1, clustered-table.2, clustered-table.3, writer-requirements-for-clustered-table.1,
/// writer-requirements-for-clustered-table.4
#[tokio::test]
async fn a_table_is_clustered_by_columns_of_which_every_file_has_statistics() -> Result<()> {
    let cluster = [TableChange::SetClustering(vec![column("id")])];
    for (bounds, fits) in [(true, true), (false, false)] {
        let (mut table, _) = table(&[], json!({})).await?;
        table.commit(vec![file("a", 5, true)]).await?;
        table.commit(vec![file("b", 5, bounds)]).await?;
        let ended = change(&open(&table).await?, &cluster).await;
        let fresh = open(&table).await?;
        if fits {
            ended?;
            assert!(supports_for_writers(fresh.protocol(), "clustering"));
            assert!(supports_for_writers(fresh.protocol(), "domainMetadata"));
            let domain = fresh
                .domains()
                .get("delta.clustering")
                .map(|domain| domain.configuration.as_str());
            assert!(
                domain.is_some_and(|text| text.contains(r#"[["id"]]"#)),
                "{domain:?}"
            );
            continue;
        }
        let error = ended.expect_err("b has no bounds");
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
        assert!(error.context().contains(&("path", "b".into())), "{error}");
        assert_eq!(fresh.version().as_i64(), 2);
    }
    Ok(())
}

/// Both change the table in ways that the metadata alone do not tell.
#[tokio::test]
async fn a_column_is_not_dropped_by_which_a_winner_clusters_the_table() -> Result<()> {
    let (table, snapshot) = table(&[], json!({})).await?;
    let mapped = [set("delta.columnMapping.mode", "name"), new_column("a")];
    change(&snapshot, &mapped).await?;
    let both = open(&table).await?;
    change(&both, &[TableChange::SetClustering(vec![column("a")])]).await?;
    let drop = [TableChange::DropColumn(column("a"))];
    let raced = alter(&both, &drop, &strict(), None)
        .await
        .err()
        .map(|error| error.kind());
    assert!(matches!(raced, Some(ErrorKind::CommitConflict(_))), "{raced:?}");
    let error = change(&both, &drop)
        .await
        .expect_err("the table is clustered by it");
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    Ok(())
}

/// protocol: beyond:checkpoint-protection.1
#[tokio::test]
async fn a_feature_is_dropped_where_no_file_uses_it_and_checkpoints_stand_before() -> Result<()> {
    let drop = [TableChange::DropFeature(
        "deletionVectors".to_owned(),
        Traces::InHistory,
    )];
    for (vector, raced) in [(None, false), (None, true), (Some("v"), false), (Some("v"), true)] {
        let mut table = TableBuilder::new();
        table.commit(TableBuilder::first_actions_with_vectors()).await?;
        table.commit(vec![add("a", None)]).await?;
        if raced {
            table.commit(vec![add("b", None)]).await?;
        } else {
            table.commit(vec![add("b", vector)]).await?;
        }
        let snapshot = open(&table).await?;
        if raced {
            // What was proved is proved anew: the winner may use the feature.
            table.commit(vec![add("c", vector)]).await?;
        }
        let last = if raced { 3 } else { 2 };
        let ended = change(&snapshot, &drop).await;
        let fresh = open(&table).await?;
        if vector.is_some() {
            let error = ended.expect_err("a file has deleted rows");
            assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
            let path = if raced { "c" } else { "b" };
            assert!(error.context().contains(&("path", path.into())), "{error}");
            assert_eq!(fresh.version().as_i64(), last);
            continue;
        }
        assert_eq!(ended?.version.as_i64(), last + 1);
        assert!(!supports_for_writers(fresh.protocol(), "deletionVectors"));
        assert!(supports_for_writers(fresh.protocol(), "checkpointProtection"));
        let before = fresh
            .metadata()
            .property("delta.requireCheckpointProtectionBeforeVersion");
        assert_eq!(before, Some((last + 1).to_string().as_str()));
        for version in last - 2..=last {
            let path = format!("_delta_log/{version:020}.checkpoint.parquet");
            assert!(table.location().read(&path).await.is_ok(), "{path}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_proved_is_refused_by_name() -> Result<()> {
    let (mut table, _) = table(&["checkpointProtection", "invariants"], json!({})).await?;
    table.commit(vec![file("a", 1, true)]).await?;
    let snapshot = open(&table).await?;
    let truncated = [TableChange::DropFeature(
        "checkpointProtection".to_owned(),
        Traces::Gone,
    )];
    let iceberg = [
        set("delta.columnMapping.mode", "name"),
        set("delta.enableIcebergCompatV2", "true"),
    ];
    for changes in [&truncated[..], &iceberg[..]] {
        let error = change(&snapshot, changes)
            .await
            .expect_err("nobody here proves it");
        assert_eq!(error.kind(), ErrorKind::UnsupportedFeature, "{error}");
        assert!(error.hint_text().is_some());
    }
    assert_eq!(open(&table).await?.version().as_i64(), 1);
    Ok(())
}

fn a_new_table(properties: &[(&str, &str)]) -> NewTable {
    let pairs = properties.iter();
    NewTable {
        schema: StructType {
            fields: vec![StructField::new("n", PrimitiveType::String.into(), true)],
        },
        partition_columns: Vec::new(),
        cluster_by: Vec::new(),
        properties: pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        constraints: BTreeMap::new(),
        name: None,
        description: None,
        if_exists: IfExists::Replace,
        user: UserInfo::default(),
        upkeep: UpkeepPolicy::none(),
    }
}

#[tokio::test]
async fn a_table_takes_the_place_of_another_and_the_history_goes_on() -> Result<()> {
    let (mut table, old) = table(&["domainMetadata"], json!({"theirs": "1"})).await?;
    let domain = json!({"domainMetadata": {"domain": "mine", "configuration": "1", "removed": false}});
    table.commit(vec![file("a", 5, true), domain]).await?;
    let committed = create(
        &table.location(),
        a_new_table(&[("delta.feature.v2Checkpoint", "supported")]),
    )
    .await?;
    assert_eq!(committed.map(|committed| committed.version.as_i64()), Some(2));
    let fresh = open(&table).await?;
    assert_eq!(fresh.metadata().id, old.metadata().id);
    assert_eq!(fresh.schema().names().collect::<Vec<_>>(), ["n"]);
    assert_eq!((fresh.num_files(), fresh.metadata().configuration.len()), (0, 0));
    assert!(fresh.domains().is_empty());
    for feature in ["domainMetadata", "v2Checkpoint"] {
        assert!(supports_for_writers(fresh.protocol(), feature));
    }
    let actions = actions_of(&table, 2).await?;
    assert_eq!(
        kinds(&actions),
        ["commitInfo", "protocol", "metaData", "domainMetadata", "remove"]
    );
    assert_eq!(
        actions[0]["commitInfo"]["operation"],
        json!("CREATE OR REPLACE TABLE")
    );
    let before = Snapshot::load(
        table.location(),
        Some(Version::try_new(1)?),
        LoadOptions::default(),
    )
    .await?;
    assert_eq!(before.num_files(), 1);
    // Where there is none it is made, and one that only takes rows stays.
    let other = TableBuilder::new();
    for expected in [Ok(0), Err(ErrorKind::SchemaMismatch)] {
        let made = create(&other.location(), a_new_table(&[("delta.appendOnly", "true")])).await;
        let version = made.map(|committed| committed.map_or(-1, |committed| committed.version.as_i64()));
        assert_eq!(version.map_err(|error| error.kind()), expected);
    }
    Ok(())
}
