//! Small tables, proposals and winning commits for tests of this module.

use deltaic_protocol::actions::{Add, DomainMetadata, Metadata, Protocol, Remove, Txn};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::expr::{BoundPredicate, parse_predicate};
use deltaic_protocol::{TableConfiguration, Version};
use serde_json::json;

use super::{Base, WinningCommit, WinningFile};
use crate::changes::PartitionValues;

/// The version that all transactions have read; the winning commit is the next one.
pub(super) const READ: i64 = 4;

pub(super) fn version(number: i64) -> Version {
    Version::try_new(number).expect("the version is not negative")
}

/// A protocol with writer features and no reader features.
pub(super) fn protocol(features: &[&str]) -> Protocol {
    Protocol {
        min_reader_version: 1,
        min_writer_version: 7,
        reader_features: None,
        writer_features: Some(features.iter().map(ToString::to_string).collect()),
    }
}

/// Metadata of a table with columns `p` and `x`.
pub(super) fn metadata(partition_columns: &[&str], properties: &[(&str, &str)]) -> Metadata {
    let schema = json!({"type": "struct", "fields": [
        {"name": "p", "type": "integer", "nullable": true, "metadata": {}},
        {"name": "x", "type": "long", "nullable": true, "metadata": {}},
    ]});
    let mut metadata: Metadata = serde_json::from_value(json!({
        "id": "t", "format": {"provider": "parquet"}, "schemaString": schema.to_string(),
        "partitionColumns": partition_columns, "configuration": {}, "createdTime": 1,
    }))
    .expect("these are metadata");
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), Some((*value).to_owned()));
    metadata.configuration.extend(properties.iter().map(owned));
    metadata
}

pub(super) fn base(protocol: Protocol, metadata: Metadata) -> Base {
    Base {
        next: version(READ + 1),
        table: TableConfiguration::new(protocol, metadata),
        high_water_mark: None,
        timestamp_ms: 1_000,
        lost_row_ids: false,
    }
}

pub(super) fn winning_commit(operation: &str, change: impl FnOnce(&mut WinningCommit)) -> WinningCommit {
    let mut winning_commit = WinningCommit::silent(version(READ + 1), 2_000);
    winning_commit.operation = Some(operation.to_owned());
    change(&mut winning_commit);
    winning_commit
}

/// A file in the partition given by the first digit of its path: `1a` is in `p = 1`.
pub(super) fn add(path: &str) -> Add {
    Add {
        path: path.to_owned(),
        partition_values: partition_of(path),
        size: 1,
        data_change: true,
        stats: Some(r#"{"numRecords":3}"#.to_owned()),
        ..Add::default()
    }
}

pub(super) fn remove(path: &str) -> Remove {
    Remove::of(&add(path), 1)
}

pub(super) fn file(path: &str) -> WinningFile {
    WinningFile {
        path: path.to_owned(),
        partition_values: partition_of(path),
        data_change: true,
        ..WinningFile::default()
    }
}

fn partition_of(path: &str) -> PartitionValues {
    let digit = path.chars().next().filter(char::is_ascii_digit);
    digit
        .map(|digit| ("p".to_owned(), Some(digit.to_string())))
        .into_iter()
        .collect()
}

pub(super) fn vector(text: &str) -> Descriptor {
    Descriptor {
        storage_type: "i".to_owned(),
        path_or_inline_dv: text.to_owned(),
        offset: None,
        size_in_bytes: 1,
        cardinality: 1,
    }
}

pub(super) fn domain(name: &str) -> DomainMetadata {
    DomainMetadata {
        domain: name.to_owned(),
        configuration: "{}".to_owned(),
        removed: false,
    }
}

pub(super) fn txn(app_id: &str, version: i64) -> Txn {
    Txn {
        app_id: app_id.to_owned(),
        version,
        last_updated: None,
    }
}

pub(super) fn predicate(text: &str, metadata: &Metadata) -> BoundPredicate {
    let schema = metadata.schema().expect("it is a schema");
    let parsed = parse_predicate(text).expect("it is a predicate");
    parsed.bind(&schema).expect("it fits the schema")
}
