//! Access to files and stores: locations of tables, credentials, bounded reads of bytes and Parquet files, new files,
//! and the clock.
//!
//! Nothing here knows the transaction log. All file system, network, environment, clock and randomness access of deltaic
//! goes through this crate, apart from committing a log file.
//!
//! ```
//! use deltaic_storage::TableLocation;
//!
//! let location = TableLocation::parse("/data/boats", Vec::new())?;
//! assert_eq!(location.uri(), "file:///data/boats/");
//! # Ok::<(), deltaic_protocol::Error>(())
//! ```

pub mod clock;
pub mod fault;
pub mod in_parallel;
pub mod links;
pub mod location;
pub mod new_file;
pub mod offset_index;
pub mod page_headers;
pub mod parquet_file;
pub mod refused;
mod schema_depth;
pub mod store_error;
mod thrift;
pub mod whole_body;

pub use location::TableLocation;
