//! The change feed: the rows inserted, updated and deleted in each version of a range.
//!
//! A version that recorded its changed rows is read from its change data files. Other versions are derived from the
//! files that they added and removed: all rows of these, or the rows whose bits differ if only a deletion vector
//! changed. If the table has no change feed, changes are inferred: rewritten rows that are equal to rows before are not
//! changes.
//!
//! Protocol: *Change Data Files*, *Reader Requirements for AddCDCFile*.

mod cancel;
mod commit_files;
mod feed_schema;
mod file_columns;
mod plan;
mod same_columns;
mod stream;
mod version_plan;

pub use commit_files::{CommitFiles, CommitFilesOptions, commit_files};
pub use plan::{ChangeOptions, Changes};
pub use stream::stream_changes;

/// The type of the change: `insert`, `update_preimage`, `update_postimage` or `delete`.
pub const CHANGE_TYPE: &str = "_change_type";
/// The version that changed the row.
pub const COMMIT_VERSION: &str = "_commit_version";
/// The time of that commit.
pub const COMMIT_TIMESTAMP: &str = "_commit_timestamp";
