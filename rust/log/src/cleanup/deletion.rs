//! A file to delete, and why.

use std::fmt;

/// Why a file is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expired {
    /// A commit or version checksum that the oldest retained checkpoint replaces.
    BeforeCheckpoint,
    /// A checkpoint, or a part of one, older than the oldest retained one.
    OlderCheckpoint,
    /// A compaction file whose range begins before the retained part of the log.
    Compaction,
    /// A sidecar that no checkpoint references.
    Sidecar,
    /// A file of a writer that was interrupted.
    LeftBehind,
    /// The temporary file of a commit whose version another writer has committed.
    StaleProposal,
}

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeCheckpoint => "the oldest retained checkpoint replaces it",
            Self::OlderCheckpoint => "a newer checkpoint is the oldest retained one",
            Self::Compaction => "its range begins before the oldest retained checkpoint",
            Self::Sidecar => "no checkpoint refers to it",
            Self::LeftBehind => "an interrupted writer left it",
            Self::StaleProposal => "another writer committed its version",
        })
    }
}

/// A file to delete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deletion {
    /// Path relative to the table's root.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// The reason for the deletion.
    pub why: Expired,
}
