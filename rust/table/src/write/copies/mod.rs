//! Files that are written again, with copied chunks.

pub(super) mod copy_source;
pub(super) mod file_copy;
