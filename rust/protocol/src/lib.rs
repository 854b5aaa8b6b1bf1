//! The Delta transaction protocol as plain values.
//!
//! This crate does no I/O, does not block or start threads, and uses neither clock nor randomness. It
//! converts bytes and Arrow arrays to the values of the protocol and back, and every function can be
//! tested by calling it.
//!
//! ```
//! use deltaic_protocol::expr::parse_predicate;
//! use deltaic_protocol::schema::StructType;
//!
//! let schema = StructType::from_json(
//!     r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}"#,
//! )?;
//! let predicate = parse_predicate("id > 5 - 2 AND id IS NOT NULL")?.bind(&schema)?;
//! assert_eq!(predicate.columns().into_iter().collect::<Vec<_>>(), ["id"]);
//! assert!(predicate.to_string().contains("> 3")); // constants are folded
//! # Ok::<(), deltaic_protocol::Error>(())
//! ```

pub mod actions;
pub mod change;
mod change_context;
pub mod checksum;
pub mod clustering;
pub mod column_mapping;
pub mod constraints;
pub mod deletion_vector;
pub mod error;
pub mod expr;
pub mod features;
pub mod file_columns;
pub mod iceberg_compat;
mod if_absent;
pub mod in_commit_timestamp;
mod json_string;
pub mod last_checkpoint;
pub mod log_path;
pub mod partition;
pub mod path_encoding;
pub mod properties;
mod property_change;
pub mod row_tracking;
pub mod schema;
pub mod schema_evolution;
pub mod shown_row;
pub mod skipping;
pub mod statistics;
pub mod strict_json;
mod table_configuration;
pub mod version;

#[cfg(test)]
mod samples;

pub use error::{Conflict, Error, ErrorKind, Result};
pub use table_configuration::{ConfigurationActions, TableConfiguration};
pub use version::Version;
