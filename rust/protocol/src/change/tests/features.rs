//! Features and the consequences of enabling them.

use super::{changed, column, drop, plain, set};
use crate::TableConfiguration;
use crate::change::ChangeContext;
use crate::change::{IfAbsent, Precondition, TableChange, change, preconditions};
use crate::error::ContextValue;
use crate::features::{FileUse, Traces, supports_for_writers};
use crate::iceberg_compat::IcebergCompat;
use crate::in_commit_timestamp::{Enablement, InCommitTimestamps};
use crate::row_tracking::{MaterializedColumns, RowTracking};
use crate::samples::protocol;
use crate::{ErrorKind, Result, Version};

fn unset(name: &str) -> TableChange {
    TableChange::UnsetProperties(vec![name.to_owned()], IfAbsent::Error)
}

/// protocol: row-tracking.3, row-tracking.4, row-tracking.5, row-tracking.6, row-ids.4, row-ids.5,
/// writer-requirements-for-row-tracking.13, writer-requirements-for-row-tracking.14,
/// writer-requirements-for-row-tracking.15
#[test]
fn row_tracking_names_its_columns_once_and_requests_row_ids() -> Result<()> {
    let on = set(&[("delta.enableRowTracking", "true")]);
    let table = changed(&plain(), std::slice::from_ref(&on))?;
    assert_eq!(
        *table.protocol(),
        protocol(
            1,
            7,
            &["appendOnly", "domainMetadata", "invariants", "rowTracking"]
        )
    );
    let names = MaterializedColumns {
        row_id: "_row-id-col-u1".to_owned(),
        row_commit_version: "_row-commit-version-col-u2".to_owned(),
    };
    let enabled = RowTracking::Enabled(names);
    assert_eq!(RowTracking::of(&table)?, enabled);
    assert_eq!(preconditions(&plain(), &table)?, [Precondition::FilesHaveRowIds]);
    let again = changed(
        &table,
        &[set(&[("delta.enableRowTracking", "false")]), on.clone()],
    )?;
    assert_eq!(
        RowTracking::of(&crate::samples::table(again.protocol(), again.metadata()))?,
        enabled
    );
    assert_eq!(preconditions(&table, &again)?, []);
    let taken = TableChange::MergeSchema(crate::schema::StructType {
        fields: vec![crate::schema::StructField::new(
            "_row-id-col-u1",
            crate::schema::PrimitiveType::Long.into(),
            true,
        )],
    });
    assert!(changed(&table, &[taken]).is_err());
    let both = changed(&table, &[set(&[("delta.rowTrackingSuspended", "true")])]).err();
    assert_eq!(both.map(|error| error.kind()), Some(ErrorKind::SchemaMismatch));
    let suspended = set(&[
        ("delta.rowTrackingSuspended", "true"),
        ("delta.enableRowTracking", "false"),
    ]);
    let table = changed(&table, &[suspended])?;
    assert_eq!(RowTracking::of(&table)?, RowTracking::Suspended);
    Ok(())
}

/// protocol: in-commit-timestamps.1, in-commit-timestamps.2, in-commit-timestamps.3,
/// writer-requirements-for-in-commit-timestamps.4, writer-requirements-for-in-commit-timestamps.5,
/// writer-requirements-for-in-commit-timestamps.6
#[test]
fn in_commit_timestamps_report_since_when() -> Result<()> {
    let of = |table: &TableConfiguration| InCommitTimestamps::of(table);
    let on = set(&[("delta.enableInCommitTimestamps", "true")]);
    let table = changed(
        &plain(),
        &[set(&[("mine", "1")]), on.clone(), set(&[("mine", "2")])],
    )?;
    let since = |version, timestamp_ms| -> Result<InCommitTimestamps> {
        Ok(InCommitTimestamps::Since(Enablement {
            version: Version::try_new(version)?,
            timestamp_ms,
        }))
    };
    assert_eq!(of(&table)?, since(6, 1_006)?);
    for off in [
        set(&[("delta.enableInCommitTimestamps", "false")]),
        unset("delta.enableInCommitTimestamps"),
    ] {
        let off = changed(&table, &[off])?;
        assert_eq!(of(&off)?, InCommitTimestamps::Disabled);
        assert!(
            off.metadata()
                .configuration
                .keys()
                .all(|key| !key.contains("Enablement"))
        );
        assert_eq!(of(&changed(&off, std::slice::from_ref(&on))?)?, since(5, 1_005)?);
    }
    // A table that has them from the start records no enablement version.
    let mut context = ChangeContext {
        version: Version::ZERO,
        timestamp_ms: 7,
        new_id: &mut String::new,
    };
    assert_eq!(
        of(&change(&plain(), &on, &mut context)?)?,
        InCommitTimestamps::FromTheStart
    );
    // Enabling the property without the feature adds the feature.
    let mut odd = plain();
    odd.set_property("delta.enableInCommitTimestamps", "true");
    let table = changed(
        &odd,
        &[
            set(&[("mine", "1")]),
            TableChange::AddFeature("inCommitTimestamp".to_owned()),
        ],
    )?;
    assert_eq!(of(&table)?, since(6, 1_006)?);
    Ok(())
}

/// protocol: writer-requirements-for-clustered-table.4
#[test]
fn a_change_reports_what_it_requests_of_files() -> Result<()> {
    let mut start = plain();
    start.metadata_mut().partition_columns.clear();
    let check = TableChange::AddConstraint {
        name: "C".to_owned(),
        expression: "id > 0".to_owned(),
    };
    let clustered =
        |names: &[&str]| TableChange::SetClustering(names.iter().map(|name| column(name)).collect());
    let mapped = changed(&start, &[set(&[("delta.columnMapping.mode", "name")])])?;
    for (before, one, expected) in [
        (
            &start,
            check,
            vec![Precondition::RowsSatisfy {
                name: "c".to_owned(),
                expression: "id > 0".to_owned(),
            }],
        ),
        (
            &start,
            clustered(&["s.x", "id"]),
            vec![Precondition::FilesHaveStatistics(vec![
                column("s.x"),
                column("id"),
            ])],
        ),
        (
            &changed(&start, &[clustered(&["id"])])?,
            clustered(&["s.x", "id"]),
            vec![Precondition::FilesHaveStatistics(vec![column("s.x")])],
        ),
        (&changed(&start, &[clustered(&["id"])])?, clustered(&[]), vec![]),
        (
            &mapped,
            set(&[("delta.enableIcebergCompatV2", "true")]),
            vec![Precondition::FilesAreReadAsIceberg(IcebergCompat::V2)],
        ),
        (
            &changed(
                &mapped,
                &[drop("l"), set(&[("delta.enableIcebergCompatV2", "true")])],
            )?,
            set(&[
                ("delta.enableIcebergCompatV1", "true"),
                ("delta.enableIcebergCompatV2", "false"),
            ]),
            vec![Precondition::FilesAreReadAsIceberg(IcebergCompat::V1)],
        ),
        (
            &changed(&start, &[TableChange::AddFeature("typeWidening".to_owned())])?,
            TableChange::DropFeature("typeWidening".to_owned(), Traces::InHistory),
            vec![
                Precondition::NothingUses {
                    feature: "typeWidening",
                    shown: FileUse::Schema,
                },
                Precondition::CheckpointsStandBefore,
            ],
        ),
        (&start, TableChange::SetName(Some("n".to_owned())), vec![]),
    ] {
        let after = changed(before, std::slice::from_ref(&one))?;
        assert_eq!(preconditions(before, &after)?, expected, "{one:?}");
    }
    Ok(())
}

#[test]
fn columns_of_the_change_feed_are_the_feeds() -> Result<()> {
    let on = set(&[("delta.enableChangeDataFeed", "true")]);
    let add = |name: &str| TableChange::AddColumn {
        field: crate::schema::StructField::new(name, crate::schema::PrimitiveType::Long.into(), true),
        within: None,
        place: crate::schema_evolution::Place::Last,
    };
    for name in ["_change_type", "_COMMIT_VERSION", "_commit_timestamp"] {
        for order in [[add(name), on.clone()], [on.clone(), add(name)]] {
            let error = changed(&plain(), &order).err();
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::SchemaMismatch),
                "{name}"
            );
        }
    }
    changed(&plain(), &[on, add("_change")])?;
    Ok(())
}

/// protocol: table-features.3, table-features.5, beyond:unknown.1
#[test]
fn a_table_that_requests_more_than_is_known_is_left_alone() -> Result<()> {
    for name in [
        "fromTheFuture",
        "icebergWriterCompatV3",
        "coordinatedCommits-preview",
        "catalogManaged",
    ] {
        let mut table = plain();
        table.set_protocol(protocol(1, 7, &[name]));
        let error = changed(&table, &[TableChange::SetName(None)]).err();
        assert_eq!(
            error.as_ref().map(|error| error.kind()),
            Some(ErrorKind::UnsupportedFeature),
            "{name}"
        );
        assert!(error.is_some_and(|error| error.context().contains(&("feature", ContextValue::from(name)))));
    }
    // What deltaic does not support for appends does not matter here.
    for name in ["clustering", "rowTracking"] {
        let mut table = plain();
        table.set_protocol(protocol(1, 7, &[name, "domainMetadata"]));
        let after = changed(&table, &[set(&[("delta.appendOnly", "true")])])?;
        assert!(supports_for_writers(after.protocol(), "appendOnly"));
    }
    Ok(())
}

#[test]
fn a_change_that_changes_nothing_is_not_a_change() -> Result<()> {
    for nothing in [
        TableChange::SetName(None),
        TableChange::SetDescription(None),
        set(&[]),
        TableChange::UnsetProperties(vec!["mine".to_owned()], IfAbsent::Ignore),
        TableChange::Upgrade(1, 2),
        TableChange::AddFeature("invariants".to_owned()),
        TableChange::ChangeType(column("id"), crate::schema::PrimitiveType::Integer),
        TableChange::DropNotNull(column("p")),
        TableChange::SetComment(column("p"), None),
        TableChange::SetDefault(column("p"), None),
        TableChange::DropConstraint("c".to_owned(), IfAbsent::Ignore),
        TableChange::SetClustering(Vec::new()),
    ] {
        let after = changed(&plain(), std::slice::from_ref(&nothing))?;
        assert!(after.actions_since(&plain()).is_empty(), "{nothing:?}");
    }
    Ok(())
}

#[test]
fn a_table_without_columns_is_given_some() -> Result<()> {
    let mut empty = plain();
    empty.metadata_mut().schema_string.clear();
    empty.metadata_mut().partition_columns.clear();
    let id = crate::schema::StructField::new("id", crate::schema::PrimitiveType::Long.into(), true);
    let data = crate::schema::StructType { fields: vec![id] };
    let table = changed(
        &empty,
        &[set(&[("mine", "1")]), TableChange::MergeSchema(data.clone())],
    )?;
    assert_eq!(*table.schema()?, data);
    Ok(())
}
