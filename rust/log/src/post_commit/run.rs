//! Runs post-commit maintenance step by step.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::FutureExt;

use super::checksum_agreement::ensure_checksum_agrees;
use super::{PostCommit, PostCommitPolicy};
use crate::checkpoint::{
    CheckpointName, CheckpointOptions, CheckpointWritten, HintOutcome, checkpoint_is_due, write_checkpoint,
};
use crate::checksum::write_missing_checksum;
use crate::cleanup::{CleanedUp, CleanupRules, clean_up, written_at_ms};
use crate::compaction::{Compacted, compact, range_due};
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::now_ms;
use deltaic_storage::fault;

/// Maximum number of live files that are counted after every commit. Counting uses the version in the writer's memory
/// and reads nothing; continuing from the previous checksum would cost a request and the same pass over all files,
/// since another writer's checksum must be verified. Larger tables are only counted at versions with a checkpoint,
/// which takes far longer.
const MOST_COUNTED: usize = 1_000_000;

/// Whether to compute a checksum for a version with this many live files.
fn is_worth_counting(files: usize, has_checkpoint: bool) -> bool {
    has_checkpoint || files <= MOST_COUNTED
}

/// A successful commit by this writer.
#[derive(Clone, Copy)]
pub struct OwnCommit<'a> {
    /// The location of the table.
    pub location: &'a Arc<TableLocation>,
    /// The version that its writer read; `None` if the commit created the table.
    pub read: Option<&'a Snapshot>,
    /// The committed version.
    pub version: Version,
    /// Returns the bytes of the commit.
    pub bytes: &'a (dyn Fn() -> Result<Vec<u8>> + Sync),
}

/// Runs post-commit maintenance; failures and internal faults are reported, never returned. Must be called inside a
/// runtime.
pub async fn run_post_commit(commit: OwnCommit<'_>, policy: PostCommitPolicy) -> PostCommit {
    let steps = AssertUnwindSafe(steps(commit, policy));
    steps.catch_unwind().await.unwrap_or_else(|_| {
        let mut post_commit = PostCommit::default();
        post_commit.note::<()>("the log was not maintained", Err(fault::caught()));
        post_commit
    })
}

#[tracing::instrument(target = "deltaic::maintenance", name = "maintain log", level = "info", skip_all, fields(version = commit.version.as_i64()))]
async fn steps(commit: OwnCommit<'_>, policy: PostCommitPolicy) -> PostCommit {
    let mut post_commit = PostCommit::default();
    if policy.is_none() {
        return post_commit;
    }
    let behind = MaintainedLog::of(commit).await;
    let Some(mut behind) = post_commit.note("the log was not maintained", behind) else {
        return post_commit;
    };
    if post_commit
        .note(
            "the log was not maintained",
            ensure_checksum_agrees(&behind.made).await,
        )
        .is_none()
    {
        return post_commit;
    }
    let due = checkpoint_is_due(commit.version, behind.made.metadata());
    let due = policy.checkpoint && post_commit.note("no checkpoint was written", due) == Some(true);
    if policy.checksum && is_worth_counting(behind.made.num_files(), due) {
        let step = write_missing_checksum(&behind.made, behind.now_ms).await;
        post_commit.checksum = post_commit.note("no version checksum was written", step);
    }
    if due {
        let step = behind.write_checkpoint().await;
        post_commit.checkpoint = post_commit.note("no checkpoint was written", step);
    }
    if let Some(CheckpointWritten {
        hint: HintOutcome::Failed(error),
        ..
    }) = post_commit.checkpoint.clone()
    {
        post_commit.record_failure("_last_checkpoint was not written", &error);
    }
    if policy.compaction_interval > 1 {
        let written = post_commit
            .checkpoint
            .as_ref()
            .map(|checkpoint| checkpoint.version);
        let step = behind.compact(policy.compaction_interval, written).await;
        post_commit.compaction = post_commit
            .note("no log compaction file was written", step)
            .flatten();
    }
    let written = post_commit
        .checkpoint
        .as_ref()
        .filter(|checkpoint| checkpoint.is_new);
    if let Some(path) = written.map(|checkpoint| checkpoint.path.clone())
        && policy.clean_up
    {
        let step = behind.clean_up(&path).await;
        post_commit.cleanup = post_commit
            .note("expired log files were not deleted", step)
            .flatten();
    }
    post_commit
}

/// The log after a commit.
struct MaintainedLog<'a> {
    commit: OwnCommit<'a>,
    /// The committed version.
    made: Snapshot,
    /// Whether `made` was read from the store, so that its files can be read again.
    is_read: bool,
    now_ms: i64,
}

impl<'a> MaintainedLog<'a> {
    /// If the commit directly follows the version that its writer read, or creates the table, its version is computed
    /// in memory; after winning commits it is read from the store.
    async fn of(commit: OwnCommit<'a>) -> Result<Self> {
        let follows = |read: &Snapshot| read.version().next().is_ok_and(|next| next == commit.version);
        let (made, is_read) = match commit.read {
            Some(read) if follows(read) => (read.followed_by(&(commit.bytes)()?)?, false),
            None => (
                Snapshot::of_first_commit(commit.location, &(commit.bytes)()?)?,
                false,
            ),
            Some(read) => (from_store(read, commit.version).await?, true),
        };
        Ok(Self {
            commit,
            made,
            is_read,
            now_ms: now_ms(),
        })
    }

    /// The version, read from the store.
    async fn read(&mut self) -> Result<&Snapshot> {
        if !self.is_read {
            let load = LoadOptions::default();
            self.made = match self.commit.read {
                Some(read) => from_store(read, self.commit.version).await?,
                None => Snapshot::load(Arc::clone(self.commit.location), Some(Version::ZERO), load).await?,
            };
            self.is_read = true;
        }
        Ok(&self.made)
    }

    async fn write_checkpoint(&mut self) -> Result<CheckpointWritten> {
        // Clients without V2 checkpoints need a classic one once the earlier commits are deleted.
        let options = CheckpointOptions {
            name: CheckpointName::Classic,
            ..CheckpointOptions::default()
        };
        let made = self.read().await?;
        match write_checkpoint(made, &options).await {
            // A long-lived snapshot may be based on commits that were cleaned up later.
            Err(error) if error.kind() == ErrorKind::CorruptLog => {
                let load = LoadOptions {
                    max_line_bytes: made.max_line_bytes(),
                };
                let location = Arc::clone(self.commit.location);
                let anew = Snapshot::load(location, Some(self.commit.version), load).await?;
                write_checkpoint(&anew, &options).await
            }
            written => written,
        }
    }

    async fn compact(&mut self, interval: u32, written: Option<Version>) -> Result<Option<Compacted>> {
        let started_from = self
            .made
            .segment()
            .checkpoint
            .as_ref()
            .map(|checkpoint| checkpoint.version);
        let Some(range) = range_due(self.commit.version, interval, written.max(started_from)) else {
            return Ok(None);
        };
        compact(self.read().await?, *range.start(), *range.end()).await
    }

    /// Cleans up at the store's time, which is the modification time of the checkpoint just written.
    async fn clean_up(&mut self, checkpoint: &str) -> Result<Option<CleanedUp>> {
        let snapshot = self.read().await?;
        if !CleanupRules::of(snapshot.configuration())?.is_enabled {
            return Ok(None);
        }
        let now_ms = written_at_ms(snapshot.location(), checkpoint).await?;
        clean_up(snapshot, now_ms).await.map(Some)
    }
}

/// Reads a version that was just committed by refreshing an older one. If others have committed since, it is loaded
/// separately.
async fn from_store(older: &Snapshot, version: Version) -> Result<Snapshot> {
    let newest = older.refresh().await?;
    if newest.version() > version {
        let options = LoadOptions {
            max_line_bytes: older.max_line_bytes(),
        };
        return Snapshot::load(Arc::clone(older.location()), Some(version), options).await;
    }
    if newest.version() < version {
        let message = format!("the store's listing lacks version {version}, which was just committed");
        let error = Error::new(ErrorKind::StorageError, message);
        return Err(error
            .with("table", older.location().uri())
            .with("version", version));
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_table_is_counted_where_it_has_a_checkpoint() {
        for (files, has_checkpoint, is_worth) in [
            (0, false, true),
            (MOST_COUNTED, false, true),
            (MOST_COUNTED + 1, false, false),
            (MOST_COUNTED + 1, true, true),
        ] {
            assert_eq!(is_worth_counting(files, has_checkpoint), is_worth, "{files}");
        }
    }
}
