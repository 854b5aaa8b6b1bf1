//! The `commitInfo` that our commits carry.
//!
//! Protocol: *Commit Provenance Information*.

use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde_json::{Map, Value, json};

/// Keys that are ours to write.
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

/// What the user adds to the `commitInfo`.
#[derive(Clone, Debug, Default)]
pub struct UserInfo(Map<String, Value>);

impl UserInfo {
    /// Reads a JSON object; a key that deltaic writes itself is refused.
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
                "commit_info may not hold {key:?}: deltaic writes it itself"
            ))
            .hint("use keys of your own, for example userMetadata"));
        }
        Ok(Self(keys))
    }
}

/// What a commit does, in delta-spark's words.
#[derive(Clone, Debug)]
pub struct Operation {
    /// `WRITE`, `CREATE TABLE` …
    pub name: &'static str,
    /// Its parameters, each JSON text.
    pub parameters: Vec<(&'static str, String)>,
    /// What it did, in numbers.
    pub metrics: Vec<(&'static str, i64)>,
    /// Whether it read nothing of the table.
    pub is_blind_append: bool,
}

impl Operation {
    /// The `commitInfo` of an attempt.
    pub(super) fn to_commit_info(
        &self,
        user: &UserInfo,
        timestamp_ms: i64,
        read: Option<Version>,
        txn_id: &str,
    ) -> Value {
        let parameters: Map<String, Value> = self
            .parameters
            .iter()
            .map(|(key, value)| ((*key).to_owned(), json!(value)))
            .collect();
        let metrics: Map<String, Value> = self
            .metrics
            .iter()
            .map(|(key, value)| ((*key).to_owned(), json!(value.to_string())))
            .collect();
        let mut info = json!({
            "timestamp": timestamp_ms,
            "operation": self.name,
            "operationParameters": parameters,
        });
        if let (Some(read), Some(info)) = (read, info.as_object_mut()) {
            info.insert("readVersion".to_owned(), json!(read.as_i64()));
        }
        let rest = json!({
            "isolationLevel": "Serializable",
            "isBlindAppend": self.is_blind_append,
            "operationMetrics": metrics,
            "engineInfo": concat!("deltaic/", env!("CARGO_PKG_VERSION")),
            "txnId": txn_id,
        });
        if let (Value::Object(rest), Some(info)) = (rest, info.as_object_mut()) {
            info.extend(rest);
            info.extend(user.0.clone());
        }
        info
    }
}
