//! The `txn` action: the latest transaction version of an application. Protocol: *Transaction
//! Identifiers*.

use serde::{Deserialize, Serialize};

/// A transaction identifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Txn {
    /// Id of the application.
    pub app_id: String,
    /// Version of the application's latest transaction; its meaning is defined by the application.
    pub version: i64,
    /// Time of the last update, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<i64>,
}
