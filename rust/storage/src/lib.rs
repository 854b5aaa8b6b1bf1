//! Access to files and stores: locations of tables, credentials, bounded reads of bytes and Parquet files, new files,
//! and the clock.
//!
//! This crate does not depend on the transaction log. All file system, network, environment, clock and randomness
//! access of deltaic goes through this crate, apart from committing a log file.
//!
//! ```
//! use deltaic_storage::TableLocation;
//!
//! let location = TableLocation::parse("/data/boats", Vec::new())?;
//! assert_eq!(location.uri(), "file:///data/boats/");
//! # Ok::<(), deltaic_protocol::Error>(())
//! ```

pub mod cancelled_files;
pub mod clock;
pub mod fault;
mod in_parallel;
pub mod links;
mod local_read;
pub mod location;
pub mod memory_budget;
pub mod new_file;
pub mod offset_index;
mod page_headers;
mod parquet_file;
pub mod parquet_writer;
mod refused;
mod schema_depth;
mod store_error;
pub mod temporary_file;
mod thrift;
pub mod unused_memory;
mod whole_body;

pub use in_parallel::{Running, compute, in_parallel, start};
pub use local_read::pieces_of;
pub use location::TableLocation;
pub use page_headers::{PageClaims, Pages};
pub use parquet_file::ParquetFile;
pub use refused::Refused;
pub use store_error::{Cause, io_error, is_not_a_folder, store_error};
pub use whole_body::{ensure_arrived, read_available, read_file, read_range};
