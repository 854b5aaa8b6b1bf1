//! Checks of the files of the log: commits, checkpoints, version checksums, compaction files and the hint.

pub(super) mod checkpoint;
pub(super) mod checkpoint_statistics;
pub(super) mod checksum;
pub(super) mod commit;
pub(super) mod commit_time;
pub(super) mod compaction;
pub(super) mod compare;
pub(super) mod folder;
pub(super) mod hint;
pub(super) mod seed;
