//! The state of a test table's log apart from the commits.

use crate::log_files::checkpoint_form::CheckpointForm;

/// A checkpoint that was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) version: usize,
    pub(crate) files: Vec<String>,
    pub(crate) actions: usize,
    pub(crate) form: CheckpointForm,
    pub(crate) is_whole: bool,
}

/// The state of the log apart from the commits.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogExtras {
    pub(crate) checkpoints: Vec<Written>,
    pub(crate) oldest_checkpoint: Option<usize>,
    pub(crate) number: usize,
    pub(crate) compactions: Vec<(usize, String)>,
    /// The first commit that still exists.
    pub(crate) first_commit: usize,
}
