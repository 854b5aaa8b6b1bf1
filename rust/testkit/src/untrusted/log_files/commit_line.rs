//! Arbitrary bytes as a line of a commit: decoded actions equal those of an independent JSON parser.

use deltaic_protocol::ErrorKind;
use deltaic_protocol::actions::{ActionLine, AddLine, PartitionText, RemoveLine, Text, parse_line};
use deltaic_protocol::deletion_vector::DescriptorText;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::untrusted::memory::{Bound, bounded};

/// Strings are borrowed from the line; a partition column of 8 bytes takes a pair of 48 bytes, and a hash of it if
/// there are many.
const BOUND: Bound = Bound {
    per_byte: 128,
    spare: 8 * 1024,
};

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    let action = match bounded(BOUND, bytes.len(), || parse_line(bytes)) {
        Ok(action) => action,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::CorruptLog),
    };
    // Ignored fields may contain what the general parser rejects.
    let Ok(Value::Object(line)) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    match &action {
        ActionLine::Add(add) => holds(&line, "add", &of_add(add)),
        ActionLine::Remove(remove) => holds(&line, "remove", &of_remove(remove)),
        ActionLine::Metadata(metadata) => holds(&line, "metaData", &written(metadata)),
        ActionLine::Protocol(protocol) => holds(&line, "protocol", &written(protocol)),
        ActionLine::Txn(txn) => holds(&line, "txn", &written(txn)),
        ActionLine::DomainMetadata(domain) => holds(&line, "domainMetadata", &written(domain)),
        ActionLine::Sidecar(sidecar) => holds(&line, "sidecar", &written(sidecar)),
        ActionLine::CheckpointMetadata(mark) => holds(&line, "checkpointMetadata", &written(mark)),
        ActionLine::CommitInfo(info) => assert_eq!(as_value(Some(info)).as_ref(), line.get("commitInfo")),
        ActionLine::Cdc => assert!(line.get("cdc").is_some_and(|cdc| !cdc.is_null())),
        ActionLine::Other => {
            for action in [
                "add",
                "remove",
                "metaData",
                "protocol",
                "txn",
                "domainMetadata",
                "commitInfo",
            ] {
                assert!(!line.contains_key(action), "{action} was skipped");
            }
        }
    }
}

/// Verifies that a line contains this action with these fields; fields that the action does not have are null or absent
/// in the line.
fn holds(line: &Map<String, Value>, name: &str, action: &Value) {
    let found = line.get(name).unwrap_or(&Value::Null);
    let Value::Object(members) = action else {
        return assert_eq!(found, action);
    };
    for (member, value) in members {
        let place = found;
        let found = place.get(member).unwrap_or(&Value::Null);
        // These may have unknown fields.
        if ["deletionVector", "format"].contains(&member.as_str())
            && let Value::Object(place) = place
        {
            holds(place, member, value);
            continue;
        }
        // Empty and absent values are serialized equally.
        let is_nothing = |value: &Value| match value {
            Value::Null | Value::Bool(false) => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        assert!(
            found == value || (is_nothing(found) && is_nothing(value)),
            "{name}.{member}: {found} was read as {value}"
        );
    }
}

fn written(action: &impl Serialize) -> Value {
    serde_json::to_value(action).unwrap_or_default()
}

fn as_value(raw: Option<&RawValue>) -> Option<Value> {
    serde_json::from_str(raw?.get()).ok()
}

fn of_add(add: &AddLine<'_>) -> Value {
    json!({
        "path": &*add.path,
        "partitionValues": of_partition(Some(&add.partition_values)),
        "size": add.size,
        "modificationTime": add.modification_time,
        "dataChange": add.data_change,
        "stats": as_value(add.stats),
        "tags": as_value(add.tags),
        "deletionVector": add.deletion_vector.as_ref().map(of_vector),
        "baseRowId": add.base_row_id,
        "defaultRowCommitVersion": add.default_row_commit_version,
        "clusteringProvider": add.clustering_provider.as_deref(),
    })
}

fn of_remove(remove: &RemoveLine<'_>) -> Value {
    json!({
        "path": &*remove.path,
        "deletionTimestamp": remove.deletion_timestamp,
        "dataChange": remove.data_change,
        "extendedFileMetadata": remove.extended_file_metadata,
        "partitionValues": of_partition(remove.partition_values.as_ref()),
        "size": remove.size,
        "stats": as_value(remove.stats),
        "tags": as_value(remove.tags),
        "baseRowId": remove.base_row_id,
        "defaultRowCommitVersion": remove.default_row_commit_version,
        "deletionVector": remove.deletion_vector.as_ref().map(of_vector),
    })
}

fn of_partition(values: Option<&PartitionText<'_>>) -> Option<Value> {
    let text = |text: &Text<'_>| Value::String(text.to_string());
    values.map(|values| {
        let pairs = values.0.iter();
        let pairs = pairs.map(|(name, value)| (name.to_string(), value.as_ref().map_or(Value::Null, text)));
        Value::Object(pairs.collect())
    })
}

fn of_vector(vector: &DescriptorText<'_>) -> Value {
    json!({
        "storageType": &*vector.storage_type,
        "pathOrInlineDv": &*vector.path_or_inline_dv,
        "offset": vector.offset,
        "sizeInBytes": vector.size_in_bytes,
        "cardinality": vector.cardinality,
    })
}
