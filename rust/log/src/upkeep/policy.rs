//! Which help a log is given behind a commit.

/// What is done to the log behind each commit of ours. When a checkpoint is due, of which kind it is and what has expired
/// is the table's to say; this says whether we see to it.
///
/// ```
/// use deltaic_log::upkeep::UpkeepPolicy;
/// let usual = UpkeepPolicy::default();
/// assert!(usual.checksum && usual.checkpoint && usual.clean_up && usual.compaction_interval == 0);
/// assert!(UpkeepPolicy::none().is_none() && !usual.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpkeepPolicy {
    /// Whether the version's checksum is written.
    pub checksum: bool,
    /// Whether a checkpoint is written where `delta.checkpointInterval` says that one is due.
    pub checkpoint: bool,
    /// Whether what has expired of the log is deleted behind a checkpoint that was just written, unless
    /// `delta.enableExpiredLogCleanup` forbids it.
    pub clean_up: bool,
    /// Of how many commits a log compaction file is made; of fewer than two none is.
    pub compaction_interval: u32,
}

impl UpkeepPolicy {
    /// None of it.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            checksum: false,
            checkpoint: false,
            clean_up: false,
            compaction_interval: 0,
        }
    }

    /// Whether there is nothing to do behind any commit. A cleanup follows a checkpoint, so by itself it is nothing.
    #[must_use]
    pub fn is_none(self) -> bool {
        !self.checksum && !self.checkpoint && self.compaction_interval < 2
    }
}

impl Default for UpkeepPolicy {
    /// All but compaction files, which save readers requests and cost the log a file: who wants them asks.
    fn default() -> Self {
        Self {
            checksum: true,
            checkpoint: true,
            clean_up: true,
            ..Self::none()
        }
    }
}
