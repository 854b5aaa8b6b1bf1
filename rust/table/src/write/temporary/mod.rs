//! Rows that wait in temporary files.

pub(super) mod rows_file;
pub(super) mod spill;
pub(super) mod spill_file;
