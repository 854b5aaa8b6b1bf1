//! Properties of dropping features.

use super::*;
use crate::actions::DomainMetadata;
use crate::change::{Precondition, preconditions};
use crate::features::{FileUse, contradictions, ensure_changeable};
use crate::samples::{metadata, protocol};
use crate::{Version, clustering, row_tracking};

fn table(protocol: Protocol, properties: &[(&str, &str)]) -> TableConfiguration {
    TableConfiguration::new(protocol, metadata(properties))
}

fn writers(features: &[&str]) -> Protocol {
    protocol(1, 7, features)
}

fn dropped(table: &TableConfiguration, name: &str, traces: Traces) -> Result<TableConfiguration> {
    let context = ChangeContext {
        version: Version::try_new(9)?,
        timestamp_ms: 0,
        new_id: &mut String::new,
    };
    let after = drop_feature(table, name, traces, &context)?;
    assert_eq!(contradictions(after.protocol()), []);
    ensure_changeable(&after)?;
    Ok(after)
}

/// protocol: beyond:checkpoint-protection.1
#[test]
fn a_feature_that_readers_must_know_leaves_its_history_protected() -> Result<()> {
    let vectors = protocol(3, 7, &["deletionVectors", "v2Checkpoint"]);
    let off = table(vectors, &[("delta.enableDeletionVectors", "false")]);
    let after = dropped(&off, "deletionVectors", Traces::InHistory)?;
    let mut expected = protocol(3, 7, &["v2Checkpoint"]);
    expected.writer_features = Some(vec!["v2Checkpoint".to_owned(), "checkpointProtection".to_owned()]);
    assert_eq!(*after.protocol(), expected);
    assert_eq!(*after.metadata(), metadata(&[(PROTECTED_BEFORE, "9")]));
    assert_eq!(
        preconditions(&off, &after)?,
        [
            Precondition::NothingUses {
                feature: "deletionVectors",
                shown: FileUse::DeletionVectors,
            },
            Precondition::CheckpointsStandBefore
        ]
    );
    let mut later = after.clone();
    later.set_property(PROTECTED_BEFORE, "12");
    let after = dropped(&later, "v2Checkpoint", Traces::InHistory)?;
    assert_eq!(*after.protocol(), writers(&["checkpointProtection"]));
    assert_eq!(after.metadata().property(PROTECTED_BEFORE), Some("12"));
    // It can be dropped itself once there is nothing left to protect.
    assert!(dropped(&after, "checkpointProtection", Traces::InHistory).is_err());
    let free = dropped(&after, "checkpointProtection", Traces::Gone)?;
    assert_eq!(
        (free.protocol(), free.metadata()),
        (&protocol(1, 1, &[]), &metadata(&[]))
    );
    // Without history there is nothing to protect.
    let after = dropped(&off, "deletionVectors", Traces::Gone)?;
    assert_eq!(*after.protocol(), protocol(3, 7, &["v2Checkpoint"]));
    Ok(())
}

/// protocol: append-only-tables.4
#[test]
fn dropping_a_feature_leaves_the_minimal_protocol() -> Result<()> {
    for (before, name, after) in [
        (
            protocol(1, 3, &[]),
            "invariants",
            writers(&["appendOnly", "checkConstraints"]),
        ),
        (protocol(1, 3, &[]), "checkConstraints", protocol(1, 2, &[])),
        (protocol(1, 2, &[]), "appendOnly", writers(&["invariants"])),
        (
            writers(&["invariants", "clustering", "domainMetadata", "appendOnly"]),
            "clustering",
            writers(&["invariants", "domainMetadata", "appendOnly"]),
        ),
        (
            writers(&["invariants", "domainMetadata", "appendOnly"]),
            "domainMetadata",
            protocol(1, 2, &[]),
        ),
        (
            writers(&["fromTheFuture", "inCommitTimestamp-preview"]),
            "inCommitTimestamp",
            writers(&["fromTheFuture"]),
        ),
        (
            protocol(3, 7, &["vacuumProtocolCheck"]),
            "vacuumProtocolCheck",
            protocol(1, 1, &[]),
        ),
    ] {
        let context = ChangeContext {
            version: Version::ZERO,
            timestamp_ms: 0,
            new_id: &mut String::new,
        };
        let made = drop_feature(&table(before, &[]), name, Traces::InHistory, &context)?;
        assert_eq!(*made.protocol(), after, "{name}");
    }
    // Reader version 2 is only for column mapping.
    let context = ChangeContext {
        version: Version::ZERO,
        timestamp_ms: 0,
        new_id: &mut String::new,
    };
    let mapped = table(protocol(3, 7, &["columnMapping", "vacuumProtocolCheck"]), &[]);
    let made = drop_feature(&mapped, "vacuumProtocolCheck", Traces::Gone, &context)?;
    assert_eq!(
        (
            made.protocol().min_reader_version,
            &made.protocol().reader_features
        ),
        (2, &None)
    );
    Ok(())
}

#[test]
fn uses_of_a_feature_must_be_removed_first() -> Result<()> {
    let field = |metadata: &str, data_type: &str| {
        format!(
            r#"{{"type":"struct","fields":[{{"name":"a","type":"{data_type}","nullable":true,"metadata":{metadata}}}]}}"#
        )
    };
    for (name, property, schema) in [
        ("appendOnly", Some(("delta.appendOnly", "true")), None),
        (
            "invariants",
            None,
            Some(field(r#"{"delta.invariants":"{}"}"#, "long")),
        ),
        ("checkConstraints", Some(("delta.constraints.c", "a > 0")), None),
        (
            "changeDataFeed",
            Some(("delta.enableChangeDataFeed", "true")),
            None,
        ),
        (
            "generatedColumns",
            None,
            Some(field(r#"{"delta.generationExpression":"1"}"#, "long")),
        ),
        ("columnMapping", Some(("delta.columnMapping.mode", "name")), None),
        (
            "columnMapping",
            None,
            Some(field(r#"{"delta.columnMapping.physicalName":"p"}"#, "long")),
        ),
        (
            "identityColumns",
            None,
            Some(field(r#"{"delta.identity.start":1}"#, "long")),
        ),
        (
            "allowColumnDefaults",
            None,
            Some(field(r#"{"CURRENT_DEFAULT":"1"}"#, "long")),
        ),
        (
            "deletionVectors",
            Some(("delta.enableDeletionVectors", "true")),
            None,
        ),
        ("rowTracking", Some(("delta.enableRowTracking", "true")), None),
        ("timestampNtz", None, Some(field("{}", "timestamp_ntz"))),
        ("v2Checkpoint", Some(("delta.checkpointPolicy", "v2")), None),
        (
            "icebergCompatV1",
            Some(("delta.enableIcebergCompatV1", "true")),
            None,
        ),
        (
            "icebergCompatV2",
            Some(("delta.enableIcebergCompatV2", "true")),
            None,
        ),
        (
            "inCommitTimestamp",
            Some(("delta.enableInCommitTimestamps", "true")),
            None,
        ),
        ("typeWidening", Some(("delta.enableTypeWidening", "true")), None),
        (
            "typeWidening",
            None,
            Some(field(r#"{"delta.typeChanges":[]}"#, "long")),
        ),
        ("variantType", None, Some(field("{}", "variant"))),
        (
            "variantShredding",
            Some(("delta.enableVariantShredding", "true")),
            None,
        ),
        (
            "collations",
            None,
            Some(field(r#"{"__COLLATIONS":{"a":"x"}}"#, "string")),
        ),
    ] {
        let mut used = table(protocol(3, 7, &[name]), &[]);
        let free = used.clone();
        if let Some((key, value)) = property {
            used.set_property(key, value);
        }
        if let Some(schema) = schema {
            used.metadata_mut().schema_string = schema;
        }
        let context = ChangeContext {
            version: Version::ZERO,
            timestamp_ms: 0,
            new_id: &mut String::new,
        };
        let error = drop_feature(&used, name, Traces::Gone, &context).err();
        assert_eq!(
            error.as_ref().map(Error::kind),
            Some(ErrorKind::SchemaMismatch),
            "{name}"
        );
        assert!(error.is_some_and(|error| error.context().contains(&("feature", name.into()))));
        let after = drop_feature(&free, name, Traces::Gone, &context)?;
        assert!(!names_in(after.protocol()).contains(name), "{name}");
    }
    Ok(())
}

#[test]
fn domains_remain_in_the_way_or_go_with_their_feature() -> Result<()> {
    let domain = |name: &str, configuration: &str| DomainMetadata {
        domain: name.to_owned(),
        configuration: configuration.to_owned(),
        removed: false,
    };
    let mut table = table(
        writers(&["rowTracking", "clustering", "domainMetadata"]),
        &[
            (row_tracking::ROW_ID_COLUMN, "_r"),
            (row_tracking::ROW_COMMIT_VERSION_COLUMN, "_v"),
            ("delta.enableRowTracking", "false"),
        ],
    );
    table = table.with_domains([
        domain(row_tracking::DOMAIN, r#"{"rowIdHighWaterMark":9}"#),
        domain(clustering::DOMAIN, r#"{"clusteringColumns":[["a"]]}"#),
        domain("mine", ""),
    ]);
    assert!(dropped(&table, "domainMetadata", Traces::Gone).is_err());
    assert!(dropped(&table, "clustering", Traces::Gone).is_err());
    table.put_domain(clustering::DOMAIN, r#"{"clusteringColumns":[]}"#.to_owned());
    let after = dropped(&table, "rowTracking", Traces::InHistory)?;
    assert_eq!(*after.metadata(), metadata(&[]));
    let after = dropped(&after, "clustering", Traces::InHistory)?;
    assert_eq!(Vec::from_iter(after.domains().values()), [&domain("mine", "")]);
    assert!(dropped(&after, "domainMetadata", Traces::Gone).is_err());
    let removed: Vec<String> = after
        .actions_since(&table)
        .domains
        .into_iter()
        .filter(|domain| domain.removed)
        .map(|domain| domain.domain)
        .collect();
    assert_eq!(removed, [clustering::DOMAIN, row_tracking::DOMAIN]);
    Ok(())
}

#[test]
fn a_feature_that_the_table_lacks_is_reported() {
    let table = table(
        writers(&["clustering", "domainMetadata", "icebergWriterCompatV3"]),
        &[],
    );
    for (name, kind, hint) in [
        (
            "clusterin",
            ErrorKind::InvalidArgument,
            "did you mean clustering?",
        ),
        (
            "deletionVectors",
            ErrorKind::InvalidArgument,
            "its features are: clustering, domainMetadata, icebergWriterCompatV3",
        ),
        (
            "delta.enableDeletionVectors",
            ErrorKind::InvalidArgument,
            "unset the property, or drop the feature deletionVectors",
        ),
        (
            "delta.logRetentionDuration",
            ErrorKind::InvalidArgument,
            "unset the property",
        ),
        (
            "icebergWriterCompatV3",
            ErrorKind::UnsupportedFeature,
            "copy the rows into a new table without the feature",
        ),
        (
            "domainMetadata",
            ErrorKind::SchemaMismatch,
            "drop the feature clustering first",
        ),
    ] {
        let error = dropped(&table, name, Traces::Gone).err();
        let found = error
            .as_ref()
            .map(|error| (error.kind(), error.hint_text().unwrap_or_default()));
        assert_eq!(found, Some((kind, hint)), "{name}");
    }
}
