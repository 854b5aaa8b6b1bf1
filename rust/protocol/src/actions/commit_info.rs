//! The `commitInfo` action. Protocol: *Commit Provenance Information*, *In-Commit Timestamps*.

use serde::Deserialize;

/// What deltaic itself needs of a `commitInfo`; the rest stays text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitInfo {
    /// The unique id of the attempt that made the commit.
    pub txn_id: Option<String>,
    /// Milliseconds since the epoch, where in-commit timestamps are enabled.
    pub in_commit_timestamp: Option<i64>,
}
