//! Access to Parquet files: footers, page indexes and pages within bounds.

pub(crate) mod footer;
pub(crate) mod int96;
pub(crate) mod page_guard;
pub(crate) mod page_index;
pub(crate) mod read_buffers;
