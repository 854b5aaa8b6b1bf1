//! Reads files of a file system page by page.

pub(crate) mod kept;
pub(crate) mod page_wise;
pub(crate) mod pages;
