//! A newer snapshot out of an older one: only the commits that came are read.

use std::sync::Arc;

use deltaic_protocol::Result;
use deltaic_protocol::actions::columns::Statistics;
use deltaic_protocol::log_path::LogFileKind;

use super::Snapshot;
use super::load::read_commits;
use crate::listing::{Listing, LogFile};
use crate::segment::{LogSegment, newest_version};

impl Snapshot {
    /// The newest version. Where the log no longer continues from this one, because it was cleaned up or the table
    /// made anew, it is opened from the start.
    pub async fn refresh(&self) -> Result<Self> {
        let listing = Listing::from(&self.location, self.version()).await?;
        let reload = || Self::load(Arc::clone(&self.location), None, self.options);
        // The file that made this version: its commit, or the checkpoint where the commits before it are gone.
        let checkpoint = || {
            self.segment
                .checkpoint
                .as_ref()
                .and_then(|checkpoint| checkpoint.files.first())
        };
        let Some(mine) = self.segment.commits.last().or_else(checkpoint) else {
            return reload().await;
        };
        let still_there = listing.files.iter().any(|file| {
            file.path == mine.path && file.size == mine.size && file.modified_ms == mine.modified_ms
        });
        let Some(newest) = newest_version(&listing).filter(|_| still_there) else {
            return reload().await;
        };
        if newest == self.version() {
            return Ok(self.clone());
        }
        let mut next = self.version().next()?;
        let mut fresh: Vec<LogFile> = Vec::new();
        for file in listing
            .files
            .iter()
            .filter(|file| file.path.kind == LogFileKind::Commit)
        {
            if file.path.version == next {
                fresh.push(file.clone());
                next = next.next()?;
            }
        }
        if fresh.last().map(|file| file.path.version) != Some(newest) {
            return reload().await;
        }
        let mut commits = read_commits(&self.location, &fresh, Statistics::Skipped, self.options).await?;
        commits.extend(self.commits_newest_first.iter().cloned());
        let segment = LogSegment {
            version: newest,
            checkpoint: self.segment.checkpoint.clone(),
            commits: self.segment.commits.iter().cloned().chain(fresh).collect(),
        };
        Self::assemble(
            Arc::clone(&self.location),
            self.options,
            segment,
            self.checkpoint.clone(),
            commits,
            self.warnings.to_vec(),
        )
    }
}
