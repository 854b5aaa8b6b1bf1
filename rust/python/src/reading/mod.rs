//! The classes by which rows are read.

pub(crate) mod arrow_table;
pub(crate) mod batches;
pub(crate) mod changes;
pub(crate) mod native_scan;
pub(crate) mod scan;
pub(crate) mod schema;
