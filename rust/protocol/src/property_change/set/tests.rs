//! Properties of setting and unsetting table properties.

use super::*;
use crate::Version;
use crate::change::{TableChange, change};
use crate::features::supports_for_writers;
use crate::properties::{indexed_columns, text};
use crate::samples::{metadata, protocol};

const SCHEMA: &str = r#"{"type":"struct","fields":[
    {"name":"a","type":"long","nullable":true,"metadata":{}},
    {"name":"p","type":"long","nullable":true,"metadata":{}},
    {"name":"l","nullable":true,"metadata":{},"type":{"type":"array","containsNull":true,"elementType":"long"}}]}"#;

fn table(properties: &[(&str, &str)]) -> TableConfiguration {
    let mut table = TableConfiguration::new(protocol(1, 2, &[]), metadata(properties));
    table.metadata_mut().schema_string = SCHEMA.to_owned();
    table.metadata_mut().partition_columns = vec!["p".to_owned()];
    table
}

fn moment<'a>(new_id: &'a mut dyn FnMut() -> String) -> ChangeContext<'a> {
    ChangeContext {
        version: Version::ZERO.next().unwrap(),
        timestamp_ms: 1_000,
        new_id,
    }
}

use crate::change_context::ChangeContext;

fn with(table: &TableConfiguration, properties: &[(&str, &str)]) -> Result<TableConfiguration> {
    let values = properties
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let mut ids = 0;
    let mut new_id = || {
        ids += 1;
        format!("id{ids}")
    };
    change(
        table,
        &TableChange::SetProperties(values),
        &mut moment(&mut new_id),
    )
}

fn without(table: &TableConfiguration, name: &str, if_absent: IfAbsent) -> Result<TableConfiguration> {
    let change_ = TableChange::UnsetProperties(vec![name.to_owned()], if_absent);
    change(table, &change_, &mut moment(&mut String::new))
}

/// A value of a property other than its default, and the other properties that it needs.
fn sample(property: &Property) -> (&'static str, &'static [(&'static str, &'static str)]) {
    const MODE: &[(&str, &str)] = &[("delta.columnMapping.mode", "name")];
    const PROMISE: &[(&str, &str)] = &[
        ("delta.columnMapping.mode", "name"),
        ("delta.enableIcebergCompatV2", "true"),
    ];
    const WITH_ROW_IDS: &[(&str, &str)] = &[
        ("delta.columnMapping.mode", "name"),
        ("delta.enableRowTracking", "true"),
    ];
    match property.name {
        "delta.parquet.format.version" => ("2.12.0", &[]),
        "delta.parquet.compression.codec" => ("snappy", &[]),
        "delta.targetFileSize" => ("100mb", &[]),
        "delta.dataSkippingStatsColumns" => ("a", &[]),
        "delta.universalFormat.enabledFormats" => ("iceberg", PROMISE),
        "delta.enableIcebergCompatV2" => ("true", MODE),
        "delta.enableIcebergCompatV3" => ("true", WITH_ROW_IDS),
        "delta.isolationLevel" => ("WriteSerializable", &[]),
        "delta.checkpointPolicy" => ("v2", &[]),
        "delta.columnMapping.mode" => ("name", &[]),
        "delta.autoOptimize.autoCompact" => ("legacy", &[]),
        "delta.minReaderVersion" => ("2", &[]),
        "delta.minWriterVersion" => ("5", &[]),
        _ => match property.property_type {
            PropertyType::Boolean if property.default == Some("true") => ("false", &[]),
            PropertyType::Boolean => ("true", &[]),
            PropertyType::Integer(_) => ("5", &[]),
            PropertyType::Interval => ("interval 3 days", &[]),
            PropertyType::Choice(_) | PropertyType::Text => ("some text", &[]),
        },
    }
}

/// protocol: change-metadata.8, writer-requirements-for-column-mapping.2
#[test]
fn every_documented_property_is_set_and_unset_or_refused_with_a_reason() -> Result<()> {
    for property in PROPERTIES {
        let (value, beside) = sample(property);
        let start = with(&table(&[]), beside)?;
        // Iceberg compatibility V1 does not allow arrays.
        let mut start = start;
        if property.name == "delta.enableIcebergCompatV1" {
            start.metadata_mut().schema_string = SCHEMA.replace(
                r#"{"type":"array","containsNull":true,"elementType":"long"}"#,
                r#""long""#,
            );
            start = with(&start, &[("delta.columnMapping.mode", "name")])?;
        }
        let set = with(&start, &[(property.name, value)]);
        let unset = without(&start, property.name, IfAbsent::Error);
        match property.set_by {
            SetBy::Users => {
                let set = set.map_err(|error| error.with("field", property.name))?;
                assert_eq!(
                    text(set.metadata(), property.name)?,
                    Some(value),
                    "{}",
                    property.name
                );
                let row = FEATURES.iter().find(|row| row.property == Some(property.name));
                if let Some(row) = row {
                    assert!(
                        supports_for_writers(set.protocol(), row.name),
                        "{}",
                        property.name
                    );
                }
                assert_eq!(with(&set, &[(property.name, value)])?, set, "{}", property.name);
                let again = without(&set, &property.name.to_uppercase(), IfAbsent::Error)?;
                assert_eq!(again.metadata().property(property.name), None);
                assert_eq!(again.protocol(), set.protocol(), "{}", property.name);
                assert!(unset.is_err() || start.metadata().property(property.name).is_some());
                assert_eq!(without(&again, property.name, IfAbsent::Ignore)?, again);
            }
            SetBy::Protocol => {
                let set = set?;
                assert_eq!(set.metadata(), start.metadata(), "{}", property.name);
            }
            SetBy::Writers => {
                for refused in [set, unset] {
                    let kind = refused.err().map(|error| error.kind());
                    assert_eq!(kind, Some(ErrorKind::InvalidArgument), "{}", property.name);
                }
            }
            SetBy::Others => {
                let kind = set.err().map(|error| error.kind());
                assert_eq!(kind, Some(ErrorKind::UnsupportedFeature), "{}", property.name);
                if property.property_type == PropertyType::Boolean {
                    let off = with(&start, &[(property.name, "FALSE")])?;
                    assert_eq!(off.protocol(), start.protocol());
                    assert_eq!(without(&off, property.name, IfAbsent::Error)?, start);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn values_are_retained_as_every_reader_understands_them() -> Result<()> {
    for (key, value, kept) in [
        ("delta.appendOnly", " TRUE ", "true"),
        ("DELTA.APPENDONLY", "False", "false"),
        ("delta.checkpointInterval", " +7 ", "7"),
        (
            "delta.logRetentionDuration",
            "P7D",
            "interval 604800000 milliseconds",
        ),
        ("delta.logRetentionDuration", "7 days", "7 days"),
        ("delta.checkpointPolicy", "CLASSIC", "classic"),
        ("delta.isolationLevel", "serializable", "Serializable"),
        ("delta.dataSkippingStatsColumns", "A", "A"),
        ("mine", " TRUE ", " TRUE "),
        ("my.delta.thing", "1", "1"),
    ] {
        let set = with(&table(&[]), &[(key, value)])?;
        let name = documented(key).map_or(key, |property| property.name);
        assert_eq!(set.metadata().property(name), Some(kept), "{key}");
        indexed_columns(set.metadata())?;
    }
    Ok(())
}

#[test]
fn names_and_values_that_cannot_be_are_refused_with_what_can() {
    for (key, value, hint) in [
        ("delta.apendOnly", "true", "did you mean delta.appendOnly?"),
        (
            "Delta.Something.Quite.Different.From.All",
            "1",
            "a property of your own has a name that does not start with \"delta.\"",
        ),
        ("delta.appendOnly", "yes", "it can be true or false"),
        (
            "delta.checkpointInterval",
            "0",
            "it can be a whole number from 1 on",
        ),
        (
            "delta.checkpointInterval",
            "often",
            "it can be a whole number from 1 on",
        ),
        (
            "delta.logRetentionDuration",
            "1 month",
            "it can be an interval such as \"interval 7 days\", without months and years",
        ),
        ("delta.checkpointPolicy", "v3", "it can be classic, v2"),
        (
            "delta.parquet.format.version",
            "3.0.0",
            "it can be 1.0.0, or 2.MINOR.PATCH such as 2.12.0",
        ),
        (
            "delta.parquet.format.version",
            "2.0",
            "it can be 1.0.0, or 2.MINOR.PATCH such as 2.12.0",
        ),
        (
            "delta.parquet.compression.codec",
            "lzo",
            "it can be uncompressed, none, snappy, gzip, brotli, lz4, lz4_raw, zstd",
        ),
        (
            "delta.targetFileSize",
            "foo",
            "it can be a number of bytes, or a size such as 100mb or 1gb",
        ),
        (
            "delta.randomPrefixLength",
            "256",
            "the name of a folder has at most 255 characters",
        ),
        (
            "delta.dataSkippingStatsColumns",
            "a,quite_else",
            "there are: a, p, l",
        ),
        ("delta.dataSkippingStatsColumns", "p", "leave it out of the list"),
        (
            "delta.dataSkippingStatsColumns",
            "l.element",
            "leave it out of the list",
        ),
        (
            "delta.universalFormat.enabledFormats",
            "iceberg, csv",
            "it can be iceberg, hudi, or both with a comma between",
        ),
        (
            "delta.universalFormat.enabledFormats",
            "iceberg",
            "set delta.enableIcebergCompatV2 to true first",
        ),
        (
            "delta.constraints.c",
            "a > 0",
            "add or drop the constraint c: existing rows are then verified",
        ),
        (
            "delta.feature.deletionVector",
            "supported",
            "did you mean deletionVectors?",
        ),
        (
            "delta.feature.geospatial",
            "supported",
            "add it with a client that supports it, or with a newer deltaic",
        ),
        (
            "delta.enableChangeDataCapture",
            "true",
            "set delta.enableChangeDataFeed, its present name",
        ),
        (
            "delta.columnMapping.mode",
            "id",
            "set it to name, which assigns ids too",
        ),
        (
            "delta.minReaderVersion",
            "3",
            "request (3, 7), or a feature by its name",
        ),
    ] {
        let error = with(&table(&[]), &[(key, value)]).err();
        assert_eq!(
            error.as_ref().and_then(Error::hint_text),
            Some(hint),
            "{key} {value}: {error:?}"
        );
    }
    for (key, value) in [
        ("", "1"),
        (" ", "1"),
        ("a\nb", "1"),
        ("delta.feature.deletionVectors", "maybe"),
        ("delta.parquet.compression.codec", "zip"),
        ("delta.enableIcebergCompatV1", "true"),
        ("delta.enableIcebergCompatV2", "true"),
    ] {
        assert!(with(&table(&[]), &[(key, value)]).is_err(), "{key} {value}");
    }
    for name in [
        "delta.constraints.c",
        "delta.feature.deletionVectors",
        "delta.appendOnly",
        "mine",
    ] {
        assert!(
            without(&table(&[("delta.constraints.c", "a > 0")]), name, IfAbsent::Error).is_err(),
            "{name}"
        );
    }
}

#[test]
fn unknown_properties_remain_until_they_are_unset() -> Result<()> {
    let odd = table(&[("delta.fromTheFuture", "1"), ("mine", "2")]);
    let named = change(
        &odd,
        &TableChange::SetName(Some("n".to_owned())),
        &mut moment(&mut String::new),
    )?;
    assert_eq!(named.metadata().property("delta.fromTheFuture"), Some("1"));
    let after = without(
        &without(&odd, "delta.fromTheFuture", IfAbsent::Error)?,
        "mine",
        IfAbsent::Error,
    )?;
    assert_eq!(after, table(&[]));
    Ok(())
}

/// protocol: protocol-evolution.2, supported-features.1
#[test]
fn features_and_versions_are_requested_by_property_and_not_retained_as_such() -> Result<()> {
    let plain = table(&[]);
    let set = with(
        &plain,
        &[
            ("delta.feature.rowTracking", "supported"),
            ("delta.feature.deletionVectors", "enabled"),
            ("mine", "1"),
        ],
    )?;
    assert_eq!(set.metadata(), table(&[("mine", "1")]).metadata());
    for name in [
        "rowTracking",
        "domainMetadata",
        "deletionVectors",
        "appendOnly",
        "invariants",
    ] {
        assert!(supports_for_writers(set.protocol(), name), "{name}");
    }
    let upgraded = with(
        &plain,
        &[
            ("delta.minReaderVersion", "2"),
            ("delta.minWriterVersion", "5"),
            ("delta.ignoreProtocolDefaults", "true"),
        ],
    )?;
    assert_eq!(*upgraded.protocol(), protocol(2, 5, &[]));
    assert_eq!(upgraded.metadata(), plain.metadata());
    Ok(())
}
