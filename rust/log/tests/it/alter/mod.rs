//! Changes of metadata and protocol: their commits, their preconditions on files, and conflicts with winning commits.

mod changes;
mod files;
mod replaced;
mod row_ids;
mod table;
mod winning_commits;

use deltaic_log::transaction::{CommitOptions, alter};
use deltaic_protocol::change::{IfAbsent, TableChange};
use deltaic_protocol::features::Traces;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::schema_evolution::Place;
use deltaic_protocol::{ErrorKind, Result, Version};
use serde_json::{Value, json};

use self::changes::{change, column, new_column, options, positive, set};
use self::table::{file, kinds, table};

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
        let before = snapshot.configuration().clone();
        let how = format!("{operation}: {one:?}");
        let committed = change(&snapshot, std::slice::from_ref(one)).await;
        let committed = committed.map_err(|error| error.with("step", how.clone()))?;
        let fresh = table.open().await?;
        if *operation == "UPGRADE PROTOCOL" {
            // The table already exists.
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
        assert_ne!(fresh.configuration().clone(), before, "{how}");
        let actions = table.actions_of(committed.version.as_i64()).await?;
        assert_eq!(actions[0]["commitInfo"]["operation"], json!(operation), "{how}");
        assert!(!kinds(&actions).contains(&"add"), "{how}");
        snapshot = fresh;
    }
    assert_eq!(snapshot.schema().names().collect::<Vec<_>>(), ["id", "x"]);
    assert!(snapshot.domains().contains_key("delta.clustering") && !snapshot.domains().contains_key("app"));
    let last = table.actions_of(snapshot.version().as_i64() - 1).await?;
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
    assert_eq!(table.open().await?.version(), Version::ZERO);
    let committed = change(&snapshot, &[new_column("a"), positive(), new_column("b")]).await?;
    assert_eq!(committed.version.as_i64(), 1);
    let actions = table.actions_of(1).await?;
    assert_eq!(kinds(&actions), ["commitInfo", "protocol", "metaData"]);
    let info = &actions[0]["commitInfo"];
    assert_eq!(info["operation"], json!("ALTER TABLE"));
    let changes: Value = serde_json::from_str(info["operationParameters"]["changes"].as_str().unwrap_or(""))
        .expect("JSON in JSON");
    assert_eq!(changes[1]["operationParameters"]["expr"], json!("id > 0"));
    assert_eq!(
        table.open().await?.schema().names().collect::<Vec<_>>(),
        ["id", "a", "b"]
    );
    Ok(())
}

#[tokio::test]
async fn a_change_without_effect_commits_nothing() -> Result<()> {
    let (table, snapshot) = table(&[], json!({"delta.appendOnly": "true"})).await?;
    let same = [set("delta.appendOnly", "TRUE")];
    let committed = change(&snapshot, &same).await?;
    assert!(committed.skipped && committed.version == Version::ZERO && committed.commit_info.is_none());
    // An application's version is a reason to commit.
    let with_app = CommitOptions {
        app_transaction: Some(("app".to_owned(), 7)),
        ..options()
    };
    let committed = alter(&snapshot, &same, &with_app, None).await?;
    assert_eq!((committed.version.as_i64(), committed.skipped), (1, false));
    assert_eq!(kinds(&table.actions_of(1).await?), ["commitInfo", "txn"]);
    let committed = alter(&table.open().await?, &[new_column("a")], &with_app, None).await?;
    assert!(committed.skipped);
    assert_eq!(table.open().await?.version().as_i64(), 1);
    Ok(())
}

#[tokio::test]
async fn unverifiable_changes_are_refused_by_name() -> Result<()> {
    let (mut table, _) = table(&["checkpointProtection", "invariants"], json!({})).await?;
    table.commit(vec![file("a", 1, true)]).await?;
    let snapshot = table.open().await?;
    let truncated = [TableChange::DropFeature(
        "checkpointProtection".to_owned(),
        Traces::Gone,
    )];
    let iceberg = |version| {
        [
            set("delta.columnMapping.mode", "name"),
            set(&format!("delta.enableIcebergCompat{version}"), "true"),
        ]
    };
    for (changes, feature) in [
        (&truncated[..], "checkpointProtection"),
        (&iceberg("V1"), "icebergCompatV1"),
        (&iceberg("V2"), "icebergCompatV2"),
    ] {
        let error = change(&snapshot, changes)
            .await
            .expect_err("nobody here proves it");
        assert_eq!(error.kind(), ErrorKind::UnsupportedFeature, "{error}");
        assert!(error.what().contains(feature), "{error}");
        assert!(error.context().contains(&("feature", feature.into())), "{error}");
        assert!(error.hint_text().is_some());
    }
    assert_eq!(table.open().await?.version().as_i64(), 1);
    Ok(())
}
