//! The state of a Delta table **at** a version, and how it changes: everything about `_delta_log/`.
//!
//! Reading flows one way: `listing` lists the log's files, `segment` validates which of them make a version,
//! `decode` decodes them to actions, `reconcile` retains the newest action of each file, and `snapshot` stores
//! the result. Writing flows the other: `transaction` proposes a commit to a `committer` and, if another
//! writer committed first, checks the winning commit for conflicts.
//!
//! ```
//! use std::sync::Arc;
//!
//! use deltaic_log::Snapshot;
//! use deltaic_log::snapshot::LoadOptions;
//! use deltaic_log::transaction::{CommitOptions, NewTable, create};
//! use deltaic_protocol::schema::StructType;
//! use deltaic_storage::TableLocation;
//!
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
//! let location = Arc::new(TableLocation::parse("memory:///boats", Vec::new())?);
//! let schema = StructType::from_json(
//!     r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}"#,
//! )?;
//! create(&location, NewTable::of(schema), &CommitOptions::default()).await?;
//!
//! let snapshot = Snapshot::load(location, None, LoadOptions::default()).await?;
//! assert_eq!(snapshot.version().as_i64(), 0);
//! assert_eq!(snapshot.schema().names().collect::<Vec<_>>(), ["id"]);
//! # Ok::<(), deltaic_protocol::Error>(()) }).unwrap();
//! ```

pub mod changes;
pub mod check;
pub mod checkpoint;
pub mod checksum;
pub mod cleanup;
pub mod committer;
pub mod compaction;
pub mod decode;
mod file_times;
pub mod history;
pub mod last_checkpoint;
pub mod listing;
pub mod log_tail;
pub mod post_commit;
pub mod progress;
pub mod reconcile;
pub mod removed_files;
pub mod running_vacuum;
pub mod segment;
pub mod snapshot;
pub mod time_travel;
pub mod transaction;

pub use snapshot::Snapshot;
