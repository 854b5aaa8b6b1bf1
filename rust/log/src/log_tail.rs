//! The newest commits of a table as reported by its catalog, in addition to the listed log folder.
//!
//! Protocol: *Reading Catalog-managed Tables*, *Getting Ratified Commits from the Catalog*.

use std::sync::Arc;

use deltaic_protocol::log_path::{LogFileKind, LogPath, STAGED_COMMITS};
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use crate::listing::{Listing, LogFile};

/// Ratified commits that may not be published yet, and the newest version that the catalog ratified.
#[derive(Clone, Debug, Default)]
pub struct LogTail {
    /// Staged commits, in any order.
    pub commits: Vec<StagedCommit>,
    /// The newest ratified version: later files in the folder are not part of the table.
    pub max_version: Option<Version>,
}

/// A ratified commit in `_delta_log/_staged_commits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedCommit {
    /// The version of the commit.
    pub version: Version,
    /// The file's name, `<version>.<uuid>.json`.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in milliseconds since the epoch.
    pub modified_ms: i64,
}

impl StagedCommit {
    fn to_log_file(&self) -> Result<LogFile> {
        let stem = self.version.file_stem();
        let uuid = self
            .name
            .strip_prefix(&stem)
            .and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".json"));
        let is_named_rightly = uuid.is_some_and(|uuid| {
            !uuid.is_empty()
                && uuid
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        });
        if !is_named_rightly {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("{:?} is not the name of a staged commit", self.name),
            )
            .with("version", self.version)
            .hint("a staged commit is named <version>.<uuid>.json, with a version of 20 digits"));
        }
        Ok(LogFile {
            path: LogPath {
                version: self.version,
                kind: LogFileKind::Commit,
            },
            name: format!("{STAGED_COMMITS}/{}", self.name),
            size: self.size,
            modified_ms: self.modified_ms,
            e_tag: None,
        })
    }
}

impl LogTail {
    /// Returns the listing with the ratified commits added and everything that is not ratified removed.
    ///
    /// A staged commit replaces a published one of the same version: they are the same commit, and the
    /// catalog is authoritative.
    pub fn apply(&self, listing: Listing) -> Result<Listing> {
        let mut files = listing.files;
        for commit in &self.commits {
            let staged = commit.to_log_file()?;
            files.retain(|file| file.path != staged.path);
            files.push(Arc::new(staged));
        }
        if let Some(newest) = self.max_version {
            files.retain(|file| file.last_version() <= newest);
        }
        files.sort_by(|left, right| left.path.cmp(&right.path));
        let is_ratified = |newest: Version| files.iter().any(|file| file.last_version() == newest);
        if let Some(newest) = self.max_version.filter(|newest| !is_ratified(*newest)) {
            return Err(Error::new(
                ErrorKind::CorruptLog,
                format!(
                    "the catalog has ratified version {newest}, but neither the catalog nor the log returned its commit"
                ),
            )
            .with("version", newest)
            .hint("request the commits from the catalog again"));
        }
        Ok(Listing {
            any: listing.any || !files.is_empty(),
            files,
        })
    }
}
