//! Other writers, and the stalls of one: what they do to a log while it proposes a version.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_log::cleanup::clean_up;
use deltaic_log::committer::{BoxedFuture, Committer, Outcome};
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::now_ms;
use deltaic_storage::store_error;
use deltaic_testkit::own_commits::append_to;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::ObjectStoreExt;

pub(crate) const DAY_MS: i64 = 86_400_000;

pub(crate) async fn open(location: &Arc<TableLocation>) -> Result<Snapshot> {
    Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await
}

/// Others commit, and the log is cut at its newest version.
pub(crate) async fn others_commit_and_cut(
    location: &Arc<TableLocation>,
    commits: usize,
    cut: Splitting,
) -> Result<()> {
    for number in 0..commits {
        let newest = open(location).await?;
        append_to(&newest, &format!("other{number}"), PostCommitPolicy::none()).await?;
    }
    let newest = open(location).await?;
    write_checkpoint(&newest, &CheckpointOptions::default()).await?;
    match cut {
        Splitting::ByUs { days } => drop(clean_up(&newest, now_ms() + days * DAY_MS).await?),
        Splitting::ByAnotherTool => {
            for version in 0..newest.version().as_i64() {
                let path = location.below(&format!("_delta_log/{version:020}.json"))?;
                match location.store().delete(&path).await {
                    Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(store_error(&error, "_delta_log")),
                }
            }
        }
        Splitting::Nothing => {}
    }
    Ok(())
}

/// Which tool deletes the commits before the checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    /// So many days from now.
    ByUs { days: i64 },
    /// Only the commits go, whatever else a writer has in the folder.
    ByAnotherTool,
    /// None: there is a checkpoint, and every commit.
    Nothing,
}

/// What other writers do once, while one stalls.
#[derive(Default)]
pub(crate) struct Others(Mutex<Option<BoxFuture<'static, Result<()>>>>);

impl Others {
    pub(crate) fn doing(others: impl Future<Output = Result<()>> + Send + 'static) -> Self {
        Self(Mutex::new(Some(others.boxed())))
    }

    pub(crate) async fn act(&self) -> Result<()> {
        let others = self.0.lock().ok().and_then(|mut others| others.take());
        match others {
            Some(others) => others.await,
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Others")
    }
}

/// A store whose first put takes a while, during which others act before or after it takes effect.
#[derive(Debug)]
pub(crate) struct StalledPut {
    pub(crate) location: Arc<TableLocation>,
    pub(crate) before: Others,
    pub(crate) after: Others,
    pub(crate) stall: Duration,
}

impl Committer for StalledPut {
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        Box::pin(async move {
            self.before.act().await?;
            let outcome = self.location.propose(version, commit).await;
            self.after.act().await?;
            wait(self.stall).await;
            outcome
        })
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        self.location.read_commit(version)
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's clock is paused")]
pub(crate) async fn wait(stall: Duration) {
    tokio::time::sleep(stall).await;
}
