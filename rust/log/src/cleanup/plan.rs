//! What of a log has expired, as a plan over values: nothing is read and nothing deleted here.
//!
//! Protocol: *Metadata Cleanup*, *Checkpoint Protection*.

use std::fmt;

use deltaic_protocol::{Result, Version};

use super::cutoff::Cutoff;
use super::rules::CleanupRules;
use super::waves::waves;
use crate::listing::Listing;
use crate::segment::{CheckpointFiles, LogSegment, complete_checkpoints, newest_version};

/// Why a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expired {
    /// A commit or version checksum that the oldest kept checkpoint stands for.
    BeforeCheckpoint,
    /// A checkpoint, or a part of one, that is older than the oldest that is kept.
    OlderCheckpoint,
    /// A compaction file whose range begins before what is kept.
    Compaction,
    /// A sidecar that no checkpoint names.
    Sidecar,
    /// What a writer left behind that did not come to its end.
    LeftBehind,
    /// The temporary file of a commit whose version another writer has committed.
    StaleProposal,
}

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeCheckpoint => "the oldest kept checkpoint stands for it",
            Self::OlderCheckpoint => "a newer checkpoint is the oldest that is kept",
            Self::Compaction => "its range begins before the oldest kept checkpoint ends",
            Self::Sidecar => "no checkpoint names it",
            Self::LeftBehind => "a writer left it behind",
            Self::StaleProposal => "another writer committed its version",
        })
    }
}

/// Why nothing of the log itself goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The table says so.
    Disabled,
    /// Nothing has expired.
    NothingExpired,
    /// There is no checkpoint that can stand for what has expired.
    NoCheckpoint,
    /// Checkpoints before this version go all at once, and not all of them have expired; or a version among them has a
    /// protocol that is not understood.
    Protected(Version),
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("delta.enableExpiredLogCleanup is false"),
            Self::NothingExpired => f.write_str("nothing has expired"),
            Self::NoCheckpoint => f.write_str("no checkpoint can stand for what has expired"),
            Self::Protected(version) => write!(
                f,
                "delta.requireCheckpointProtectionBeforeVersion is {version}, and the log cannot be cut there yet"
            ),
        }
    }
}

/// A file that goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deletion {
    /// Where it is, below the table's root.
    pub path: String,
    /// How large it is.
    pub bytes: u64,
    /// Why it goes.
    pub why: Expired,
}

/// What is known of a log beside its listing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The version that `_last_checkpoint` names.
    pub hint: Option<Version>,
    /// Checkpoints that cannot be read.
    pub unreadable: &'a [CheckpointFiles],
}

/// What goes of a log, and what it is cut at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanupPlan {
    /// Where the log may be cut.
    pub cutoff: Cutoff,
    /// The oldest checkpoint that is kept; none where the log is not cut.
    pub checkpoint: Option<CheckpointFiles>,
    /// Why the log is not cut, where it is not.
    pub kept: Option<Kept>,
    /// What goes, in waves: each is over before the next begins.
    pub waves: Vec<Vec<Deletion>>,
}

/// Plans a cleanup: everything before the newest complete checkpoint that is not newer than the cutoff.
///
/// The checkpoint that `_last_checkpoint` names stays, since there are readers who would miss it.
///
/// # Errors
///
/// `CorruptLog` where the commits behind the checkpoint are not all there: of a damaged log nothing is deleted.
pub fn plan(
    listing: &Listing,
    cutoff: Cutoff,
    rules: &CleanupRules,
    known: Known<'_>,
) -> Result<CleanupPlan> {
    let uncut = |kept: Kept| CleanupPlan {
        cutoff,
        checkpoint: None,
        kept: Some(kept),
        waves: Vec::new(),
    };
    if !rules.is_enabled {
        return Ok(uncut(Kept::Disabled));
    }
    let (Some(commit), Some(newest)) = (cutoff.commit, newest_version(listing)) else {
        return Ok(uncut(Kept::NothingExpired));
    };
    let hinted = known.hint.filter(|hint| {
        let mut checkpoints = complete_checkpoints(listing, Some(*hint)).into_iter();
        checkpoints.any(|checkpoint| checkpoint.version == *hint)
    });
    let limit = hinted.map_or(commit, |hinted| hinted.min(commit));
    let mut candidates = complete_checkpoints(listing, Some(limit)).into_iter();
    let Some(checkpoint) = candidates.find(|checkpoint| !known.unreadable.contains(checkpoint)) else {
        return Ok(uncut(Kept::NoCheckpoint));
    };
    let waves = waves(listing, checkpoint.version);
    if waves.is_empty() {
        return Ok(uncut(Kept::NothingExpired));
    }
    if let Some(before) = rules
        .protected_before
        .filter(|before| *before > checkpoint.version)
    {
        return Ok(uncut(Kept::Protected(before)));
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
    /// What goes, in order.
    pub fn deletions(&self) -> impl Iterator<Item = &Deletion> {
        self.waves.iter().flatten()
    }

    /// The oldest version that can be read afterwards; none where the log is not cut.
    #[must_use]
    pub fn oldest_kept(&self) -> Option<Version> {
        self.checkpoint.as_ref().map(|checkpoint| checkpoint.version)
    }
}

/// For people: where the log is cut and why, and each file that goes with its reason.
impl fmt::Display for CleanupPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.cutoff.timestamp_ms.checked_mul(1000);
        let day = micros.and_then(|micros| deltaic_protocol::expr::format_timestamp(micros, 'T'));
        let day = day.map_or_else(|| format!("{} ms", self.cutoff.timestamp_ms), |day| day + "Z");
        match (self.oldest_kept(), self.kept) {
            (Some(oldest), _) => writeln!(f, "expired before {day}: the log is kept from version {oldest}")?,
            (None, Some(kept)) => writeln!(f, "expired before {day}: the log is kept whole: {kept}")?,
            (None, None) => writeln!(f, "expired before {day}: the log is kept whole")?,
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
