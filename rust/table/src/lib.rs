//! The **contents** of a Delta table: everything outside `_delta_log/`.
//!
//! * Reading: a [`scan::Scan`] plans [`scan::ScanTask`]s from a snapshot, and `read` converts each to record batches.
//! * Writing: a [`write::TableWriter`] writes record batches to data files and creates their `add` actions.
//! * Verbs: each of [`operations`] is a value; [`operations::run`] runs it in a commit of its own.
//! * Transactions: verbs stage their changes in a [`transaction::TableTransaction`], and one commit applies them.
//! * Altering: [`operations::alter`] verifies changes that depend on the rows.
//! * Change feed: [`changes::Changes`] plans tasks from the commits of a range.
//! * Restoring: [`restore::restore`] makes an earlier version the newest.
//! * Cloning: [`shallow_clone::shallow_clone`] makes a table that refers to the files of another.
//! * Converting: [`convert::convert`] makes a table of a folder of Parquet files.
//! * Repairing: [`repair::repair`] removes the entries of data files that are gone.
//! * Manifests: [`symlink_manifest::write_manifests`] lists the files for engines without Delta support.
//! * Checking: [`check::check`] reports what is wrong with a table.
//! * Vacuum: [`vacuum::vacuum`] deletes files that the table no longer needs.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator};
//! use deltaic_log::Snapshot;
//! use deltaic_log::snapshot::LoadOptions;
//! use deltaic_log::transaction::{CommitOptions, NewTable, create};
//! use deltaic_protocol::expr::parse_predicate;
//! use deltaic_protocol::schema::schema_from_arrow;
//! use deltaic_storage::TableLocation;
//! use deltaic_table::operations::{Append, run};
//! use deltaic_table::read::stream_scan;
//! use deltaic_table::scan::{Scan, ScanOptions};
//! use deltaic_table::transaction::{NewRows, SchemaMode};
//! use futures::TryStreamExt;
//!
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
//! # tokio::spawn(async {
//! let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
//! let rows = RecordBatch::try_from_iter_with_nullable([("id", ids, true)])?;
//! let location = Arc::new(TableLocation::parse("memory:///ferries", Vec::new())?);
//! let options = CommitOptions::default();
//! create(&location, NewTable::of(schema_from_arrow(&rows.schema())?), &options).await?;
//!
//! let snapshot = Snapshot::load(location, None, LoadOptions::default()).await?;
//! let batches = RecordBatchIterator::new([Ok(rows.clone())], rows.schema());
//! let append = Append {
//!     rows: NewRows::of(Box::new(batches)),
//!     schema_mode: SchemaMode::Keep,
//! };
//! run(&snapshot, &append, options).await?;
//!
//! let scan = Scan::try_new(
//!     snapshot.refresh().await?,
//!     ScanOptions {
//!         predicate: Some(parse_predicate("id > 1")?),
//!         ..ScanOptions::default()
//!     },
//! )?;
//! let found: Vec<RecordBatch> = stream_scan(&scan).await?.try_collect().await?;
//! assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(()) }).await.unwrap() }).unwrap();
//! ```

pub mod changes;
pub mod check;
pub mod convert;
pub mod create;
mod declared_text;
mod explain;
pub mod native_scan;
pub mod operations;
pub mod read;
pub mod repair;
pub mod restore;
mod rows;
pub mod scan;
pub mod shallow_clone;
mod stored_files;
pub mod symlink_manifest;
pub mod transaction;
pub mod vacuum;
mod visible_values;
pub mod write;
