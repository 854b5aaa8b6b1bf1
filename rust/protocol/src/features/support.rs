//! The gate: it fails closed. What is not proved to be understood is refused by its name.

use super::table::{FEATURES, Kind, Support, feature};
use crate::actions::{Metadata, Protocol};
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result};

/// Whether the newest commits of a table were handed over by its catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogTail {
    /// Only what `_delta_log` lists is known.
    Absent,
    /// The catalog has said which commits follow the published ones.
    Given,
}

/// Proves that deltaic follows the log of such a table: its metadata, schema, files, statistics and history.
/// Rows need more: [`ensure_readable`].
///
/// Protocol: *Reader Version Requirements*, *Table Features*, *Catalog-managed tables*.
///
/// # Errors
///
/// `UnsupportedFeature` names what is not known or not followed, as the table spells it; `CorruptLog` says that the
/// protocol action contradicts itself.
pub fn ensure_openable(
    protocol: &Protocol,
    metadata: &Metadata,
    schema: &StructType,
    tail: LogTail,
) -> Result<()> {
    let names = binding_readers(protocol)?;
    let support = |name: &str| feature(name).map(|feature| feature.open);
    let refused: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| support(name) != Some(Support::WithTail))
        .filter(|name| !allows(support(name), name, metadata, schema))
        .collect();
    refuse(&refused, "open")?;
    match names.iter().find(|name| support(name) == Some(Support::WithTail)) {
        Some(name) if tail == LogTail::Absent => Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the table has the feature {name}: only its catalog knows which commits are in it"),
        )
        .with("feature", *name)
        .hint("open the table through its catalog")),
        _ => Ok(()),
    }
}

/// Proves that deltaic reads the rows of a table of this protocol and metadata rightly.
///
/// Protocol: *Reader Version Requirements*, *Table Features*.
pub fn ensure_readable(protocol: &Protocol, metadata: &Metadata, schema: &StructType) -> Result<()> {
    let mut refused: Vec<&str> = binding_readers(protocol)?
        .into_iter()
        .filter(|name| !allows(feature(name).map(|feature| feature.read), name, metadata, schema))
        .collect();
    // A table can use a feature that its protocol forgot to name; reading it as if it did not would be wrong.
    for known in FEATURES.iter().filter(|known| known.name == "columnMapping") {
        if (known.active)(metadata, schema) && known.read != Support::Full && !refused.contains(&known.name) {
            refused.push(known.name);
        }
    }
    refuse(&refused, "read")?;
    if metadata.schema_string.is_empty() {
        return Err(Error::new(
            ErrorKind::CorruptLog,
            "the table's metadata hold no schema: it has no columns yet",
        )
        .with("field", "schemaString")
        .hint("give the table its columns with a client that changes schemas"));
    }
    refuse_unknown_types(schema)
}

fn refuse_unknown_types(schema: &StructType) -> Result<()> {
    match schema.first_unknown() {
        Some((path, data_type)) => Err(data_type.unknown().with("field", path)),
        None => Ok(()),
    }
}

/// The features that bind the readers of a table, as the table spells them.
fn binding_readers(protocol: &Protocol) -> Result<Vec<&str>> {
    protocol.validate()?;
    let mut names: Vec<&str> = match protocol.min_reader_version {
        1 | 2 => FEATURES
            .iter()
            .filter(|feature| feature.legacy.0 > 0 && feature.legacy.0 <= protocol.min_reader_version)
            .map(|feature| feature.name)
            .collect(),
        3 => protocol
            .reader_features
            .iter()
            .flatten()
            .map(String::as_str)
            .collect(),
        other => return Err(unknown_version("reader", other)),
    };
    // What is known to bind readers binds them where only writers are told, too. Column mapping alone is found so
    // in tables that have never mapped a column; whether they do is asked of their metadata.
    names.extend(
        protocol
            .writer_features
            .iter()
            .flatten()
            .map(String::as_str)
            .filter(|name| {
                !protocol
                    .reader_features
                    .iter()
                    .flatten()
                    .any(|listed| listed == name)
            })
            .filter(|name| {
                feature(name)
                    .is_some_and(|known| known.kind == Kind::ReaderWriter && known.name != "columnMapping")
            }),
    );
    Ok(names)
}

/// Proves that deltaic may append to a table of this protocol and metadata.
///
/// Protocol: *Writer Version Requirements*, *Requirements for Writers*.
pub fn ensure_appendable(protocol: &Protocol, metadata: &Metadata, schema: &StructType) -> Result<()> {
    ensure_readable(protocol, metadata, schema)?;
    let needed: Vec<&str> = match protocol.min_writer_version {
        1..=6 => FEATURES
            .iter()
            .filter(|feature| feature.legacy.1 > 0 && feature.legacy.1 <= protocol.min_writer_version)
            // What binds readers too was judged above: writer version 5 alone maps no columns.
            .filter(|feature| feature.kind == Kind::Writer)
            .map(|feature| feature.name)
            .collect(),
        7 => protocol
            .writer_features
            .iter()
            .flatten()
            .map(String::as_str)
            .collect(),
        other => return Err(unknown_version("writer", other)),
    };
    let refused: Vec<&str> = needed
        .into_iter()
        .filter(|name| {
            !allows(
                feature(name).map(|feature| feature.append),
                name,
                metadata,
                schema,
            )
        })
        .collect();
    refuse(&refused, "append to")
}

/// Whether a table's protocol has a feature for writers: by its name or an alias in the list, or by a version that
/// implies it.
#[must_use]
pub fn supports_for_writers(protocol: &Protocol, name: &str) -> bool {
    let Some(known) = feature(name) else {
        return protocol
            .writer_features
            .iter()
            .flatten()
            .any(|listed| listed == name);
    };
    match protocol.min_writer_version {
        7 => protocol
            .writer_features
            .iter()
            .flatten()
            .any(|listed| feature(listed).is_some_and(|row| row.name == known.name)),
        version => known.legacy.1 > 0 && known.legacy.1 <= version,
    }
}

fn allows(support: Option<Support>, name: &str, metadata: &Metadata, schema: &StructType) -> bool {
    match support {
        Some(Support::Full) => true,
        Some(Support::WhileInactive) => {
            feature(name).is_some_and(|feature| !(feature.active)(metadata, schema))
        }
        Some(Support::WithTail | Support::None) | None => false,
    }
}

fn unknown_version(side: &str, version: i32) -> Error {
    Error::new(
        ErrorKind::UnsupportedFeature,
        format!("the table needs {side} version {version}, which is not known"),
    )
    .with("feature", format!("{side} version {version}"))
    .hint("a newer deltaic may know it")
}

fn refuse(names: &[&str], verb: &str) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let list = names.join(", ");
    let (word, pronoun) = if names.len() == 1 {
        ("feature", "it")
    } else {
        ("features", "them")
    };
    Err(Error::new(
        ErrorKind::UnsupportedFeature,
        format!("the table has the {word} {list}, which deltaic does not implement yet"),
    )
    .with("feature", list)
    .hint(format!(
        "{verb} the table with a client that has {pronoun}, or with a newer deltaic"
    )))
}

/// The protocol of a new table: (1, 2), or table features where the schema or a property needs one.
///
/// A property that needs a feature which is not implemented is refused by the feature's name.
pub fn protocol_for(metadata: &Metadata, schema: &StructType) -> Result<Protocol> {
    refuse_unknown_types(schema)?;
    let mut names: Vec<&str> = Vec::new();
    let mut refused: Vec<&str> = Vec::new();
    let mut ntz = false;
    schema.for_each_part(&mut |_, data_type| {
        ntz = ntz || data_type.as_primitive() == Some(crate::schema::PrimitiveType::TimestampNtz);
    });
    if ntz {
        names.push("timestampNtz");
    }
    for known in FEATURES {
        let turned_on = known
            .property
            .and_then(|key| metadata.property(key))
            .is_some_and(|value| {
                value.eq_ignore_ascii_case("true")
                    || ((known.active)(metadata, schema) && known.name == "columnMapping")
            });
        match (turned_on, known.append) {
            (true, Support::Full) => names.push(known.name),
            (true, _) => refused.push(known.name),
            (false, _) => {}
        }
    }
    for key in metadata.configuration.keys() {
        if let Some(name) = key.strip_prefix("delta.feature.") {
            match feature(name) {
                Some(known) if known.append == Support::Full => names.push(known.name),
                _ => refused.push(name),
            }
        } else if key.starts_with("delta.constraints.") {
            refused.push("checkConstraints");
        } else if key == "delta.checkpointPolicy" && metadata.property(key) == Some("v2") {
            names.push("v2Checkpoint");
        }
    }
    refuse(&refused, "create")?;
    names.retain(|name| *name != "appendOnly");
    if names.is_empty() {
        return Ok(Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        });
    }
    // What writer version 2 implies must be spelled out once features are listed.
    names.extend(["appendOnly", "invariants"]);
    names.sort_unstable();
    names.dedup();
    let for_readers: Vec<String> = names
        .iter()
        .filter(|name| feature(name).is_some_and(|feature| feature.kind == Kind::ReaderWriter))
        .map(ToString::to_string)
        .collect();
    let binds_readers = !for_readers.is_empty();
    Ok(Protocol {
        min_reader_version: if binds_readers { 3 } else { 1 },
        min_writer_version: 7,
        reader_features: binds_readers.then_some(for_readers),
        writer_features: Some(names.iter().map(ToString::to_string).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(schema: &str, properties: &[(&str, &str)]) -> Result<(Metadata, StructType)> {
        let metadata = Metadata {
            id: "m".to_owned(),
            name: None,
            description: None,
            format: crate::actions::Format {
                provider: "parquet".to_owned(),
                options: Default::default(),
            },
            schema_string: schema.to_owned(),
            partition_columns: Vec::new(),
            configuration: properties
                .iter()
                .map(|(k, v)| (k.to_string(), Some(v.to_string())))
                .collect(),
            created_time: None,
        };
        let schema = metadata.schema()?;
        Ok((metadata, schema))
    }

    fn protocol(reader: i32, writer: i32, features: &[&str]) -> Protocol {
        let list = || Some(features.iter().map(ToString::to_string).collect());
        Protocol {
            min_reader_version: reader,
            min_writer_version: writer,
            reader_features: if reader == 3 { list() } else { None },
            writer_features: if writer == 7 { list() } else { None },
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
    fn the_gate_fails_closed() -> Result<()> {
        let (plain, schema) = metadata(PLAIN, &[])?;
        let read = |protocol: &Protocol| refused(ensure_readable(protocol, &plain, &schema));
        assert_eq!(read(&protocol(1, 2, &[])), None);
        assert_eq!(read(&protocol(1, 7, &["rowTracking", "fromTheFuture"])), None);
        assert_eq!(
            read(&protocol(3, 7, &["timestampNtz", "vacuumProtocolCheck"])),
            None
        );
        assert_eq!(read(&protocol(2, 5, &[])).as_deref(), Some("columnMapping"));
        assert_eq!(
            read(&protocol(3, 7, &["fromTheFuture"])).as_deref(),
            Some("fromTheFuture")
        );
        assert_eq!(
            read(&protocol(
                3,
                7,
                &["deletionVectors", "timestampNtz", "typeWidening"]
            ))
            .as_deref(),
            Some("deletionVectors, typeWidening")
        );
        assert_eq!(read(&protocol(4, 7, &[])).as_deref(), Some("reader version 4"));
        let (mapped, schema) = metadata(PLAIN, &[("delta.columnMapping.mode", "name")])?;
        assert_eq!(
            refused(ensure_readable(&protocol(1, 2, &[]), &mapped, &schema)).as_deref(),
            Some("columnMapping")
        );
        Ok(())
    }

    /// protocol: table-features.3, table-features.4, beyond:unknown.1, beyond:aliases.1
    #[test]
    fn a_log_is_followed_for_more_features_than_rows_are_read() -> Result<()> {
        let (plain, schema) = metadata(PLAIN, &[])?;
        let open = |protocol: &Protocol| refused(ensure_openable(protocol, &plain, &schema, LogTail::Absent));
        for row in FEATURES.iter().filter(|row| row.open == Support::Full) {
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

    #[test]
    fn a_table_without_a_schema_has_a_log_and_no_rows() -> Result<()> {
        let (metadata, schema) = metadata("", &[])?;
        let plain = protocol(1, 2, &[]);
        assert_eq!(schema, StructType::default());
        ensure_openable(&plain, &metadata, &schema, LogTail::Absent)?;
        for result in [
            ensure_readable(&plain, &metadata, &schema),
            ensure_appendable(&plain, &metadata, &schema),
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
        let (metadata, schema) = metadata(&PLAIN.replace("long", "quaternion"), &[])?;
        let plain = protocol(1, 2, &[]);
        assert_eq!(
            refused(ensure_openable(&plain, &metadata, &schema, LogTail::Absent)),
            None
        );
        for result in [
            ensure_readable(&plain, &metadata, &schema),
            ensure_appendable(&plain, &metadata, &schema),
            protocol_for(&metadata, &schema).map(|_| ()),
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
        let (plain, schema) = metadata(PLAIN, &[])?;
        assert_eq!(
            refused(ensure_readable(
                &protocol(3, 7, &["variantType-preview"]),
                &plain,
                &schema
            ))
            .as_deref(),
            Some("variantType-preview")
        );
        Ok(())
    }

    /// protocol: table-features.4
    #[test]
    fn a_catalogs_table_is_opened_with_its_tail_only() -> Result<()> {
        let (plain, schema) = metadata(PLAIN, &[])?;
        for name in ["catalogManaged", "catalogOwned-preview"] {
            let managed = protocol(3, 7, &[name, "vacuumProtocolCheck"]);
            let without = ensure_openable(&managed, &plain, &schema, LogTail::Absent);
            assert!(
                without
                    .as_ref()
                    .is_err_and(|error| error.hint_text().is_some_and(|hint| hint.contains("catalog")))
            );
            assert_eq!(refused(without).as_deref(), Some(name));
            assert_eq!(
                refused(ensure_openable(&managed, &plain, &schema, LogTail::Given)),
                None
            );
        }
        Ok(())
    }

    /// protocol: table-features.3, table-features.4, beyond:aliases.1
    #[test]
    fn column_mapping_is_found_in_every_place_that_writers_put_it() -> Result<()> {
        let (plain, schema) = metadata(PLAIN, &[])?;
        let (mapped, _) = metadata(PLAIN, &[("delta.columnMapping.mode", "name")])?;
        // Reader version 2 implies it, whatever the writer's side lists.
        let mixed = protocol(2, 7, &["columnMapping"]);
        assert_eq!(
            refused(ensure_openable(&mixed, &mapped, &schema, LogTail::Absent)),
            None
        );
        assert_eq!(
            refused(ensure_readable(&mixed, &mapped, &schema)).as_deref(),
            Some("columnMapping")
        );
        // Told to writers alone, it binds no reader as long as no column is mapped.
        let orphan = Protocol {
            reader_features: Some(Vec::new()),
            ..protocol(3, 7, &["columnMapping"])
        };
        for orphan in [orphan, protocol(1, 7, &["columnMapping"])] {
            assert_eq!(refused(ensure_readable(&orphan, &plain, &schema)), None);
            assert_eq!(
                refused(ensure_openable(&orphan, &mapped, &schema, LogTail::Absent)),
                None
            );
            assert_eq!(
                refused(ensure_readable(&orphan, &mapped, &schema)).as_deref(),
                Some("columnMapping")
            );
        }
        // Other features of readers bind them, whoever is told.
        assert_eq!(
            refused(ensure_readable(
                &protocol(1, 7, &["deletionVectors"]),
                &plain,
                &schema
            ))
            .as_deref(),
            Some("deletionVectors")
        );
        Ok(())
    }

    /// protocol: table-features.5, table-features.6, supported-features.1, beyond:unknown.1
    #[test]
    fn an_append_needs_every_active_writer_feature() -> Result<()> {
        let (plain, schema) = metadata(PLAIN, &[])?;
        let append = |protocol: &Protocol| refused(ensure_appendable(protocol, &plain, &schema));
        for writer in 1..=6 {
            assert_eq!(append(&protocol(1, writer, &[])), None, "{writer}");
        }
        assert_eq!(
            append(&protocol(1, 7, &["checkConstraints", "domainMetadata"])),
            None
        );
        assert_eq!(
            append(&protocol(1, 7, &["rowTracking"])).as_deref(),
            Some("rowTracking")
        );
        assert_eq!(
            append(&protocol(1, 7, &["fromTheFuture"])).as_deref(),
            Some("fromTheFuture")
        );
        assert_eq!(append(&protocol(1, 8, &[])).as_deref(), Some("writer version 8"));
        let (checked, schema) = metadata(CHECKED, &[])?;
        assert_eq!(
            refused(ensure_appendable(&protocol(1, 2, &[]), &checked, &schema)).as_deref(),
            Some("invariants")
        );
        assert_eq!(
            refused(ensure_appendable(&protocol(1, 1, &[]), &checked, &schema)),
            None
        );
        let (constrained, schema) = metadata(PLAIN, &[("delta.constraints.positive", "a > 0")])?;
        assert_eq!(
            refused(ensure_appendable(&protocol(1, 3, &[]), &constrained, &schema)).as_deref(),
            Some("checkConstraints")
        );
        Ok(())
    }

    /// protocol: table-features.2, reader-version-requirements.1
    #[test]
    fn a_protocol_without_the_lists_it_needs_is_damage() -> Result<()> {
        let (plain, schema) = metadata(PLAIN, &[])?;
        let mut broken = protocol(3, 7, &[]);
        broken.reader_features = None;
        assert!(
            ensure_readable(&broken, &plain, &schema)
                .is_err_and(|error| error.kind() == ErrorKind::CorruptLog)
        );
        let mut mixed = protocol(3, 7, &[]);
        mixed.min_writer_version = 5;
        assert!(
            ensure_readable(&mixed, &plain, &schema)
                .is_err_and(|error| error.kind() == ErrorKind::CorruptLog)
        );
        Ok(())
    }

    /// protocol: table-features-for-new-and-existing-tables.2, table-features-for-new-and-existing-tables.3,
    /// table-features-for-new-and-existing-tables.4
    #[test]
    fn a_new_table_asks_for_no_more_than_it_needs() -> Result<()> {
        let (plain, schema) = metadata(PLAIN, &[("delta.appendOnly", "true")])?;
        assert_eq!(protocol_for(&plain, &schema)?, protocol(1, 2, &[]));
        let (feed, schema) = metadata(PLAIN, &[("delta.enableChangeDataFeed", "true")])?;
        assert_eq!(
            protocol_for(&feed, &schema)?,
            protocol(1, 7, &["appendOnly", "changeDataFeed", "invariants"])
        );
        let (ntz, schema) = metadata(&PLAIN.replace("long", "timestamp_ntz"), &[])?;
        let made = protocol_for(&ntz, &schema)?;
        assert_eq!((made.min_reader_version, made.min_writer_version), (3, 7));
        assert_eq!(made.reader_features, Some(vec!["timestampNtz".to_owned()]));
        for property in [
            ("delta.enableDeletionVectors", "true"),
            ("delta.columnMapping.mode", "name"),
            ("delta.feature.rowTracking", "supported"),
            ("delta.constraints.c", "a > 0"),
        ] {
            let (metadata, schema) = metadata(PLAIN, &[property])?;
            assert!(
                refused(protocol_for(&metadata, &schema).map(|_| ())).is_some(),
                "{property:?}"
            );
        }
        Ok(())
    }
}
