//! Plans a cleanup from values only, without I/O.
//!
//! Protocol: *Metadata Cleanup*, *Checkpoint Protection*.

use std::fmt;

use deltaic_protocol::{Result, Version};

use super::cutoff::Cutoff;
use super::deletion::Deletion;
use super::rules::CleanupRules;
use super::waves::waves;
use crate::listing::Listing;
use crate::segment::{CheckpointFiles, LogSegment, complete_checkpoints, newest_version};

/// The reason why no commit or checkpoint is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetentionReason {
    /// The table disables cleanup.
    Disabled,
    /// Nothing has expired.
    NothingExpired,
    /// No checkpoint can replace the expired files.
    NoCheckpoint,
    /// Checkpoints before this version must be deleted all at once, and not all of them have expired; or the protocol
    /// of one of these versions is not supported.
    Protected(Version),
}

impl fmt::Display for RetentionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("delta.enableExpiredLogCleanup is false"),
            Self::NothingExpired => f.write_str("nothing has expired"),
            Self::NoCheckpoint => f.write_str("no checkpoint replaces the expired versions"),
            Self::Protected(version) => write!(
                f,
                "delta.requireCheckpointProtectionBeforeVersion is {version}, so the log cannot be truncated yet"
            ),
        }
    }
}

/// Facts about a log in addition to its listing.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogFacts<'a> {
    /// The version that `_last_checkpoint` names.
    pub hint: Option<Version>,
    /// Checkpoints that cannot be read.
    pub unreadable: &'a [CheckpointFiles],
}

/// The files of a log to delete, and the checkpoint from which on it is retained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanupPlan {
    /// The point up to which the log may be truncated.
    pub cutoff: Cutoff,
    /// The oldest checkpoint that is retained; `None` if the log is not truncated.
    pub checkpoint: Option<CheckpointFiles>,
    /// Why the log is not truncated, if it is not.
    pub kept: Option<RetentionReason>,
    /// The files to delete, in waves: each completes before the next begins.
    pub waves: Vec<Vec<Deletion>>,
}

/// Plans a cleanup: everything before the newest complete checkpoint that is not newer than the cutoff.
///
/// The checkpoint that `_last_checkpoint` names is retained, since readers start there.
///
/// # Errors
///
/// `CorruptLog` if commits after the checkpoint are missing: a damaged log is not cleaned up.
pub fn plan(
    listing: &Listing,
    cutoff: Cutoff,
    rules: &CleanupRules,
    known: LogFacts<'_>,
) -> Result<CleanupPlan> {
    let uncut = |kept: RetentionReason| CleanupPlan {
        cutoff,
        checkpoint: None,
        kept: Some(kept),
        waves: Vec::new(),
    };
    if !rules.is_enabled {
        return Ok(uncut(RetentionReason::Disabled));
    }
    let (Some(commit), Some(newest)) = (cutoff.commit, newest_version(listing)) else {
        return Ok(uncut(RetentionReason::NothingExpired));
    };
    let hinted = known.hint.filter(|hint| {
        let mut checkpoints = complete_checkpoints(listing, Some(*hint)).into_iter();
        checkpoints.any(|checkpoint| checkpoint.version == *hint)
    });
    let limit = hinted.map_or(commit, |hinted| hinted.min(commit));
    let mut candidates = complete_checkpoints(listing, Some(limit)).into_iter();
    let Some(checkpoint) = candidates.find(|checkpoint| !known.unreadable.contains(checkpoint)) else {
        return Ok(uncut(RetentionReason::NoCheckpoint));
    };
    let waves = waves(listing, checkpoint.version);
    if waves.is_empty() {
        return Ok(uncut(RetentionReason::NothingExpired));
    }
    if let Some(before) = rules
        .protected_before
        .filter(|before| *before > checkpoint.version)
    {
        return Ok(uncut(RetentionReason::Protected(before)));
    }
    LogSegment::try_new(listing, Some(checkpoint.clone()), newest)?;
    Ok(CleanupPlan {
        cutoff,
        checkpoint: Some(checkpoint),
        kept: None,
        waves,
    })
}

impl CleanupPlan {
    /// The files to delete, in order.
    pub fn deletions(&self) -> impl Iterator<Item = &Deletion> {
        self.waves.iter().flatten()
    }

    /// The oldest version that can be read afterwards; `None` if the log is not truncated.
    #[must_use]
    pub fn oldest_kept(&self) -> Option<Version> {
        self.checkpoint.as_ref().map(|checkpoint| checkpoint.version)
    }
}

/// Human-readable: the retained version and the reason, and each file to delete with its reason.
impl fmt::Display for CleanupPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.cutoff.timestamp_ms.checked_mul(1000);
        let day = micros.and_then(|micros| deltaic_protocol::expr::format_timestamp(micros, 'T'));
        let day = day.map_or_else(|| format!("{} ms", self.cutoff.timestamp_ms), |day| day + "Z");
        match (self.oldest_kept(), self.kept) {
            (Some(oldest), _) => writeln!(
                f,
                "expired before {day}: the log is retained from version {oldest}"
            )?,
            (None, Some(kept)) => writeln!(f, "expired before {day}: the whole log is retained: {kept}")?,
            (None, None) => writeln!(f, "expired before {day}: the whole log is retained")?,
        }
        for deletion in self.deletions() {
            writeln!(
                f,
                "delete {} ({} bytes): {}",
                deletion.path, deletion.bytes, deletion.why
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
