//! The Delta transaction protocol as plain values.
//!
//! This crate does no I/O, does not block or start threads, and uses neither clock nor randomness. It
//! converts bytes and Arrow arrays to the values of the protocol and back, and every function can be
//! tested by calling it.

pub mod actions;
pub mod change;
pub mod checksum;
pub mod clustering;
pub mod column_mapping;
pub mod constraints;
pub mod deletion_vector;
pub mod error;
pub mod expr;
pub mod features;
pub mod iceberg_compat;
pub mod in_commit_timestamp;
pub mod last_checkpoint;
pub mod log_path;
pub mod partition;
pub mod properties;
pub mod row_tracking;
pub mod schema;
pub mod skipping;
pub mod statistics;
pub mod strict_json;
pub mod version;

#[cfg(test)]
mod samples;

pub use error::{Conflict, Error, ErrorKind, Result};
pub use version::Version;
