//! The columns that a change feed adds to those of the table.

/// The type of the change: `insert`, `update_preimage`, `update_postimage` or `delete`.
pub const CHANGE_TYPE: &str = "_change_type";
/// The version that changed the row.
pub const COMMIT_VERSION: &str = "_commit_version";
/// The time of that commit.
pub const COMMIT_TIMESTAMP: &str = "_commit_timestamp";
