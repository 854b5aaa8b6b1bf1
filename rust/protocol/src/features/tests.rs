//! Properties of the support checks.

use serde_json::json;

use super::{
    CatalogTail, FEATURES, Support, ensure_appendable, ensure_changeable, ensure_checkpointable,
    ensure_openable, ensure_readable, ensure_removable,
};
use crate::actions::{Metadata, Protocol};
use crate::samples::{self, protocol};
use crate::schema::StructType;
use crate::{ErrorKind, Result};

/// Creates the metadata of a table with these columns and properties.
fn metadata(schema: &str, properties: &[(&str, &str)]) -> Metadata {
    Metadata {
        schema_string: schema.to_owned(),
        ..samples::metadata(properties)
    }
}

const PLAIN: &str =
    r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]}"#;
const CHECKED: &str = r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{"delta.invariants":"{}"}}]}"#;

fn refused(result: Result<()>) -> Option<String> {
    result.err().map(|error| {
        assert_eq!(error.kind(), ErrorKind::UnsupportedFeature);
        error
            .context()
            .iter()
            .find_map(|(key, value)| match value {
                crate::error::ContextValue::Text(text) if *key == "feature" => Some(text.clone()),
                _ => None,
            })
            .unwrap_or_default()
    })
}

/// protocol: table-features.3, table-features.4, supported-features.1
#[test]
fn an_unsupported_feature_is_refused() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    let read = |protocol: &Protocol| refused(ensure_readable(&samples::table(protocol, &plain)));
    assert_eq!(read(&protocol(1, 2, &[])), None);
    assert_eq!(read(&protocol(1, 7, &["rowTracking", "fromTheFuture"])), None);
    assert_eq!(
        read(&protocol(3, 7, &["timestampNtz", "vacuumProtocolCheck"])),
        None
    );
    assert_eq!(read(&protocol(2, 5, &[])), None);
    assert_eq!(
        read(&protocol(3, 7, &["fromTheFuture"])).as_deref(),
        Some("fromTheFuture")
    );
    assert_eq!(
        read(&protocol(3, 7, &["geospatial", "timestampNtz", "timestampNanos"])).as_deref(),
        Some("geospatial, timestampNanos")
    );
    assert_eq!(read(&protocol(4, 7, &[])).as_deref(), Some("reader version 4"));
    let mapped = metadata(PLAIN, &[("delta.columnMapping.mode", "name")]);
    assert_eq!(
        refused(ensure_readable(&samples::table(&protocol(1, 2, &[]), &mapped))).as_deref(),
        Some("columnMapping")
    );
    Ok(())
}

/// protocol: table-features.3, table-features.4, beyond:unknown.1, beyond:aliases.1
#[test]
fn a_log_is_followed_for_more_features_than_rows_are_read() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    let open = |protocol: &Protocol| {
        refused(ensure_openable(
            &samples::table(protocol, &plain),
            CatalogTail::Absent,
        ))
    };
    for row in FEATURES.iter().filter(|row| row.support.open == Support::Full) {
        assert_eq!(open(&protocol(3, 7, &[row.name])), None, "{}", row.name);
        for alias in row.aliases {
            assert_eq!(open(&protocol(3, 7, &[alias])), None, "{alias}");
        }
    }
    for writer in [1, 2, 5, 6, 8, 99] {
        assert_eq!(open(&protocol(1, writer, &[])), None, "{writer}");
        assert_eq!(open(&protocol(2, writer, &[])), None, "{writer}");
    }
    assert_eq!(open(&protocol(1, 7, &["fromTheFuture"])), None);
    assert_eq!(
        open(&protocol(3, 7, &["fromTheFuture", "variantType"])).as_deref(),
        Some("fromTheFuture")
    );
    assert_eq!(
        open(&protocol(3, 7, &["adaptiveMetadata-preview"])).as_deref(),
        Some("adaptiveMetadata-preview")
    );
    assert_eq!(
        open(&protocol(3, 7, &["redirectReaderWriter-preview"])).as_deref(),
        Some("redirectReaderWriter-preview")
    );
    assert_eq!(open(&protocol(4, 7, &[])).as_deref(), Some("reader version 4"));
    Ok(())
}

/// A checkpoint needs the log but no rows; features that may change its meaning are refused by name.
///
/// protocol: beyond:checkpoint-protection.1
#[test]
fn a_checkpoint_is_written_of_what_is_known() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    let write = |protocol: &Protocol| refused(ensure_checkpointable(&samples::table(protocol, &plain)));
    for row in FEATURES {
        let expected = (row.support.checkpoint != Support::Full).then(|| row.name.to_owned());
        assert_eq!(write(&protocol(3, 7, &[row.name])), expected, "{}", row.name);
    }
    for (writer_only, expected) in [
        ("rowTracking", None),
        ("fromTheFuture", Some("fromTheFuture")),
        ("redirectWriterOnly-preview", Some("redirectWriterOnly-preview")),
        ("coordinatedCommits-preview", Some("coordinatedCommits-preview")),
    ] {
        assert_eq!(write(&protocol(1, 7, &[writer_only])).as_deref(), expected);
    }
    for (reader, writer) in [(1, 1), (1, 6), (2, 5)] {
        assert_eq!(write(&protocol(reader, writer, &[])), None);
    }
    assert_eq!(write(&protocol(1, 8, &[])).as_deref(), Some("writer version 8"));
    let unknown = metadata(&PLAIN.replace("long", "quaternion"), &[]);
    assert_eq!(
        refused(ensure_checkpointable(&samples::table(
            &protocol(1, 2, &[]),
            &unknown
        )))
        .as_deref(),
        Some("quaternion")
    );
    Ok(())
}

#[test]
fn a_table_without_a_schema_has_a_log_and_no_rows() -> Result<()> {
    let metadata = metadata("", &[]);
    let plain = protocol(1, 2, &[]);
    assert_eq!(metadata.schema()?, StructType::default());
    ensure_openable(&samples::table(&plain, &metadata), CatalogTail::Absent)?;
    for result in [
        ensure_readable(&samples::table(&plain, &metadata)),
        ensure_appendable(&samples::table(&plain, &metadata)),
    ] {
        assert!(result.is_err_and(|error| {
            error.kind() == ErrorKind::CorruptLog
                && error.context().contains(&("field", "schemaString".into()))
        }));
    }
    Ok(())
}

#[test]
fn a_type_that_is_not_known_is_a_matter_of_rows() -> Result<()> {
    let metadata = metadata(&PLAIN.replace("long", "quaternion"), &[]);
    let plain = protocol(1, 2, &[]);
    assert_eq!(
        refused(ensure_openable(
            &samples::table(&plain, &metadata),
            CatalogTail::Absent
        )),
        None
    );
    for result in [
        ensure_readable(&samples::table(&plain, &metadata)),
        ensure_appendable(&samples::table(&plain, &metadata)),
        ensure_changeable(&samples::table(&plain, &metadata)),
    ] {
        assert!(
            result
                .as_ref()
                .is_err_and(|error| error.context().contains(&("field", "a".into())))
        );
        assert_eq!(refused(result).as_deref(), Some("quaternion"));
    }
    Ok(())
}

/// protocol: table-features.4
#[test]
fn a_refusal_names_the_feature_as_the_table_does() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    assert_eq!(
        refused(ensure_readable(&samples::table(
            &protocol(3, 7, &["geospatial-dev"]),
            &plain
        )))
        .as_deref(),
        Some("geospatial-dev")
    );
    Ok(())
}

/// protocol: table-features.4
#[test]
fn a_catalogs_table_is_opened_with_its_tail_only() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    for name in ["catalogManaged", "catalogOwned-preview"] {
        let managed = protocol(3, 7, &[name, "vacuumProtocolCheck"]);
        let without = ensure_openable(&samples::table(&managed, &plain), CatalogTail::Absent);
        assert!(
            without
                .as_ref()
                .is_err_and(|error| error.hint_text().is_some_and(|hint| hint.contains("catalog")))
        );
        assert_eq!(refused(without).as_deref(), Some(name));
        assert_eq!(
            refused(ensure_openable(
                &samples::table(&managed, &plain),
                CatalogTail::Given
            )),
            None
        );
    }
    Ok(())
}

/// protocol: table-features.3, table-features.4, beyond:aliases.1
#[test]
fn column_mapping_is_found_in_every_place_that_writers_put_it() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    let mapped = metadata(PLAIN, &[("delta.columnMapping.mode", "name")]);
    // Reader version 2 implies it, whatever writer features are listed.
    let mixed = protocol(2, 7, &["columnMapping"]);
    assert_eq!(
        refused(ensure_openable(
            &samples::table(&mixed, &mapped),
            CatalogTail::Absent
        )),
        None
    );
    let named = |mapping: serde_json::Value| {
        let field = json!({"name": "a", "type": "long", "nullable": true, "metadata": mapping});
        let schema = json!({"type": "struct", "fields": [field]}).to_string();
        metadata(&schema, &[("delta.columnMapping.mode", "name")])
    };
    let sound = named(json!({"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "x"}));
    assert_eq!(refused(ensure_readable(&samples::table(&mixed, &sound))), None);
    // A column without a physical name would be confused with another one.
    let unsound = ensure_readable(&samples::table(&mixed, &named(json!({}))));
    assert_eq!(
        unsound.err().map(|error| error.kind()),
        Some(ErrorKind::CorruptLog)
    );
    // Listed only for writers, it does not bind readers while no column is mapped.
    let orphan = Protocol {
        reader_features: Some(Vec::new()),
        ..protocol(3, 7, &["columnMapping"])
    };
    for orphan in [orphan, protocol(1, 7, &["columnMapping"])] {
        assert_eq!(refused(ensure_readable(&samples::table(&orphan, &plain))), None);
        assert_eq!(
            refused(ensure_openable(
                &samples::table(&orphan, &mapped),
                CatalogTail::Absent
            )),
            None
        );
        assert_eq!(
            refused(ensure_readable(&samples::table(&orphan, &mapped))).as_deref(),
            Some("columnMapping")
        );
    }
    // Other reader features bind readers, on whichever side they are listed.
    assert_eq!(
        refused(ensure_readable(&samples::table(
            &protocol(1, 7, &["geospatial"]),
            &plain
        )))
        .as_deref(),
        Some("geospatial")
    );
    Ok(())
}

/// protocol: table-features.5, table-features.6, supported-features.1, beyond:unknown.1
#[test]
fn an_append_needs_every_active_writer_feature() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    let append = |protocol: &Protocol| refused(ensure_appendable(&samples::table(protocol, &plain)));
    for writer in 1..=6 {
        assert_eq!(append(&protocol(1, writer, &[])), None, "{writer}");
    }
    assert_eq!(
        append(&protocol(1, 7, &["checkConstraints", "domainMetadata"])),
        None
    );
    assert_eq!(
        append(&protocol(1, 7, &["redirectWriterOnly"])).as_deref(),
        Some("redirectWriterOnly")
    );
    assert_eq!(
        append(&protocol(1, 7, &["fromTheFuture"])).as_deref(),
        Some("fromTheFuture")
    );
    assert_eq!(append(&protocol(1, 8, &[])).as_deref(), Some("writer version 8"));
    let checked = metadata(CHECKED, &[]);
    for writer in [1, 2] {
        let checked = samples::table(&protocol(1, writer, &[]), &checked);
        assert_eq!(refused(ensure_appendable(&checked)), None);
    }
    let constrained = metadata(PLAIN, &[("delta.constraints.positive", "a > 0")]);
    let constrained = samples::table(&protocol(1, 3, &[]), &constrained);
    assert_eq!(refused(ensure_appendable(&constrained)), None);
    Ok(())
}

/// Constraints, invariants and generated values restrict the rows that are written: removing rows does not evaluate them.
///
/// protocol: check-constraints.4, column-invariants.4, table-features.5, supported-features.1
#[test]
fn a_removal_needs_no_rule_of_rows_and_every_other_feature() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    let ruled = PLAIN.replace(
        r#""metadata":{}"#,
        r#""metadata":{"delta.invariants":"{}","delta.generationExpression":"1","delta.identity.start":1,"CURRENT_DEFAULT":"1"}"#,
    );
    let ruled = metadata(&ruled, &[("delta.constraints.positive", "a > 0")]);
    assert_eq!(
        refused(ensure_removable(&samples::table(&protocol(1, 6, &[]), &ruled))),
        None
    );
    for (protocol, feature) in [
        (
            protocol(1, 7, &["checkConstraints", "fromTheFuture"]),
            "fromTheFuture",
        ),
        (protocol(1, 7, &["redirectWriterOnly"]), "redirectWriterOnly"),
        (protocol(1, 8, &[]), "writer version 8"),
    ] {
        let removed = refused(ensure_removable(&samples::table(&protocol, &plain)));
        assert_eq!(removed.as_deref(), Some(feature));
    }
    Ok(())
}

/// protocol: table-features.2, reader-version-requirements.1
#[test]
fn a_protocol_without_the_lists_it_needs_is_damage() -> Result<()> {
    let plain = metadata(PLAIN, &[]);
    let mut broken = protocol(3, 7, &[]);
    broken.reader_features = None;
    assert!(
        ensure_readable(&samples::table(&broken, &plain))
            .is_err_and(|error| error.kind() == ErrorKind::CorruptLog)
    );
    let mut mixed = protocol(3, 7, &[]);
    mixed.min_writer_version = 5;
    assert!(
        ensure_readable(&samples::table(&mixed, &plain))
            .is_err_and(|error| error.kind() == ErrorKind::CorruptLog)
    );
    Ok(())
}
