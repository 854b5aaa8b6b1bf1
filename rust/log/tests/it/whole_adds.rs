//! The adds of live files with all fields of the log, from commits, compaction files and checkpoints.

use deltaic_log::checkpoint::{CheckpointOptions, whole_adds, write_checkpoint};
use deltaic_log::compaction::compact;
use deltaic_protocol::actions::Add;
use deltaic_protocol::{Error, Result, Version};
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::{Value, json};

/// An add with all fields.
fn full(path: &str) -> Value {
    json!({"add": {
        "path": path, "partitionValues": {}, "size": 7, "modificationTime": 5, "dataChange": true,
        "stats": "{\"numRecords\":9,\"tightBounds\":true,\"minValues\":{\"id\":1},\"maxValues\":{\"id\":12}}",
        "tags": {"k": "v", "none": null}, "baseRowId": 70, "defaultRowCommitVersion": 2,
        "clusteringProvider": "zorder",
        "deletionVector": {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 4,
            "sizeInBytes": 40, "cardinality": 6},
    }})
}

/// An add as a transaction re-adds it, with `dataChange` false.
fn standing(value: &Value) -> Result<Add> {
    let mut add: Add =
        serde_json::from_value(value["add"].clone()).map_err(|error| Error::internal(error.to_string()))?;
    add.data_change = false;
    Ok(add)
}

async fn assert_whole(table: &TableBuilder, how: &str) -> Result<()> {
    let snapshot = table.open().await?;
    let asked = ["b%20c", "plain", "gone", "never"].map(str::to_owned);
    let mut found = whole_adds(&snapshot, Some(&asked)).await?;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    let mut plain = standing(&add("plain", None))?;
    plain.stats = None;
    assert_eq!(found, [standing(&full("b%20c"))?, plain], "{how}");
    assert!(whole_adds(&snapshot, Some(&[])).await?.is_empty(), "{how}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_field_is_there_wherever_the_log_has_it() -> Result<()> {
    for as_struct in [false, true] {
        let mut table = TableBuilder::new();
        let mut first = TableBuilder::first_actions_with_vectors();
        first[1]["metaData"]["configuration"] = json!({
            "delta.checkpoint.writeStatsAsStruct": as_struct.to_string(),
            "delta.checkpoint.writeStatsAsJson": (!as_struct).to_string(),
        });
        table.commit(first).await?;
        table.commit(vec![full("b%20c"), full("other")]).await?;
        table.commit(vec![add("plain", None), add("gone", None)]).await?;
        table.commit(vec![remove("gone", None)]).await?;
        assert_whole(&table, "commits").await?;
        let snapshot = table.open().await?;
        compact(&snapshot, Version::try_new(1)?, Version::try_new(3)?).await?;
        assert_whole(&table, "a compaction file").await?;
        write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
        assert_whole(
            &table,
            &format!("a checkpoint, statistics as columns: {as_struct}"),
        )
        .await?;
        table.commit(vec![add("later", None)]).await?;
        assert_whole(&table, "a checkpoint and a commit").await?;
    }
    Ok(())
}
