//! Tests of read sets of predicates, files, applications and domains.

use deltaic_protocol::actions::{Metadata, Protocol};
use deltaic_protocol::expr::parse_predicate;
use serde_json::json;

use super::*;
use crate::changes::PartitionValues;

const MAPPED: &str = "delta.columnMapping.physicalName";

fn read_set(partitioned: bool, physical: Option<&str>) -> Result<(ReadSet, Metadata)> {
    let column = |name: &str, data_type: &str, metadata: serde_json::Value| json!({"name": name, "type": data_type, "nullable": true, "metadata": metadata});
    let named = physical.map_or_else(|| json!({}), |name| json!({ MAPPED: name }));
    let schema = json!({"type": "struct", "fields": [
        column("p", "integer", named), column("q", "string", json!({})), column("x", "long", json!({})),
    ]});
    let metadata: Metadata = serde_json::from_value(json!({
        "id": "t", "format": {"provider": "parquet"}, "schemaString": schema.to_string(),
        "partitionColumns": if partitioned { json!(["p", "q"]) } else { json!([]) },
        "configuration": if physical.is_some() { json!({"delta.columnMapping.mode": "name"}) } else { json!({}) },
    }))
    .expect("these are metadata");
    let protocol = Protocol {
        min_reader_version: if physical.is_some() { 2 } else { 1 },
        min_writer_version: 5,
        reader_features: None,
        writer_features: None,
    };
    let table = TableConfiguration::new(protocol, metadata.clone());
    Ok((ReadSet::try_new(&table)?, metadata))
}

fn values(pairs: &[(&str, Option<&str>)]) -> PartitionValues {
    let owned = |(name, value): &(&str, Option<&str>)| ((*name).to_owned(), value.map(str::to_owned));
    pairs.iter().map(owned).collect()
}

/// An added file with these partition values, without statistics.
fn file(partition_values: PartitionValues) -> WinningFile {
    WinningFile {
        partition_values,
        ..WinningFile::default()
    }
}

fn read(predicates: &[&str], partitioned: bool) -> Result<ReadSet> {
    let (mut read, metadata) = read_set(partitioned, None)?;
    for predicate in predicates {
        let bound = parse_predicate(predicate)?.bind(&metadata.schema()?)?;
        read.read_where(Some(&bound));
    }
    Ok(read)
}

#[test]
fn partition_predicates_report_what_was_read() -> Result<()> {
    let of = |p: Option<&str>, q: Option<&str>| values(&[("p", p), ("q", q)]);
    for (predicates, partition, expected) in [
        (&["p = 1"][..], of(Some("1"), Some("a")), true),
        (&["p = 1"], of(Some("01"), Some("a")), true),
        (&["p = 1"], of(Some("2"), Some("a")), false),
        (&["p = 1"], of(None, Some("a")), false),
        (&["p IS NULL"], of(None, Some("a")), true),
        (&["p IS NULL"], of(Some(""), Some("a")), true),
        // With two reads, a file matches if either predicate matches.
        (&["p = 1", "q = 'b'"], of(Some("2"), Some("b")), true),
        (&["p = 1", "q = 'b'"], of(Some("2"), Some("a")), false),
        (&["p = 1 AND q = 'b'"], of(Some("1"), Some("a")), false),
        // A file without statistics may have any values of the other columns.
        (&["x = 7"], of(Some("2"), Some("a")), true),
        (&["p = 1 AND x = 7"], of(Some("2"), Some("a")), false),
        (&["p = 1 AND x = 7"], of(Some("1"), Some("a")), true),
        (&["p = 1 OR x = 7"], of(Some("2"), Some("a")), true),
        // Files with unreadable partition values always match.
        (&["p = 1"], of(Some("one"), Some("a")), true),
        (&["p = 1"], values(&[("q", Some("a"))]), true),
        // Without a recorded read, no file matches.
        (&[], of(Some("1"), Some("a")), false),
    ] {
        assert_eq!(
            read(predicates, true)?.matches(&file(partition.clone())),
            expected,
            "{predicates:?} {partition:?}"
        );
    }
    Ok(())
}

/// The statistics of a file show that it has no row of a predicate, by the names that columns have in the log.
#[test]
fn statistics_show_that_a_file_was_not_read() -> Result<()> {
    let bounds = |least: i64, greatest: i64, tight: bool| {
        json!({"numRecords": 3, "tightBounds": tight, "minValues": {"x": least}, "maxValues": {"x": greatest},
            "nullCount": {"x": 0}})
        .to_string()
    };
    for (predicates, stats, expected) in [
        (&["x = 7"][..], Some(bounds(1, 6, true)), false),
        (&["x = 7"], Some(bounds(1, 6, false)), false),
        (&["x = 7"], Some(bounds(1, 7, true)), true),
        (&["x = 7", "x > 100"], Some(bounds(8, 99, true)), false),
        (&["x = 7", "x > 98"], Some(bounds(8, 99, true)), true),
        (&["x IS NULL"], Some(bounds(8, 99, true)), false),
        // The number of NULL values is unknown if rows were deleted.
        (&["x IS NOT NULL"], Some(bounds(8, 99, false)), true),
        (&["q = 'b' AND x = 7"], Some(bounds(8, 99, true)), false),
        (&["q = 'b' OR x = 7"], Some(bounds(8, 99, true)), true),
        // Unknown statistics.
        (&["x = 7"], None, true),
        (&["x = 7"], Some("{".to_owned()), true),
        (
            &["x = 7"],
            Some(r#"{"minValues":{"x":"eight"}}"#.to_owned()),
            true,
        ),
    ] {
        let added = WinningFile {
            stats: stats.clone(),
            ..WinningFile::default()
        };
        let found = read(predicates, false)?.matches(&added);
        assert_eq!(found, expected, "{predicates:?} {stats:?}");
    }
    Ok(())
}

#[test]
fn statistics_and_partition_values_are_combined() -> Result<()> {
    let added = |p: &str, least: i64| WinningFile {
        stats: Some(
            json!({"numRecords": 1, "minValues": {"x": least}, "maxValues": {"x": least}}).to_string(),
        ),
        ..file(values(&[("p", Some(p)), ("q", None)]))
    };
    let read = read(&["p = 1 AND x = 7 OR p = 2 AND x = 8"], true)?;
    for (p, x, expected) in [
        ("1", 7, true),
        ("1", 8, false),
        ("2", 7, false),
        ("2", 8, true),
        ("3", 7, false),
    ] {
        assert_eq!(read.matches(&added(p, x)), expected, "{p} {x}");
    }
    Ok(())
}

#[test]
fn statistics_are_found_by_physical_names() -> Result<()> {
    let (mut read, metadata) = read_set(false, Some("col-9"))?;
    read.read_where(Some(&parse_predicate("p = 1")?.bind(&metadata.schema()?)?));
    let added = |name: &str| WinningFile {
        stats: Some(json!({"numRecords": 1, "minValues": {name: 2}, "maxValues": {name: 2}}).to_string()),
        ..WinningFile::default()
    };
    assert!(!read.matches(&added("col-9")) && read.matches(&added("p")));
    Ok(())
}

#[test]
fn a_file_without_statistics_was_read() -> Result<()> {
    assert!(read(&["x = 7"], false)?.matches(&WinningFile::default()));
    assert!(!read(&[], false)?.matches(&WinningFile::default()));
    Ok(())
}

#[test]
fn a_read_without_a_predicate_is_of_every_partition() -> Result<()> {
    let file = file(values(&[("p", Some("1")), ("q", None)]));
    let (mut read, _) = read_set(true, None)?;
    assert!(!read.depends_on_files() && !read.matches(&file));
    read.read_where(None);
    assert!(read.depends_on_files() && read.matches(&file) && !read.is_of_whole_table());
    let (mut read, _) = read_set(true, None)?;
    read.read_whole_table();
    assert!(read.depends_on_files() && read.matches(&file) && read.is_of_whole_table());
    Ok(())
}

#[test]
fn the_first_of_many_is_found() -> Result<()> {
    let files: Vec<_> = ["5", "2", "1", "2"]
        .map(|p| file(values(&[("p", Some(p)), ("q", None)])))
        .into();
    let files: Vec<_> = files.iter().collect();
    assert_eq!(read(&["p = 1"], true)?.first_match(&files), Some(2));
    assert_eq!(read(&["p = 1", "p = 2"], true)?.first_match(&files), Some(1));
    assert_eq!(read(&["p = 7"], true)?.first_match(&files), None);
    assert_eq!(read(&["x = 7"], false)?.first_match(&[]), None);
    Ok(())
}

/// With column mapping, `partitionValues` uses physical names and predicates use logical names.
#[test]
fn partition_values_are_found_by_their_physical_names() -> Result<()> {
    let (mut read, metadata) = read_set(true, Some("col-9"))?;
    let bound = parse_predicate("p = 1")?.bind(&metadata.schema()?)?;
    read.read_where(Some(&bound));
    let added = |p: &str| file(values(&[("col-9", Some(p)), ("q", None)]));
    assert!(read.matches(&added("1")) && !read.matches(&added("2")));
    Ok(())
}

#[test]
fn files_are_known_in_any_spelling() -> Result<()> {
    let (mut read, _) = read_set(true, None)?;
    read.read_files(["/a/b", "c"]);
    read.read_app_id("app");
    read.read_domain("domain");
    assert!(read.depends_on_files());
    assert!(read.has_file("file:///a/b") && read.has_file("c") && !read.has_file("a/b"));
    assert!(read.has_app_id("app") && !read.has_app_id("domain"));
    assert!(read.has_domain("domain") && !read.has_domain("app"));
    Ok(())
}
