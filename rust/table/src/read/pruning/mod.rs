//! Which row groups and pages of a file may contain matching rows.

pub(crate) mod chunk_columns;
pub(crate) mod chunk_statistics;
pub(crate) mod chunk_values;
pub(crate) mod row_ranges;
pub(crate) mod selection;
