//! Reads files of a file system page by page.

pub(crate) mod page_starts;
pub(crate) mod page_wise;
pub(crate) mod pages;
pub(crate) mod predicate_cache;
