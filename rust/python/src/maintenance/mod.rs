//! The maintenance of tables, and the classes of its results.

pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod log_maintenance;
pub(crate) mod repair;
pub(crate) mod restore;
pub(crate) mod shallow_clone;
pub(crate) mod symlink_manifest;
pub(crate) mod vacuum;
