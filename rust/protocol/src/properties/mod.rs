//! Table properties.
//!
//! A table with an invalid value remains readable; only operations that need the property fail.

pub(crate) mod data_files;
pub(crate) mod documented;
mod indexed_columns;
mod interval;
mod retention;
mod unreadable;

pub use data_files::{Codec, DataFileSettings, bytes_of, data_file_settings};
pub use documented::{PROPERTIES, Property, PropertyType, SetBy, boolean, documented, integer, text};
pub(crate) use indexed_columns::follow_column;
pub use indexed_columns::{IndexedColumns, indexed_columns};
pub use interval::interval_ms;
pub use retention::{
    checkpoint_retention_ms, log_retention_ms, tombstone_is_expired, tombstone_retention_ms, txn_is_expired,
    txn_retention_ms,
};
