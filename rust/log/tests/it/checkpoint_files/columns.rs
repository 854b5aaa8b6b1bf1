//! The columns of a checkpoint: statistics and partition values, as text and as columns.

use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_protocol::Result;
use deltaic_testkit::checkpoint_reader::columns_of;
use deltaic_testkit::facts::facts;
use deltaic_testkit::oracle::replay;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

use super::actions::{actions, field, first, names, one_column};

/// protocol: checkpoints.15, checkpoints.16
#[tokio::test]
async fn statistics_remain_there_as_the_table_states() -> Result<()> {
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
        let table =
            TableBuilder::of(&[first(columns.clone(), &[], properties, &[]), vec![with, without]]).await?;
        let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
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
        let columns = columns_of(&table.read(&written.path).await?)?;
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

/// Statistics that a checkpoint has only as columns are converted to JSON if the table requests it since.
#[tokio::test]
async fn columns_become_text_where_text_is_requested() -> Result<()> {
    let stats = r#"{"numRecords":2,"tightBounds":true,"minValues":{"id":1},"maxValues":{"id":9},"nullCount":{"id":0}}"#;
    let form = |text: &str| {
        let properties = json!({"delta.checkpoint.writeStatsAsJson": text});
        first(one_column(), &[], properties, &[])
    };
    let mut with = add("with", None);
    with["add"]["stats"] = json!(stats);
    let metadata = form("true").swap_remove(1);
    let table = TableBuilder::of(&[form("false"), vec![with, add("without", None)], vec![metadata]]).await?;
    let columns = write_checkpoint(&table.open_at(1).await?, &CheckpointOptions::default()).await?;
    assert!(
        actions(&table, &columns, "add")
            .await?
            .iter()
            .all(|add| add.get("stats").is_none())
    );
    for version in 0..=1 {
        table.delete(&format!("_delta_log/{version:020}.json")).await?;
    }
    let text = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    let adds = actions(&table, &text, "add").await?;
    assert_eq!(names(&adds, "stats"), ["", stats]);
    // Statistics read from columns are written as columns again.
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
    let table = TableBuilder::of(&[
        first(columns, &["day"], properties, &["columnMapping"]),
        vec![file, null],
    ])
    .await?;
    let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    let mut adds = actions(&table, &written, "add").await?;
    adds.sort_by_key(|add| add["path"].to_string());
    assert_eq!(adds[0]["partitionValues_parsed"], json!({"col-2": "2020-02-29"}));
    assert_eq!(adds[0]["partitionValues"], json!({"col-2": "2020-02-29"}));
    assert_eq!(adds[1]["partitionValues"], json!({"col-2": null}));
    assert_eq!(adds[1].get("partitionValues_parsed"), None);
    // Only indexed columns are written as columns; the JSON contains all of them.
    assert_eq!(adds[0]["stats_parsed"]["minValues"], json!({"col-1": 4}));
    let protocol = actions(&table, &written, "protocol").await?;
    assert_eq!(protocol[0]["readerFeatures"], json!(["columnMapping"]));
    let columns = columns_of(&table.read(&written.path).await?)?;
    assert!(
        !columns
            .iter()
            .any(|column| column.contains("day") || column.ends_with(".id") && column.starts_with("add"))
    );
    Ok(())
}

/// As many columns as writers index; nested columns count individually.
///
/// protocol: checkpoints.14
#[tokio::test]
async fn the_first_columns_are_there_as_columns() -> Result<()> {
    let inner = json!([field("b", "long"), field("c", "long")]);
    let within =
        json!({"name": "s", "nullable": true, "metadata": {}, "type": {"type": "struct", "fields": inner}});
    let columns = json!([field("a", "long"), within, field("d", "long")]);
    let all = ["a", "s.b", "s.c", "d"];
    for (indexed, expected) in [
        ("0", 0),
        ("1", 1),
        ("2", 2),
        ("3", 3),
        ("4", 4),
        ("32", 4),
        ("-1", 4),
    ] {
        let properties = json!({"delta.dataSkippingNumIndexedCols": indexed});
        let mut file = add("f", None);
        file["add"]["stats"] = json!(r#"{"numRecords":1,"minValues":{"a":1,"s":{"b":2,"c":3},"d":4}}"#);
        let table = TableBuilder::of(&[first(columns.clone(), &[], properties, &[]), vec![file]]).await?;
        let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
        let found = columns_of(&table.read(&written.path).await?)?;
        let least = |column: &String| {
            column
                .strip_prefix("add.stats_parsed.minValues.")
                .map(str::to_owned)
        };
        let found: Vec<String> = found.iter().filter_map(least).collect();
        assert_eq!(found, all[..expected], "{indexed}");
    }
    Ok(())
}

/// A table without statistics columns, partitions or files: no column is an empty struct, which Parquet does not
/// support.
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
            let table = TableBuilder::of(&commits).await?;
            let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
            assert_eq!((written.adds, written.sidecars.len()), (0, 0));
            for version in 0..=1 {
                table.delete(&format!("_delta_log/{version:020}.json")).await?;
            }
            assert_eq!(facts(&table.open().await?).await?, replay(&commits).facts());
        }
    }
    Ok(())
}

/// Bounds of a variant in an add's JSON remain in the JSON only; as a column, a variant has only its null count.
///
/// protocol: beyond:variant.5
#[tokio::test]
async fn a_variant_has_a_null_count_and_no_bounds() -> Result<()> {
    let inner = json!({"name": "s", "nullable": true, "metadata": {},
        "type": {"type": "struct", "fields": [field("w", "variant"), field("x", "long")]}});
    let columns = json!([field("id", "long"), field("v", "variant"), inner]);
    let properties = json!({"delta.checkpoint.writeStatsAsStruct": "true"});
    let bounds = json!({"id": 1, "v": "0rJua0Pr0000000000", "s": {"w": "0rJua0Pr0000000000", "x": 3}});
    let nulls = json!({"id": 0, "v": 1, "s": {"w": 2, "x": 0}});
    let mut file = add("f", None);
    file["add"]["stats"] = json!(
        json!({"numRecords": 3, "minValues": bounds, "maxValues": bounds, "nullCount": nulls}).to_string()
    );
    let table = TableBuilder::of(&[first(columns, &[], properties, &["variantType"]), vec![file]]).await?;
    let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    let columns = columns_of(&table.read(&written.path).await?)?;
    for column in ["minValues.v", "minValues.s.w", "maxValues.v", "maxValues.s.w"] {
        let column = format!("add.stats_parsed.{column}");
        assert!(
            !columns.iter().any(|found| found.starts_with(&column)),
            "{columns:?}"
        );
    }
    let adds = actions(&table, &written, "add").await?;
    let known = json!({"id": 1, "s": {"x": 3}});
    assert_eq!(
        adds[0]["stats_parsed"],
        json!({"numRecords": 3, "tightBounds": true, "minValues": known, "maxValues": known, "nullCount": nulls})
    );
    Ok(())
}
