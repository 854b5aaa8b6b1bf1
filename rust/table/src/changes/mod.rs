//! The change feed: the rows inserted, updated and deleted in each version of a range.
//!
//! A version that recorded its changed rows is read from its change data files. Other versions are derived from the
//! files that they added and removed: all rows of these, or the rows whose bits differ if only a deletion vector
//! changed. If the table has no change feed, changes are inferred: rewritten rows that are equal to rows before are not
//! changes.
//!
//! Protocol: *Change Data Files*, *Reader Requirements for AddCDCFile*.

mod cancel;
mod change_columns;
mod commit_files;
mod feed_schema;
mod file_columns;
mod plan;
mod same_columns;
mod stream;
mod version_plan;

pub use change_columns::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION};
pub use commit_files::{CommitFiles, CommitFilesOptions, commit_files};
pub use plan::{ChangeOptions, Changes};
pub use stream::stream_changes;
