//! The files of a log, one by one and together.

pub(super) mod checkpoint;
pub(super) mod commit;
pub(super) mod commit_line;
pub(super) mod last_checkpoint;
pub(super) mod log;
pub(super) mod version_checksum;
