//! Lines of a commit, padded actions, and versions.

use deltaic_protocol::Version;
use serde_json::{Value, json};

pub(crate) fn version(number: usize) -> Version {
    Version::try_new(i64::try_from(number).unwrap_or(i64::MAX)).expect("a version")
}

pub(crate) fn lines(actions: &[Value]) -> Vec<u8> {
    let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
    text.into_bytes()
}

pub(crate) fn txn(version: i64) -> Value {
    json!({"txn": {"appId": "app", "version": version}})
}
