//! The `commitInfo` of commits by deltaic.
//!
//! Protocol: *Commit Provenance Information*.

use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde_json::{Map, Value, json};

use super::operation::JSON_PARAMETERS;
use super::{IsolationLevel, Operation, OperationDetails};

/// Keys that only deltaic writes.
const RESERVED: &[&str] = &[
    "timestamp",
    "version",
    "operation",
    "operationParameters",
    "operationMetrics",
    "readVersion",
    "isolationLevel",
    "isBlindAppend",
    "inCommitTimestamp",
    "engineInfo",
    "txnId",
    "tags",
];

/// User-defined keys of the `commitInfo`.
#[derive(Clone, Debug, Default)]
pub struct UserInfo(Map<String, Value>);

impl UserInfo {
    /// Parses a JSON object.
    ///
    /// # Errors
    ///
    /// `ValueError` for any other text, and for a key that deltaic writes itself.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        let Some(text) = text else {
            return Ok(Self::default());
        };
        let wrong = |message: String| Error::new(ErrorKind::InvalidArgument, message);
        let Ok(Value::Object(keys)) = serde_json::from_str(text) else {
            return Err(wrong("commit_info is not a JSON object".to_owned()));
        };
        if let Some(key) = keys.keys().find(|key| RESERVED.contains(&key.as_str())) {
            return Err(wrong(format!(
                "commit_info must not contain {key:?}, which deltaic writes"
            ))
            .hint("use keys of your own, for example userMetadata"));
        }
        Ok(Self(keys))
    }
}

/// Provenance of one commit attempt, besides its operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Provenance<'a> {
    /// Time of the attempt, in milliseconds since the epoch.
    pub(super) timestamp_ms: i64,
    /// The in-commit timestamp, if the feature is enabled.
    pub(super) in_commit_timestamp: Option<i64>,
    /// The version that was read, or the latest one checked to have no conflict.
    pub(super) read: Option<Version>,
    /// The isolation level of the commit.
    pub(super) level: IsolationLevel,
    /// Whether the commit is a blind append.
    pub(super) is_blind_append: bool,
    /// Whether copied rows keep their row ids; `None` for a table without row ids.
    pub(super) keeps_row_ids: Option<bool>,
    /// Unique id of this commit.
    pub(super) txn_id: &'a str,
    /// Number of files staged with a new deletion vector that are removed instead.
    pub(super) emptied_files: i64,
}

impl OperationDetails {
    /// Returns the `commitInfo` of an attempt.
    pub(super) fn to_commit_info(
        &self,
        operation: Operation,
        user: &UserInfo,
        about: &Provenance<'_>,
    ) -> Value {
        let parameters: Map<String, Value> = self
            .parameters
            .iter()
            .map(|(key, value)| {
                let is_json = JSON_PARAMETERS.contains(key);
                let parsed = is_json.then(|| serde_json::from_str(value).ok()).flatten();
                ((*key).to_owned(), parsed.unwrap_or_else(|| json!(value)))
            })
            .collect();
        let metrics: Map<String, Value> = self
            .metrics
            .iter()
            .map(|(key, value)| {
                let value = match *key {
                    "numRemovedFiles" => value.saturating_add(about.emptied_files),
                    "numDeletionVectorsAdded" => value.saturating_sub(about.emptied_files),
                    _ => *value,
                };
                ((*key).to_owned(), json!(value.to_string()))
            })
            .collect();
        let mut info = Map::new();
        let mut say = |key: &str, value: Value| info.insert(key.to_owned(), value);
        if let Some(timestamp_ms) = about.in_commit_timestamp {
            say("inCommitTimestamp", json!(timestamp_ms));
        }
        say("timestamp", json!(about.timestamp_ms));
        say("operation", json!(operation.name()));
        say("operationParameters", json!(parameters));
        if let Some(read) = about.read {
            say("readVersion", json!(read.as_i64()));
        }
        say("isolationLevel", json!(about.level.name()));
        say("isBlindAppend", json!(about.is_blind_append));
        say("operationMetrics", json!(metrics));
        say(
            "engineInfo",
            json!(concat!("deltaic/", env!("CARGO_PKG_VERSION"))),
        );
        say("txnId", json!(about.txn_id));
        if let Some(keeps) = about.keeps_row_ids {
            say(
                "tags",
                json!({ "delta.rowTracking.preserved": keeps.to_string() }),
            );
        }
        info.extend(user.0.clone());
        Value::Object(info)
    }
}
