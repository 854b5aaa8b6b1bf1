//! The state of a Delta table **at** a version, and how it changes: everything about `_delta_log/`.
//!
//! Reading flows one way: `listing` lists the log's files, `segment` validates which of them make a version,
//! `decode` decodes them to actions, `reconcile` retains the newest action of each file, and `snapshot` holds
//! the result. Writing flows the other: `transaction` proposes a commit to a `committer` and, if another
//! writer committed first, checks the winning commit for conflicts.

pub mod changes;
pub mod check;
pub mod checkpoint;
pub mod checksum;
pub mod cleanup;
pub mod clock;
pub mod committer;
pub mod compaction;
pub mod decode;
pub mod fault;
pub mod history;
mod in_parallel;
pub mod last_checkpoint;
pub mod links;
pub mod listing;
pub mod location;
pub mod log_tail;
mod new_file;
pub mod offset_index;
pub mod page_headers;
pub mod parquet_file;
pub mod reconcile;
mod schema_depth;
pub mod segment;
pub mod snapshot;
pub mod store_error;
mod thrift;
pub mod time_travel;
pub mod transaction;
pub mod upkeep;
pub mod whole_body;

pub use location::TableLocation;
pub use snapshot::Snapshot;
