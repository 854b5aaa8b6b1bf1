//! The `txn` action: how far an application has come. Protocol: *Transaction Identifiers*.

use serde::{Deserialize, Serialize};

/// A transaction identifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Txn {
    /// The application.
    pub app_id: String,
    /// How far it has come; what the number means is the application's.
    pub version: i64,
    /// When, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<i64>,
}
