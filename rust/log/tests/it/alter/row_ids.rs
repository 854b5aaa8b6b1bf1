//! Enabling the property assigns row ids to files; dropping the feature removes them.

use deltaic_protocol::Result;
use deltaic_protocol::change::TableChange;
use deltaic_protocol::features::{Traces, supports_for_writers};
use deltaic_testkit::table_builder::add;
use serde_json::{Value, json};

use super::changes::{change, set};
use super::table::{file, kinds, table};

/// protocol: row-tracking.6, row-ids.3, row-ids.4, row-ids.5, writer-requirements-for-row-tracking.1,
/// writer-requirements-for-row-tracking.6, writer-requirements-for-row-tracking.17,
/// writer-requirements-for-row-tracking.18
#[tokio::test]
async fn files_get_row_ids_with_the_property_and_lose_them_with_the_feature() -> Result<()> {
    let (mut table, _) = table(&[], json!({})).await?;
    table
        .commit(vec![file("a", 5, false), file("b", 3, true)])
        .await?;
    let before = table.open().await?;
    table.commit(vec![file("c", 2, false)]).await?;
    // The file that was added concurrently gets its ids, too.
    let committed = change(&before, &[set("delta.enableRowTracking", "true")]).await?;
    assert_eq!(committed.version.as_i64(), 3);
    let actions = table.actions_of(3).await?;
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
    let snapshot = table.open().await?;
    assert_eq!(snapshot.num_files(), 3);
    let mark = snapshot
        .domains()
        .get("delta.rowTracking")
        .map(|domain| domain.configuration.clone());
    assert_eq!(
        mark.as_deref(),
        Some(r#"{"rowIdHighWaterMark":9,"domainName":"delta.rowTracking"}"#)
    );
    // A checkpoint in between does not affect the re-added files.
    deltaic_log::checkpoint::write_checkpoint(
        &snapshot,
        &deltaic_log::checkpoint::CheckpointOptions::default(),
    )
    .await?;
    let snapshot = table.open().await?;
    let off = [
        set("delta.enableRowTracking", "false"),
        TableChange::DropFeature("rowTracking".to_owned(), Traces::InHistory),
    ];
    change(&snapshot, &off).await?;
    let actions = table.actions_of(4).await?;
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
    let snapshot = table.open().await?;
    assert!(!supports_for_writers(snapshot.protocol(), "rowTracking"));
    assert_eq!(snapshot.num_files(), 3);
    Ok(())
}

#[tokio::test]
async fn rows_that_are_not_counted_get_no_ids() -> Result<()> {
    let (mut table, _) = table(&[], json!({})).await?;
    table.commit(vec![add("a", None)]).await?;
    let ended = change(&table.open().await?, &[set("delta.enableRowTracking", "true")]).await;
    let error = ended.expect_err("it has no numRecords");
    assert!(error.to_string().contains("numRecords"), "{error}");
    assert_eq!(table.open().await?.version().as_i64(), 1);
    Ok(())
}
