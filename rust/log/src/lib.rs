//! What a Delta table **is** at a version, and how it changes: everything about `_delta_log/`.
//!
//! Reading flows one way: `listing` finds the log's files, `segment` proves which of them make a version,
//! `decode` turns them into actions, `reconcile` keeps the newest word on each file, and `snapshot` holds what
//! came out. Writing flows the other: `transaction` proposes a commit to a `committer` and, where another writer
//! was faster, checks what the winner did.

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
