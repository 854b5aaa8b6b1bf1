//! A proposal without a response becomes a version, which is cleaned up and whose name a stale writer takes again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::committer::{BoxedFuture, Committer, Outcome};
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::store_error;
use deltaic_testkit::own_commits::{an_append, append_to, commit_to};
use deltaic_testkit::table_builder::{TableBuilder, add};
use object_store::ObjectStoreExt;
use serde_json::json;

use super::others::{Splitting, open, others_commit_and_cut};

/// A store that loses one response: the proposal is written, other writers continue and clean up, and a stale writer
/// commits under the same name. Other writers win the proposals before.
#[derive(Debug)]
struct LostResponse {
    location: Arc<TableLocation>,
    /// Number of proposals that other writers win first.
    wins: usize,
    proposals: AtomicUsize,
    /// What the store reports in the end.
    reports: fn(Version) -> Outcome,
}

impl Committer for LostResponse {
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        Box::pin(async move {
            let proposals = self.proposals.fetch_add(1, Ordering::Relaxed);
            if proposals < self.wins {
                let name = format!("winner{proposals}");
                append_to(&open(&self.location).await?, &name, PostCommitPolicy::none()).await?;
                return self.location.propose(version, commit).await;
            }
            if proposals > self.wins {
                return self.location.propose(version, commit).await;
            }
            let outcome = self.location.propose(version, commit).await?;
            assert_eq!(outcome, Outcome::Committed(version));
            others_commit_and_cut(&self.location, 2, Splitting::ByAnotherTool).await?;
            let path = self.location.below(&LogPath::commit(version))?;
            let stale = format!("{}\n", add("stale", None));
            let put = self.location.store().put(&path, stale.into()).await;
            put.map_err(|error| store_error(&error, path.as_ref()))?;
            Ok((self.reports)(version))
        })
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        self.location.read_commit(version)
    }
}

async fn table(retention: &str) -> Result<(TableBuilder, Snapshot)> {
    let properties = json!({"delta.logRetentionDuration": retention});
    let table = TableBuilder::with_properties(&properties, 1).await?;
    let held = table.open().await?;
    Ok((table, held))
}

/// The commit is in the table, below the stale writer's: reporting a conflict would delete its live files.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_another_writer_took_again_may_have_been_ours() -> Result<()> {
    for retention in ["interval 0 days", "interval 30 days"] {
        let reports: [fn(Version) -> Outcome; 2] = [Outcome::Unknown, Outcome::Taken];
        for (wins, reports) in [0, 1, 2]
            .into_iter()
            .flat_map(|wins| reports.map(|reports| (wins, reports)))
        {
            let (table, held) = table(retention).await?;
            let committer = LostResponse {
                location: Arc::clone(held.location()),
                wins,
                proposals: AtomicUsize::new(0),
                reports,
            };
            let mut transaction = commit_to(&held)?;
            transaction.committer = &committer;
            transaction.options.post_commit = PostCommitPolicy::none();
            transaction.proposal.adds = an_append("ours").adds;
            let how = format!("{retention}, {wins} lost before, {:?}", reports(Version::ZERO));
            let error = transaction.commit().await.expect_err(&how);
            assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
            // The first file, those of the others and ours; the stale writer's is not seen.
            assert_eq!(table.open().await?.num_files(), 1 + wins + 2 + 1, "{how}");
        }
    }
    Ok(())
}
