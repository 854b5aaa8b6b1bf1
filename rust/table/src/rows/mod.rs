//! Changes of rows of live files: which rows, how their files change, and the files with new versions and copies.
//!
//! It imports neither transactions nor operations.

pub(crate) mod assigned_fields;
pub(crate) mod assignments;
pub(crate) mod change_data;
pub(crate) mod copies;
pub(crate) mod decisions;
pub(crate) mod live_files;
pub(crate) mod new_rows;
pub(crate) mod plan;
mod recorded_changes;
pub(crate) mod rewrite;
pub(crate) mod row_changes;
mod row_order;
pub(crate) mod select;
pub(crate) mod written;
