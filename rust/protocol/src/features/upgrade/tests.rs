//! Properties of protocol upgrades.

use serde_json::json;

use super::*;
use crate::features::{contradictions, ensure_changeable, supports_for_writers};
use crate::samples::{self, protocol};
use crate::schema::StructType;

fn lists(reader: i32, readers: Option<&[&str]>, writers: &[&str]) -> Protocol {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    Protocol {
        min_reader_version: reader,
        min_writer_version: 7,
        reader_features: readers.map(owned),
        writer_features: Some(owned(writers)),
    }
}

/// protocol: table-features-for-new-and-existing-tables.1, table-features-for-new-and-existing-tables.5,
/// table-features-for-new-and-existing-tables.6, table-features-for-new-and-existing-tables.7, table-features.1
#[test]
fn legacy_protocol_versions_remain_if_they_suffice() -> Result<()> {
    let old = |reader, writer| protocol(reader, writer, &[]);
    for (before, asked, after) in [
        (old(1, 2), &["invariants"][..], old(1, 2)),
        (old(1, 2), &["checkConstraints"], old(1, 3)),
        (old(1, 3), &["changeDataFeed", "generatedColumns"], old(1, 4)),
        (old(1, 4), &["columnMapping"], old(2, 5)),
        (old(2, 5), &["identityColumns"], old(2, 6)),
        (old(2, 2), &["checkConstraints"], old(2, 3)),
        (old(1, 1), &["appendOnly", "invariants"], old(1, 2)),
        (
            old(1, 2),
            &["changeDataFeed"],
            lists(1, None, &["appendOnly", "changeDataFeed", "invariants"]),
        ),
        (
            old(1, 2),
            &["columnMapping"],
            lists(2, None, &["appendOnly", "columnMapping", "invariants"]),
        ),
        // The history may have used all features that the versions implied.
        (
            old(1, 4),
            &["domainMetadata"],
            lists(
                1,
                None,
                &[
                    "appendOnly",
                    "changeDataFeed",
                    "checkConstraints",
                    "domainMetadata",
                    "generatedColumns",
                    "invariants",
                ],
            ),
        ),
        (
            old(2, 5),
            &["deletionVectors"],
            lists(
                3,
                Some(&["columnMapping", "deletionVectors"]),
                &[
                    "appendOnly",
                    "changeDataFeed",
                    "checkConstraints",
                    "columnMapping",
                    "deletionVectors",
                    "generatedColumns",
                    "invariants",
                ],
            ),
        ),
        // Writer version 5 with reader version 1 never mapped a column.
        (
            old(1, 5),
            &["domainMetadata"],
            lists(
                1,
                None,
                &[
                    "appendOnly",
                    "changeDataFeed",
                    "checkConstraints",
                    "domainMetadata",
                    "generatedColumns",
                    "invariants",
                ],
            ),
        ),
    ] {
        let made = with_features(&before, asked)?;
        assert_eq!(made, after, "{before:?} {asked:?}");
        assert_eq!(contradictions(&made), []);
        assert_eq!(with_features(&made, asked)?, made);
    }
    Ok(())
}

/// protocol: supported-features.3, supported-features.4, supported-features.2,
/// deletion-vectors.1, deletion-vectors.2, v2-checkpoint-table-feature.1, v2-checkpoint-table-feature.2,
/// vacuum-protocol-check.1, vacuum-protocol-check.2, timestamp-without-timezone-timestampntz.1,
/// timestamp-without-timezone-timestampntz.2
#[test]
fn lists_gain_what_is_requested_and_lose_nothing() -> Result<()> {
    for (before, asked, after) in [
        (
            lists(1, None, &["fromTheFuture", "appendOnly"]),
            &["rowTracking"][..],
            lists(
                1,
                None,
                &["fromTheFuture", "appendOnly", "domainMetadata", "rowTracking"],
            ),
        ),
        (
            lists(1, None, &["fromTheFuture"]),
            &["timestampNtz"],
            lists(3, Some(&["timestampNtz"]), &["fromTheFuture", "timestampNtz"]),
        ),
        (
            lists(2, None, &["columnMapping"]),
            &["v2Checkpoint"],
            lists(
                3,
                Some(&["columnMapping", "v2Checkpoint"]),
                &["columnMapping", "v2Checkpoint"],
            ),
        ),
        (
            lists(1, None, &[]),
            &["columnMapping"],
            lists(2, None, &["columnMapping"]),
        ),
        (
            lists(3, Some(&["deletionVectors"]), &["deletionVectors"]),
            &["columnMapping"],
            lists(
                3,
                Some(&["deletionVectors", "columnMapping"]),
                &["deletionVectors", "columnMapping"],
            ),
        ),
        // An alias is the same feature.
        (
            lists(3, Some(&["typeWidening-preview"]), &["typeWidening-preview"]),
            &["typeWidening"],
            lists(3, Some(&["typeWidening-preview"]), &["typeWidening-preview"]),
        ),
        // A feature that was listed only for writers is now listed for readers too.
        (
            lists(3, Some(&[]), &["columnMapping"]),
            &["columnMapping"],
            lists(3, Some(&["columnMapping"]), &["columnMapping"]),
        ),
        (
            lists(1, None, &[]),
            &["variantShredding"],
            lists(
                3,
                Some(&["variantShredding", "variantType"]),
                &["variantShredding", "variantType"],
            ),
        ),
    ] {
        let made = with_features(&before, asked)?;
        assert_eq!(made, after, "{before:?} {asked:?}");
        assert_eq!(contradictions(&made), []);
    }
    for row in FEATURES.iter().filter(|row| row.excludes.is_empty()) {
        for start in [
            protocol(1, 1, &[]),
            protocol(1, 2, &[]),
            protocol(2, 6, &[]),
            lists(1, None, &[]),
        ] {
            let made = with_features(&start, &[row.name])?;
            assert_eq!(contradictions(&made), [], "{}", row.name);
            assert!(supports_for_writers(&made, row.name), "{}", row.name);
            for before in names_in(&start) {
                assert!(
                    supports_for_writers(&made, &before),
                    "{} loses {before}",
                    row.name
                );
            }
        }
    }
    Ok(())
}

#[test]
fn features_that_exclude_each_other_and_names_that_are_none_are_refused() {
    for (before, asked, kind) in [
        (
            lists(3, Some(&["deletionVectors"]), &["deletionVectors"]),
            "icebergCompatV1",
            ErrorKind::SchemaMismatch,
        ),
        (
            lists(2, None, &["columnMapping", "icebergCompatV1"]),
            "deletionVectors",
            ErrorKind::SchemaMismatch,
        ),
        (
            lists(3, Some(&["v2Checkpoint"]), &["v2Checkpoint"]),
            "adaptiveMetadata",
            ErrorKind::SchemaMismatch,
        ),
        (protocol(1, 2, &[]), "deletionVector", ErrorKind::InvalidArgument),
    ] {
        let error = with_features(&before, &[asked]).err();
        assert_eq!(error.as_ref().map(Error::kind), Some(kind), "{asked}");
        assert!(error.is_some_and(|error| error.hint_text().is_some()));
    }
}

/// protocol: protocol-evolution.2, protocol-evolution.7, protocol-evolution.8, protocol-evolution.9, protocol-evolution.10,
/// table-features.2
#[test]
fn versions_that_are_requested_are_given_and_never_lowered() -> Result<()> {
    for (before, asked, after) in [
        (protocol(1, 2, &[]), (1, 4), protocol(1, 4, &[])),
        (protocol(1, 2, &[]), (2, 5), protocol(2, 5, &[])),
        (
            protocol(1, 2, &[]),
            (1, 7),
            lists(1, None, &["appendOnly", "invariants"]),
        ),
        (
            protocol(1, 2, &[]),
            (3, 7),
            lists(3, Some(&[]), &["appendOnly", "invariants"]),
        ),
        (
            protocol(2, 5, &[]),
            (3, 7),
            lists(
                3,
                Some(&["columnMapping"]),
                &[
                    "appendOnly",
                    "changeDataFeed",
                    "checkConstraints",
                    "columnMapping",
                    "generatedColumns",
                    "invariants",
                ],
            ),
        ),
        (
            lists(1, None, &["domainMetadata"]),
            (1, 2),
            lists(1, None, &["domainMetadata", "appendOnly", "invariants"]),
        ),
        (
            lists(1, None, &["domainMetadata"]),
            (3, 7),
            lists(3, Some(&[]), &["domainMetadata"]),
        ),
        (
            lists(2, None, &["columnMapping"]),
            (3, 7),
            lists(3, Some(&["columnMapping"]), &["columnMapping"]),
        ),
        (protocol(2, 6, &[]), (2, 6), protocol(2, 6, &[])),
    ] {
        assert_eq!(
            upgraded(&before, asked.0, asked.1)?,
            after,
            "{before:?} {asked:?}"
        );
        assert_eq!(contradictions(&after), []);
    }
    for (before, asked) in [
        (protocol(2, 5, &[]), (1, 5)),
        (protocol(1, 4, &[]), (1, 3)),
        (protocol(2, 5, &[]), (1, 7)),
        (protocol(1, 2, &[]), (3, 6)),
        (protocol(1, 2, &[]), (0, 2)),
        (protocol(1, 2, &[]), (1, 8)),
        (protocol(1, 2, &[]), (4, 7)),
    ] {
        let error = upgraded(&before, asked.0, asked.1).err();
        assert_eq!(
            error.map(|error| error.kind()),
            Some(ErrorKind::InvalidArgument),
            "{before:?} {asked:?}"
        );
    }
    Ok(())
}

/// protocol: append-only-tables.1, append-only-tables.2, column-invariants.1, generated-columns.1, default-columns.2,
/// identity-columns.1, identity-columns.2, check-constraints.1
#[test]
fn features_that_the_metadata_use_are_required() -> Result<()> {
    let field = |data_type: &str, metadata: serde_json::Value| {
        json!({"type": "struct", "fields": [
            {"name": "a", "type": data_type, "nullable": true, "metadata": metadata}]})
        .to_string()
    };
    let plain = field("long", json!({}));
    for (schema, properties, needed) in [
        (plain.clone(), &[][..], &[][..]),
        (plain.clone(), &[("delta.appendOnly", "TRUE")], &["appendOnly"]),
        (plain.clone(), &[("delta.appendOnly", "false")], &[]),
        (
            plain.clone(),
            &[("delta.enableInCommitTimestamps", "true")],
            &["inCommitTimestamp"],
        ),
        (
            plain.clone(),
            &[("delta.columnMapping.mode", "id")],
            &["columnMapping"],
        ),
        (plain.clone(), &[("delta.columnMapping.mode", "none")], &[]),
        (
            plain.clone(),
            &[("delta.checkpointPolicy", "V2")],
            &["v2Checkpoint"],
        ),
        (
            plain.clone(),
            &[("delta.constraints.c", "a > 0")],
            &["checkConstraints"],
        ),
        (
            field("long", json!({"delta.generationExpression": "1"})),
            &[],
            &["generatedColumns"],
        ),
        (
            field("long", json!({"delta.identity.start": 1})),
            &[],
            &["identityColumns"],
        ),
        (
            field("long", json!({"delta.invariants": "{}"})),
            &[],
            &["invariants"],
        ),
        (
            field("long", json!({"CURRENT_DEFAULT": "1"})),
            &[],
            &["allowColumnDefaults"],
        ),
        (
            field("long", json!({"delta.typeChanges": []})),
            &[],
            &["typeWidening"],
        ),
        (field("string", json!({"__COLLATIONS": {}})), &[], &["collations"]),
        (field("timestamp_ntz", json!({})), &[], &["timestampNtz"]),
        (field("variant", json!({})), &[], &["variantType"]),
    ] {
        let schema = StructType::from_json(&schema)?;
        let metadata = samples::metadata(properties);
        assert_eq!(
            needed_features(&metadata, &schema),
            needed,
            "{properties:?} {schema:?}"
        );
        // Every needed feature can be added.
        let made = with_features(&protocol(1, 2, &[]), needed)?;
        ensure_changeable(&samples::table(&made, &samples::metadata(&[])))?;
    }
    Ok(())
}
