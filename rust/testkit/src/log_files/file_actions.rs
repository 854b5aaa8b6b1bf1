//! Actions of files.

use serde_json::{Value, json};

/// A deletion timestamp that no tombstone retention expires, in milliseconds since the epoch.
pub const NEVER_EXPIRED: i64 = 4_102_444_800_000;

/// An `add` of a path, optionally with a deletion vector of this name.
#[must_use]
pub fn add(path: &str, vector: Option<&str>) -> Value {
    let mut add =
        json!({"path": path, "partitionValues": {}, "size": 1, "modificationTime": 0, "dataChange": true});
    if let Some(vector) = vector {
        add["deletionVector"] = descriptor(vector);
    }
    json!({ "add": add })
}

/// A `remove` of a path, optionally with a deletion vector of this name.
#[must_use]
pub fn remove(path: &str, vector: Option<&str>) -> Value {
    let mut remove = json!({"path": path, "deletionTimestamp": NEVER_EXPIRED, "dataChange": true});
    if let Some(vector) = vector {
        remove["deletionVector"] = descriptor(vector);
    }
    json!({ "remove": remove })
}

fn descriptor(name: &str) -> Value {
    json!({"storageType": "u", "pathOrInlineDv": name, "offset": 1, "sizeInBytes": 1, "cardinality": 1})
}
