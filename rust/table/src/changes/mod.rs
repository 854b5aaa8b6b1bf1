//! The change feed: which rows came and went in each version of a range.
//!
//! A version that recorded its changed rows tells them from those files. One that did not tells them from the files that
//! it added and removed: all rows of them, or those whose bits differ where only a deletion vector changed. Where no feed
//! is kept, such rows are inferred: what was rewritten and is the same as before is no change.
//!
//! Protocol: *Change Data Files*, *Reader Requirements for AddCDCFile*.

mod cancel;
mod commit_files;
mod era;
mod feed_schema;
mod plan;
mod same_columns;
mod stream;
mod version_plan;

pub use commit_files::{CommitFiles, CommitFilesOptions, commit_files};
pub use plan::{ChangeOptions, Changes};
pub use stream::stream_changes;

/// Whether a row came or went: `insert`, `update_preimage`, `update_postimage` or `delete`.
pub const CHANGE_TYPE: &str = "_change_type";
/// The version that changed the row.
pub const COMMIT_VERSION: &str = "_commit_version";
/// When that was committed.
pub const COMMIT_TIMESTAMP: &str = "_commit_timestamp";
