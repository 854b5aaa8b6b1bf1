//! The rows and options of write operations, and the classes of their results.

pub(crate) mod commit;
pub(crate) mod commit_options;
pub(crate) mod dry_run;
pub(crate) mod source;
pub(crate) mod write_job;
pub(crate) mod write_task;
