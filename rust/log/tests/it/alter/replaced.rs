//! Replacing a table by another one.

use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{IfExists, NewTable, create};
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_testkit::own_commits;
use deltaic_testkit::table_builder::TableBuilder;
use serde_json::json;

use super::table::{file, kinds, table};

fn a_new_table(properties: &[(&str, &str)]) -> NewTable {
    let pairs = properties.iter();
    NewTable {
        schema: StructType {
            fields: vec![StructField::new("n", PrimitiveType::String.into(), true)],
        },
        properties: pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        if_exists: IfExists::Replace,
        ..own_commits::a_new_table()
    }
}

#[tokio::test]
async fn a_replaced_table_keeps_its_history() -> Result<()> {
    let (mut table, old) = table(&["domainMetadata"], json!({"theirs": "1"})).await?;
    let domain = json!({"domainMetadata": {"domain": "mine", "configuration": "1", "removed": false}});
    table.commit(vec![file("a", 5, true), domain]).await?;
    let committed = create(
        &table.location(),
        a_new_table(&[("delta.feature.v2Checkpoint", "supported")]),
        &own_commits::without_maintenance(),
    )
    .await?;
    assert_eq!(committed.map(|committed| committed.version.as_i64()), Some(2));
    let fresh = table.open().await?;
    assert_eq!(fresh.metadata().id, old.metadata().id);
    assert_eq!(fresh.schema().names().collect::<Vec<_>>(), ["n"]);
    assert_eq!((fresh.num_files(), fresh.metadata().configuration.len()), (0, 0));
    assert!(fresh.domains().is_empty());
    for feature in ["domainMetadata", "v2Checkpoint"] {
        assert!(supports_for_writers(fresh.protocol(), feature));
    }
    let actions = table.actions_of(2).await?;
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
    // A missing table is created, and an append-only one is retained.
    let other = TableBuilder::new();
    for expected in [Ok(0), Err(ErrorKind::SchemaMismatch)] {
        let made = create(
            &other.location(),
            a_new_table(&[("delta.appendOnly", "true")]),
            &own_commits::without_maintenance(),
        )
        .await;
        let version = made.map(|committed| committed.map_or(-1, |committed| committed.version.as_i64()));
        assert_eq!(version.map_err(|error| error.kind()), expected);
    }
    Ok(())
}
