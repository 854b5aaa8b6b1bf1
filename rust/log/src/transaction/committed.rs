//! A successful commit.

use deltaic_protocol::Version;

use crate::post_commit::PostCommit;

/// A successful commit.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The committed version.
    pub version: Version,
    /// Modification time of the commit file, in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// Its `commitInfo` as JSON text; `None` if nothing was committed.
    pub commit_info: Option<String>,
    /// Human-readable descriptions of the winning commits after which this commit was rebased or planned again.
    pub conflicts_resolved: Vec<String>,
    /// Whether nothing was committed because the table already records the application transaction.
    pub skipped: bool,
    /// Whether a version may reference the files written for the commit: true unless it was skipped.
    pub keeps_files: bool,
    /// Warnings about the commit itself, one sentence each: it succeeded but may not be durable.
    pub warnings: Vec<String>,
    /// Result of post-commit maintenance; failures there never fail the commit.
    pub post_commit: PostCommit,
}

impl Committed {
    /// Nothing was committed: the table already records the application transaction.
    pub(super) fn skipped(version: Version, timestamp_ms: i64) -> Self {
        Self {
            version,
            timestamp_ms,
            commit_info: None,
            conflicts_resolved: Vec::new(),
            skipped: true,
            keeps_files: false,
            warnings: Vec::new(),
            post_commit: PostCommit::default(),
        }
    }
}
