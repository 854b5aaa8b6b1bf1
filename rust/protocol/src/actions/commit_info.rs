//! The `commitInfo` action. Protocol: *Commit Provenance Information*, *In-Commit Timestamps*.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Provenance of a commit. The protocol specifies only the in-commit timestamp and the transaction id, so
/// a field with an unexpected type is moved to `unknown`.
///
/// ```
/// use deltaic_protocol::actions::CommitInfo;
/// let text = r#"{"timestamp":1515491537026,"operation":"INSERT","operationParameters":{"mode":"Append"},"clusterId":"x"}"#;
/// let info: CommitInfo = serde_json::from_str(text)?;
/// assert_eq!(info.operation.as_deref(), Some("INSERT"));
/// assert_eq!(info.unknown.get("clusterId").and_then(|value| value.as_str()), Some("x"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitInfo {
    /// The unique id of the transaction that made the commit.
    pub txn_id: Option<String>,
    /// Milliseconds since the epoch, if in-commit timestamps are enabled.
    pub in_commit_timestamp: Option<i64>,
    /// Time of the commit attempt by the writer's clock, in milliseconds since the epoch.
    pub timestamp: Option<i64>,
    /// Name of the operation, such as `WRITE` or `MERGE`.
    pub operation: Option<String>,
    /// Parameters of the operation: values of any JSON type, often JSON-encoded strings.
    pub operation_parameters: Option<Map<String, Value>>,
    /// Metrics of the operation: values of any JSON type, mostly numbers as strings.
    pub operation_metrics: Option<Map<String, Value>>,
    /// Isolation level of the commit.
    pub isolation_level: Option<String>,
    /// Whether the commit only added files and read no files.
    pub is_blind_append: Option<bool>,
    /// The version that the transaction read.
    pub read_version: Option<i64>,
    /// Metadata specified by the user.
    pub user_metadata: Option<String>,
    /// The engine that made the commit.
    pub engine_info: Option<String>,
    /// Tags of the protocol or the writer.
    pub tags: Option<Map<String, Value>>,
    /// All other fields, as written.
    pub unknown: Map<String, Value>,
}

impl<'de> Deserialize<'de> for CommitInfo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut parts = Map::deserialize(deserializer)?;
        // A null counts as absent; a value of another type stays in `parts`.
        let mut take = |key: &str, fits: fn(&Value) -> bool| match parts.get(key) {
            Some(value) if fits(value) || value.is_null() => parts.shift_remove(key),
            _ => None,
        };
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let object = |value: Option<Value>| match value {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        };
        Ok(Self {
            txn_id: text(take("txnId", Value::is_string)),
            in_commit_timestamp: take("inCommitTimestamp", Value::is_i64).and_then(|value| value.as_i64()),
            timestamp: take("timestamp", Value::is_i64).and_then(|value| value.as_i64()),
            operation: text(take("operation", Value::is_string)),
            operation_parameters: object(take("operationParameters", Value::is_object)),
            operation_metrics: object(take("operationMetrics", Value::is_object)),
            isolation_level: text(take("isolationLevel", Value::is_string)),
            is_blind_append: take("isBlindAppend", Value::is_boolean).and_then(|value| value.as_bool()),
            read_version: take("readVersion", Value::is_i64).and_then(|value| value.as_i64()),
            user_metadata: text(take("userMetadata", Value::is_string)),
            engine_info: text(take("engineInfo", Value::is_string)),
            tags: object(take("tags", Value::is_object)),
            unknown: parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Option<CommitInfo> {
        serde_json::from_str(&value.to_string()).ok()
    }

    #[test]
    fn every_part_has_its_place_and_what_is_not_known_is_carried() {
        let info = read(&json!({
            "inCommitTimestamp": 7, "timestamp": 6, "operation": "MERGE",
            "operationParameters": {"predicate": "[]", "statsOnLoad": false, "n": 3},
            "operationMetrics": {"numFiles": "3"}, "isolationLevel": "Serializable", "isBlindAppend": false,
            "readVersion": 4, "userMetadata": "by hand", "engineInfo": "an engine", "txnId": "t",
            "tags": {"delta.rowTracking.preserved": "true"},
            "notebook": {"notebookId": "1"}, "clusterId": null,
        }));
        let object = |value: Value| value.as_object().cloned();
        let expected = CommitInfo {
            txn_id: Some("t".to_owned()),
            in_commit_timestamp: Some(7),
            timestamp: Some(6),
            operation: Some("MERGE".to_owned()),
            operation_parameters: object(json!({"predicate": "[]", "statsOnLoad": false, "n": 3})),
            operation_metrics: object(json!({"numFiles": "3"})),
            isolation_level: Some("Serializable".to_owned()),
            is_blind_append: Some(false),
            read_version: Some(4),
            user_metadata: Some("by hand".to_owned()),
            engine_info: Some("an engine".to_owned()),
            tags: object(json!({"delta.rowTracking.preserved": "true"})),
            unknown: object(json!({"notebook": {"notebookId": "1"}, "clusterId": null})).unwrap_or_default(),
        };
        assert_eq!(info, Some(expected));
    }

    /// A field may have any JSON type: an unexpected type is preserved and does not affect other fields.
    #[test]
    fn a_part_of_another_type_spoils_no_other() {
        let odd = json!({"timestamp": "soon", "operation": 7, "operationMetrics": [], "isBlindAppend": "no", "tags": null});
        let info = read(
            &json!({"timestamp": "soon", "operation": 7, "operationMetrics": [], "isBlindAppend": "no",
            "tags": null, "inCommitTimestamp": 9}),
        );
        let mut carried = odd.as_object().cloned().unwrap_or_default();
        carried.shift_remove("tags");
        assert_eq!(
            info,
            Some(CommitInfo {
                in_commit_timestamp: Some(9),
                unknown: carried,
                ..CommitInfo::default()
            })
        );
        assert_eq!(read(&json!({})), Some(CommitInfo::default()));
        assert_eq!(read(&json!([])), None);
    }
}
