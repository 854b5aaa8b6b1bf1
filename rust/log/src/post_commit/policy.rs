//! The policy of post-commit maintenance.

/// Maintenance steps after each commit of this writer. The table determines when a checkpoint is due, which spec it
/// follows and which files have expired; the policy determines whether this writer performs the steps.
///
/// ```
/// use deltaic_log::post_commit::PostCommitPolicy;
/// let usual = PostCommitPolicy::default();
/// assert!(usual.checksum && usual.checkpoint && usual.clean_up && usual.compaction_interval == 0);
/// assert!(PostCommitPolicy::none().is_none() && !usual.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostCommitPolicy {
    /// Whether the version's checksum is written.
    pub checksum: bool,
    /// Whether a checkpoint is written if one is due by `delta.checkpointInterval`.
    pub checkpoint: bool,
    /// Whether expired log files are deleted after a checkpoint was written, unless `delta.enableExpiredLogCleanup`
    /// forbids it.
    pub clean_up: bool,
    /// The number of commits per log compaction file; below two, none is written.
    pub compaction_interval: u32,
}

impl PostCommitPolicy {
    /// No maintenance.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            checksum: false,
            checkpoint: false,
            clean_up: false,
            compaction_interval: 0,
        }
    }

    /// Whether no commit needs maintenance. A cleanup only follows a checkpoint, so it does not count by itself.
    #[must_use]
    pub fn is_none(self) -> bool {
        !self.checksum && !self.checkpoint && self.compaction_interval < 2
    }
}

impl Default for PostCommitPolicy {
    /// All steps except compaction files, which save readers requests but add a file to the log: they are opt-in.
    fn default() -> Self {
        Self {
            checksum: true,
            checkpoint: true,
            clean_up: true,
            ..Self::none()
        }
    }
}
