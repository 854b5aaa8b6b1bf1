//! What a checkpoint is made of: names, sidecars, columns, what has expired, and the hint that names it.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{
    CheckpointName, CheckpointOptions, CheckpointWritten, HintOutcome, write_checkpoint,
};
use deltaic_log::last_checkpoint::{Hint, read_last_checkpoint};
use deltaic_log::log_tail::{LogTail, StagedCommit};
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::store_error::store_error;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_testkit::checkpoint_reader::{actions_of, columns_of};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::facts::facts;
use deltaic_testkit::oracle::replay;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use deltaic_testkit::upkeep::{LastCommit, Upkeep};
use serde_json::{Value, json};

/// A table of these columns, partition columns and properties, with these features.
fn first(fields: Value, partition_columns: &[&str], properties: Value, features: &[&str]) -> Vec<Value> {
    let schema = json!({"type": "struct", "fields": fields}).to_string();
    let protocol = match features {
        [] => json!({"minReaderVersion": 1, "minWriterVersion": 2}),
        _ => json!({"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features,
            "writerFeatures": features}),
    };
    vec![
        json!({"protocol": protocol}),
        json!({"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}}, "schemaString": schema,
            "partitionColumns": partition_columns, "configuration": properties}}),
    ]
}

fn field(name: &str, data_type: &str) -> Value {
    json!({"name": name, "type": data_type, "nullable": true, "metadata": {}})
}

fn one_column() -> Value {
    json!([field("id", "long")])
}

async fn table_of(commits: &[Vec<Value>]) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    for actions in commits {
        table.commit(actions.clone()).await?;
    }
    Ok(table)
}

async fn open(table: &TableBuilder, version: Option<i64>) -> Result<Snapshot> {
    let version = version.map(Version::try_new).transpose()?;
    Snapshot::load(table.location(), version, LoadOptions::default()).await
}

async fn read(table: &TableBuilder, relative: &str) -> Result<Vec<u8>> {
    let bytes = table.location().read(relative).await;
    Ok(bytes.map_err(|error| store_error(&error, relative))?.to_vec())
}

/// The actions of one kind that the files of a checkpoint hold.
async fn actions(table: &TableBuilder, written: &CheckpointWritten, kind: &str) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for relative in std::iter::once(&written.path).chain(&written.sidecars) {
        let all = actions_of(&read(table, relative).await?)?;
        found.extend(all.iter().filter_map(|action| action.get(kind)).cloned());
    }
    Ok(found)
}

fn names(actions: &[Value], key: &str) -> Vec<String> {
    let mut names: Vec<String> = actions
        .iter()
        .map(|action| action[key].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names
}

fn v2(properties: &Value) -> Vec<Value> {
    let mut properties = properties.clone();
    properties["delta.checkpointPolicy"] = json!("v2");
    first(one_column(), &[], properties, &["v2Checkpoint"])
}

fn named(count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| add(&format!("f{number}"), None))
        .collect()
}

/// protocol: checkpoints.5, checkpoints.7, multi-part-checkpoint.1
#[tokio::test]
async fn a_classic_checkpoint_is_one_file() -> Result<()> {
    let table = table_of(&[first(one_column(), &[], json!({}), &[]), named(3)]).await?;
    let written = write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default()).await?;
    assert_eq!(written.path, "_delta_log/00000000000000000001.checkpoint.parquet");
    assert_eq!(
        (written.actions, written.adds, written.is_new),
        (Some(5), 3, true)
    );
    assert_eq!(written.sidecars, [""; 0]);
    let bytes = read(&table, &written.path).await?;
    assert_eq!(written.bytes, bytes.len() as u64);
    let columns = columns_of(&bytes)?;
    assert!(columns.iter().any(|column| column == "add.path"));
    let of_v2 = |column: &&String| column.starts_with("sidecar") || column.starts_with("checkpointMetadata");
    assert_eq!(columns.iter().find(of_v2), None);
    Ok(())
}

/// A top level has neither adds nor removes beside sidecars, each sidecar has a name of its own and its size, and
/// together they say everything once.
///
/// protocol: checkpoints.4, uuid-named-checkpoint.1, v2-spec.1, v2-spec.2, v2-spec.3, checkpoint-metadata.2
/// protocol: handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints.1
#[tokio::test]
async fn sidecars_hold_so_many_actions_and_no_more() -> Result<()> {
    let mut files = named(10);
    files.push(remove("gone", None));
    for (sidecar_actions, expected) in [(1, 11), (4, 3), (10, 2), (11, 1), (50_000, 1)] {
        let table = table_of(&[v2(&json!({})), files.clone()]).await?;
        let options = CheckpointOptions {
            sidecar_actions,
            ..CheckpointOptions::default()
        };
        let written = write_checkpoint(&open(&table, None).await?, &options).await?;
        assert!(written.path.ends_with(".parquet") && !written.path.contains("checkpoint.parquet"));
        let top = actions_of(&read(&table, &written.path).await?)?;
        assert_eq!(
            top.iter()
                .filter(|action| action.get("checkpointMetadata").is_some())
                .count(),
            1
        );
        assert!(
            top.iter()
                .all(|action| action.get("add").is_none() && action.get("remove").is_none())
        );
        let sidecars: Vec<&Value> = top.iter().filter_map(|action| action.get("sidecar")).collect();
        assert_eq!(sidecars.len(), expected);
        // delta-spark asks a top level for adds and removes, and fails where it has no such columns.
        let columns = columns_of(&read(&table, &written.path).await?)?;
        for column in ["add.path", "add.partitionValues.key_value.key", "remove.path"] {
            assert!(columns.iter().any(|found| found == column), "{columns:?}");
        }
        let mut bytes = read(&table, &written.path).await?.len() as u64;
        let mut rows = top.len();
        for (sidecar, relative) in sidecars.iter().zip(&written.sidecars) {
            let name = sidecar["path"].as_str().unwrap_or_default();
            assert_eq!(*relative, format!("_delta_log/_sidecars/{name}"));
            let held = read(&table, relative).await?;
            assert_eq!(sidecar["sizeInBytes"], json!(held.len()));
            let held_actions = actions_of(&held)?;
            assert!(held_actions.len() <= sidecar_actions);
            rows += held_actions.len();
            bytes += held.len() as u64;
        }
        assert_eq!((written.bytes, written.actions), (bytes, Some(rows as u64)));
        assert_eq!(names(&actions(&table, &written, "add").await?, "path").len(), 10);
        assert_eq!(
            names(&actions(&table, &written, "remove").await?, "path"),
            ["gone"]
        );
    }
    Ok(())
}

/// Clients that do not know the feature find a classic name, and the protocol behind it.
///
/// protocol: handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints.2
/// protocol: handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints.3, classic-checkpoint.2
#[tokio::test]
async fn a_classic_name_stands_beside_one_with_an_id() -> Result<()> {
    let table = table_of(&[v2(&json!({})), named(2)]).await?;
    let snapshot = open(&table, None).await?;
    let by_spec = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
    let classic = CheckpointOptions {
        name: CheckpointName::Classic,
        ..CheckpointOptions::default()
    };
    let classic = write_checkpoint(&snapshot, &classic).await?;
    assert_eq!(classic.path, "_delta_log/00000000000000000001.checkpoint.parquet");
    assert!(by_spec.is_new && classic.is_new);
    for written in [by_spec, classic] {
        assert_eq!(
            actions(&table, &written, "checkpointMetadata").await?,
            [json!({"version": 1})]
        );
        assert_eq!(actions(&table, &written, "protocol").await?.len(), 1);
    }
    Ok(())
}

/// protocol: classic-checkpoint.1
#[tokio::test]
async fn a_checkpoint_that_is_there_is_left() -> Result<()> {
    for actions in [first(one_column(), &[], json!({}), &[]), v2(&json!({}))] {
        let table = table_of(&[actions, named(3)]).await?;
        let snapshot = open(&table, None).await?;
        let written = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
        let before = read(&table, &written.path).await?;
        // One who knows it from opening the table, and one who does not.
        for snapshot in [snapshot, open(&table, None).await?] {
            table.scripted().forget();
            let again = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
            assert!(!again.is_new);
            assert_eq!(
                (&again.path, again.adds, again.actions),
                (&written.path, 3, written.actions)
            );
            assert_eq!((again.bytes, &again.sidecars), (written.bytes, &written.sidecars));
            assert_eq!(table.scripted().report().count(RequestKind::Put), 0);
        }
        assert_eq!(read(&table, &written.path).await?, before);
    }
    Ok(())
}

/// One that cannot be read stands for nothing, and is not counted as done.
#[tokio::test]
async fn a_damaged_checkpoint_in_the_way_is_told() -> Result<()> {
    let table = table_of(&[first(one_column(), &[], json!({}), &[]), named(3)]).await?;
    let place = "_delta_log/00000000000000000001.checkpoint.parquet";
    table.put(place, b"PAR1".to_vec()).await?;
    let error = write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default()).await;
    let error = error.err();
    assert_eq!(error.as_ref().map(Error::kind), Some(ErrorKind::CorruptLog));
    assert!(error.is_some_and(|error| error.to_string().contains(place) && error.hint_text().is_some()));
    assert_eq!(read(&table, place).await?, b"PAR1");
    Ok(())
}

/// protocol: last-checkpoint-file-schema-json-checksum.1
#[tokio::test]
async fn the_hint_never_goes_back() -> Result<()> {
    let mut commits = vec![first(one_column(), &[], json!({}), &[])];
    commits.extend(named(4).into_iter().map(|file| vec![file]));
    let table = table_of(&commits).await?;
    let hint = || async { read_last_checkpoint(&table.location()).await };
    let write = async |version| {
        write_checkpoint(&open(&table, Some(version)).await?, &CheckpointOptions::default()).await
    };
    let version = |number| Version::try_new(number);
    assert!(matches!(write(2).await?.hint, HintOutcome::Written));
    assert_eq!(hint().await, Hint::Version(version(2)?));
    // An older one leaves it; a newer one moves it.
    assert!(matches!(write(1).await?.hint, HintOutcome::Stays(two) if two == version(2)?));
    assert_eq!(hint().await, Hint::Version(version(2)?));
    assert!(matches!(write(3).await?.hint, HintOutcome::Written));
    assert_eq!(hint().await, Hint::Version(version(3)?));
    // What cannot be read is written over, as is one that is gone: also for a checkpoint that was there.
    for broken in [
        Some("{\"version\":"),
        Some("{\"version\":9,\"checksum\":\"00\"}"),
        None,
    ] {
        const NAME: &str = "_delta_log/_last_checkpoint";
        match broken {
            Some(text) => table.put(NAME, text.as_bytes().to_vec()).await?,
            None => table.delete(NAME).await?,
        }
        let again = write(3).await?;
        assert!(!again.is_new && matches!(again.hint, HintOutcome::Written));
        assert_eq!(hint().await, Hint::Version(version(3)?));
    }
    // One of the same version stays.
    assert!(matches!(write(3).await?.hint, HintOutcome::Stays(three) if three == version(3)?));
    // One of a version that is not there yet stays too: it is newer, whatever it is.
    table
        .put("_delta_log/_last_checkpoint", b"{\"version\":7}".to_vec())
        .await?;
    assert!(matches!(write(4).await?.hint, HintOutcome::Stays(seven) if seven == version(7)?));
    Ok(())
}

/// protocol: add-file-and-remove-file.2, checkpoints.10
#[tokio::test]
async fn what_has_expired_is_left_out() -> Result<()> {
    let properties = json!({"delta.deletedFileRetentionDuration": "interval 1 seconds",
        "delta.setTransactionRetentionDuration": "interval 2 seconds"});
    let gone = |path: &str, at: Option<i64>| {
        let mut gone = remove(path, None);
        gone["remove"]["deletionTimestamp"] = json!(at);
        gone
    };
    let txn = |app: &str, at: Option<i64>| json!({"txn": {"appId": app, "version": 1, "lastUpdated": at}});
    let commits = [
        first(one_column(), &[], properties, &[]),
        vec![
            gone("early", Some(8_999)),
            gone("late", Some(9_000)),
            gone("timeless", None),
            txn("early", Some(7_999)),
            txn("late", Some(8_000)),
            txn("timeless", None),
            add("file", None),
        ],
        vec![
            gone("of another commit", Some(8_000)),
            gone("newest", Some(20_000)),
        ],
    ];
    let table = table_of(&commits).await?;
    for (version, now_ms, removes, txns) in [
        (1, 10_000, &["late"][..], &["late", "timeless"][..]),
        (
            1,
            0,
            &["early", "late", "timeless"],
            &["early", "late", "timeless"],
        ),
        // From a checkpoint that has them, and the commits after it.
        (2, 10_001, &["newest"], &["timeless"]),
    ] {
        let snapshot = open(&table, Some(version)).await?;
        let options = CheckpointOptions {
            now_ms: Some(now_ms),
            ..CheckpointOptions::default()
        };
        let written = write_checkpoint(&snapshot, &options).await?;
        assert_eq!(
            names(&actions(&table, &written, "remove").await?, "path"),
            removes
        );
        assert_eq!(names(&actions(&table, &written, "txn").await?, "appId"), txns);
        if version == 1 && now_ms == 10_000 {
            table.delete(&written.path).await?;
        }
    }
    Ok(())
}

/// protocol: checkpoints.15, checkpoints.16
#[tokio::test]
async fn statistics_stand_there_as_the_table_says() -> Result<()> {
    let stats = r#"{"numRecords":2,"tightBounds":false,"minValues":{"id":1,"s":{"x":1.5}},"maxValues":{"id":9},"nullCount":{"id":0,"s":{"x":1}}}"#;
    let parsed = json!({"numRecords": 2, "tightBounds": false, "minValues": {"id": 1, "s": {"x": 1.5}},
        "maxValues": {"id": 9}, "nullCount": {"id": 0, "s": {"x": 1}}});
    let inner = json!({"name": "s", "nullable": true, "metadata": {},
        "type": {"type": "struct", "fields": [field("x", "double"), field("b", "binary")]}});
    let columns = json!([field("id", "long"), inner, field("flag", "boolean")]);
    for (text, structs) in [
        (None, None),
        (Some("true"), Some("false")),
        (Some("false"), Some("true")),
        (Some("false"), Some("false")),
    ] {
        let properties = json!({"delta.checkpoint.writeStatsAsJson": text, "delta.checkpoint.writeStatsAsStruct": structs});
        let (mut with, without) = (add("with", None), add("without", None));
        with["add"]["stats"] = json!(stats);
        let table = table_of(&[first(columns.clone(), &[], properties, &[]), vec![with, without]]).await?;
        let written = write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default()).await?;
        let mut adds = actions(&table, &written, "add").await?;
        adds.sort_by_key(|add| add["path"].to_string());
        let (has_text, has_structs) = (text != Some("false"), structs != Some("false"));
        let expected = |is_there: bool, value: Value| if is_there { Some(value) } else { None };
        assert_eq!(adds[0].get("stats").cloned(), expected(has_text, json!(stats)));
        assert_eq!(
            adds[0].get("stats_parsed").cloned(),
            expected(has_structs, parsed.clone())
        );
        assert_eq!((adds[1].get("stats"), adds[1].get("stats_parsed")), (None, None));
        let columns = columns_of(&read(&table, &written.path).await?)?;
        let has = |column: &str| columns.iter().any(|found| found.starts_with(column));
        assert_eq!(
            (has("add.stats"), has("add.stats_parsed")),
            (has_text || has_structs, has_structs)
        );
        assert_eq!(columns.iter().any(|found| found == "add.stats"), has_text);
        assert!(!has("remove.stats") && !has("remove.tags"));
    }
    Ok(())
}

/// Statistics that a checkpoint holds as columns alone become text again where the table asks for text since.
#[tokio::test]
async fn columns_become_text_where_text_is_asked_for() -> Result<()> {
    let stats = r#"{"numRecords":2,"tightBounds":true,"minValues":{"id":1},"maxValues":{"id":9},"nullCount":{"id":0}}"#;
    let form = |text: &str| {
        let properties = json!({"delta.checkpoint.writeStatsAsJson": text});
        first(one_column(), &[], properties, &[])
    };
    let mut with = add("with", None);
    with["add"]["stats"] = json!(stats);
    let metadata = form("true").swap_remove(1);
    let table = table_of(&[form("false"), vec![with, add("without", None)], vec![metadata]]).await?;
    let columns = write_checkpoint(&open(&table, Some(1)).await?, &CheckpointOptions::default()).await?;
    assert!(
        actions(&table, &columns, "add")
            .await?
            .iter()
            .all(|add| add.get("stats").is_none())
    );
    for version in 0..=1 {
        table.delete(&format!("_delta_log/{version:020}.json")).await?;
    }
    let text = write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default()).await?;
    let adds = actions(&table, &text, "add").await?;
    assert_eq!(names(&adds, "stats"), ["", stats]);
    // What came from columns is a column again.
    let parsed = |add: &Value| {
        add.get("stats_parsed")
            .map(|parsed| parsed["maxValues"]["id"].clone())
    };
    assert_eq!(adds.iter().filter_map(parsed).collect::<Vec<_>>(), [json!(9)]);
    Ok(())
}

/// protocol: checkpoints.14, checkpoint-schema.2
#[tokio::test]
async fn columns_have_the_names_of_the_log() -> Result<()> {
    let mapped = |name: &str, data_type: &str, id: i64| {
        json!({"name": name, "type": data_type, "nullable": true, "metadata":
            {"delta.columnMapping.id": id, "delta.columnMapping.physicalName": format!("col-{id}")}})
    };
    let columns = json!([
        mapped("id", "long", 1),
        mapped("day", "date", 2),
        mapped("other", "string", 3)
    ]);
    let properties = json!({"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3",
        "delta.dataSkippingStatsColumns": "id"});
    let mut file = add("f", None);
    file["add"]["partitionValues"] = json!({"col-2": "2020-02-29"});
    file["add"]["stats"] = json!(r#"{"numRecords":1,"minValues":{"col-1":4,"col-3":"a"}}"#);
    let mut null = add("n", None);
    null["add"]["partitionValues"] = json!({"col-2": null});
    let table = table_of(&[
        first(columns, &["day"], properties, &["columnMapping"]),
        vec![file, null],
    ])
    .await?;
    let written = write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default()).await?;
    let mut adds = actions(&table, &written, "add").await?;
    adds.sort_by_key(|add| add["path"].to_string());
    assert_eq!(adds[0]["partitionValues_parsed"], json!({"col-2": "2020-02-29"}));
    assert_eq!(adds[0]["partitionValues"], json!({"col-2": "2020-02-29"}));
    assert_eq!(adds[1]["partitionValues"], json!({"col-2": null}));
    assert_eq!(adds[1].get("partitionValues_parsed"), None);
    // Only what writers index stands there as columns; the text says everything.
    assert_eq!(adds[0]["stats_parsed"]["minValues"], json!({"col-1": 4}));
    let protocol = actions(&table, &written, "protocol").await?;
    assert_eq!(protocol[0]["readerFeatures"], json!(["columnMapping"]));
    let columns = columns_of(&read(&table, &written.path).await?)?;
    assert!(
        !columns
            .iter()
            .any(|column| column.contains("day") || column.ends_with(".id") && column.starts_with("add"))
    );
    Ok(())
}

/// A table without statistics columns, partitions or files: nothing of it is an empty struct, which Parquet does not have.
#[tokio::test]
async fn a_table_of_nothing_has_a_checkpoint() -> Result<()> {
    let nothing =
        json!([{"name": "e", "nullable": true, "metadata": {}, "type": {"type": "struct", "fields": []}}]);
    let only_binary = json!([field("b", "binary")]);
    for columns in [json!([]), nothing, only_binary, json!([field("v", "void")])] {
        for features in [&[][..], &["v2Checkpoint"]] {
            let properties = json!({"delta.checkpointPolicy": "v2"});
            let commits = [
                first(columns.clone(), &[], properties, features),
                vec![json!({"commitInfo": {}})],
            ];
            let table = table_of(&commits).await?;
            let written = write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default()).await?;
            assert_eq!((written.adds, written.sidecars.len()), (0, 0));
            for version in 0..=1 {
                table.delete(&format!("_delta_log/{version:020}.json")).await?;
            }
            assert_eq!(facts(&open(&table, None).await?).await?, replay(&commits).facts());
        }
    }
    Ok(())
}

/// protocol: beyond:checkpoint-protection.1
#[tokio::test]
async fn what_is_not_known_is_refused_before_a_byte_is_written() -> Result<()> {
    let features = |names: &[&str]| {
        let mut actions = first(one_column(), &[], json!({}), &["vacuumProtocolCheck"]);
        actions[0]["protocol"]["writerFeatures"] = json!(names);
        actions
    };
    let wrong = |key: &str| first(one_column(), &[], json!({key: "never"}), &[]);
    for (actions, kind) in [
        (
            features(&["vacuumProtocolCheck", "fromTheFuture"]),
            ErrorKind::UnsupportedFeature,
        ),
        (
            features(&["vacuumProtocolCheck", "redirectWriterOnly-preview"]),
            ErrorKind::UnsupportedFeature,
        ),
        (
            first(json!([field("q", "quaternion")]), &[], json!({}), &[]),
            ErrorKind::UnsupportedFeature,
        ),
        (wrong("delta.checkpoint.writeStatsAsJson"), ErrorKind::CorruptLog),
        (
            wrong("delta.checkpoint.writeStatsAsStruct"),
            ErrorKind::CorruptLog,
        ),
        (wrong("delta.deletedFileRetentionDuration"), ErrorKind::CorruptLog),
        (wrong("delta.checkpointPolicy"), ErrorKind::CorruptLog),
    ] {
        let table = table_of(std::slice::from_ref(&actions)).await?;
        let snapshot = open(&table, None).await?;
        table.scripted().forget();
        let error = write_checkpoint(&snapshot, &CheckpointOptions::default())
            .await
            .err();
        assert_eq!(error.as_ref().map(Error::kind), Some(kind), "{actions:?}");
        assert!(error.is_some_and(|error| error.hint_text().is_some()));
        assert_eq!(table.scripted().report().count(RequestKind::Put), 0);
    }
    // Checkpoint protection asks for nothing but that.
    let protected = features(&["vacuumProtocolCheck", "checkpointProtection"]);
    let table = table_of(&[protected]).await?;
    assert!(
        write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default())
            .await?
            .is_new
    );
    Ok(())
}

/// A commit that only its catalog has is no part of `_delta_log` yet.
///
/// protocol: checkpoints.9, catalog:maintenance-operations-on-catalog-managed-tables.1
#[tokio::test]
async fn only_a_published_version_has_a_checkpoint() -> Result<()> {
    let names = ["catalogManaged", "vacuumProtocolCheck"];
    let mut actions = first(
        one_column(),
        &[],
        json!({"delta.enableInCommitTimestamps": "true"}),
        &names,
    );
    let writers = ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"];
    actions[0]["protocol"]["writerFeatures"] = json!(writers);
    let info =
        |time: i64| json!({"commitInfo": {"inCommitTimestamp": time, "operation": "TEST", "timestamp": 1}});
    actions.insert(0, info(1));
    let table = table_of(&[actions]).await?;
    let staged = "00000000000000000001.3a0d65cd-4056-49b8-937b-95f9e0ee90e5.json";
    let lines = format!("{}\n{}\n", info(2), add("f", None));
    table
        .put(
            &format!("_delta_log/_staged_commits/{staged}"),
            lines.clone().into_bytes(),
        )
        .await?;
    let ratified = StagedCommit {
        version: Version::try_new(1)?,
        name: staged.to_owned(),
        size: lines.len() as u64,
        modified_ms: 2,
    };
    let tail = LogTail {
        commits: vec![ratified],
        max_version: None,
    };
    let snapshot = Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
    assert_eq!(snapshot.version().as_i64(), 1);
    let error = write_checkpoint(&snapshot, &CheckpointOptions::default())
        .await
        .err();
    assert_eq!(error.as_ref().map(Error::kind), Some(ErrorKind::VersionNotFound));
    assert!(error.is_some_and(|error| error.hint_text().is_some_and(|hint| hint.contains("publish"))));
    table
        .put("_delta_log/00000000000000000001.json", lines.into_bytes())
        .await?;
    let written = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
    assert_eq!((written.is_new, written.adds), (true, 1));
    Ok(())
}

/// A file that comes back is no tombstone, also where its tombstone stands in a top level in JSON.
///
/// protocol: action-reconciliation.1
#[tokio::test]
async fn what_comes_back_is_no_tombstone() -> Result<()> {
    for format in [CheckpointFormat::Json, CheckpointFormat::Parquet] {
        let gone = vec![remove("back", None), remove("gone", None)];
        let mut table = table_of(&[v2(&json!({})), gone]).await?;
        let form = CheckpointForm::of(Layout::V2(format, 0));
        table.upkeep(&Upkeep::Checkpoint(form)).await?;
        table.upkeep(&Upkeep::CleanUp(LastCommit::Deleted)).await?;
        table.commit(named(1)).await?;
        table.commit(vec![add("back", None)]).await?;
        let written = write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default()).await?;
        assert_eq!(
            names(&actions(&table, &written, "add").await?, "path"),
            ["back", "f0"]
        );
        assert_eq!(
            names(&actions(&table, &written, "remove").await?, "path"),
            ["gone"]
        );
    }
    Ok(())
}

/// Of a row group of any size, read in many batches, each action goes by its own place.
#[tokio::test]
async fn what_stands_in_a_large_row_group_is_kept_and_nothing_else() -> Result<()> {
    const FILES: usize = 70_000;
    let mut table = table_of(&[first(one_column(), &[], json!({}), &[]), named(FILES)]).await?;
    let form = CheckpointForm::of(Layout::Classic);
    table.upkeep(&Upkeep::Checkpoint(form)).await?;
    table.upkeep(&Upkeep::CleanUp(LastCommit::Deleted)).await?;
    let gone = [3, 4_095, 4_096, 8_191, 65_535, 65_536, 69_999];
    let removes = gone.iter().map(|number| remove(&format!("f{number}"), None));
    table.commit(removes.collect()).await?;
    let written = write_checkpoint(&open(&table, None).await?, &CheckpointOptions::default()).await?;
    let mut expected: Vec<String> = (0..FILES)
        .filter(|number| !gone.contains(number))
        .map(|number| format!("f{number}"))
        .collect();
    expected.sort();
    assert_eq!(names(&actions(&table, &written, "add").await?, "path"), expected);
    assert_eq!(actions(&table, &written, "remove").await?.len(), gone.len());
    Ok(())
}

/// Files in parts say the same as those that are held, on a store and on a disk, and a checkpoint that came first stays.
#[tokio::test]
async fn a_large_checkpoint_goes_in_parts() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
    let files = named(2_000);
    let table = table_of(&[first(one_column(), &[], json!({}), &[]), files]).await?;
    let options = CheckpointOptions {
        held_bytes: 0,
        ..CheckpointOptions::default()
    };
    for location in [table.copy_to(folder.path()).await?, table.location()] {
        let snapshot = Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await?;
        let written = write_checkpoint(&snapshot, &options).await?;
        assert_eq!((written.is_new, written.adds), (true, 2_000));
        let opened = Snapshot::load(location, None, LoadOptions::default()).await?;
        assert!(opened.segment().checkpoint.is_some());
        assert_eq!(opened.num_files(), 2_000);
        assert_eq!(opened.warnings(), [""; 0]);
    }
    Ok(())
}
