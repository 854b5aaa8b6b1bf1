//! The contract of every [`Committer`], run by the tests of each implementation.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::committer::{BoxedFuture, Committer, Outcome};
use deltaic_log::listing::Listing;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_protocol::{Error, Result, Version};
use deltaic_storage::TableLocation;

use crate::tables::own_commits::{an_append, commit_to};

/// Number of concurrent writers of one version.
const WRITERS: usize = 8;

/// Number of versions that the contract test commits.
pub const VERSIONS: i64 = 6;

/// Commits sequentially, repeatedly and concurrently to a table that does not exist yet. Panics if the contract is
/// violated.
///
/// Protocol: *Delta Log Entries*; a commit is visible completely or not at all, and exactly one writer wins.
#[expect(clippy::panic, reason = "a violated contract fails the calling test")]
pub async fn keeps_the_contract(committer: Arc<dyn Committer>) -> Result<()> {
    committer.prepare().await?;
    committer.prepare().await?;
    let first = Version::ZERO;
    assert_eq!(
        read(&committer, first).await?,
        None,
        "the version exists before the first commit"
    );
    let outcome = committer.propose(first, b"one\n".to_vec()).await?;
    assert_eq!(outcome, Outcome::Committed(first));
    let outcome = committer.propose(first, b"two\n".to_vec()).await?;
    assert_eq!(outcome, Outcome::Lost(first));
    assert_eq!(
        read(&committer, first).await?.as_deref(),
        Some("one\n"),
        "a loser changed the winner's commit"
    );
    for number in 1..VERSIONS {
        let version = Version::try_new(number)?;
        let proposals: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let committer = Arc::clone(&committer);
                tokio::spawn(async move { committer.propose(version, body(writer)).await })
            })
            .collect();
        let mut winning_commits = Vec::new();
        for (writer, proposal) in proposals.into_iter().enumerate() {
            match proposal
                .await
                .unwrap_or_else(|error| panic!("a proposal failed: {error}"))?
            {
                Outcome::Committed(_) => winning_commits.push(writer),
                Outcome::Lost(_) => {}
                Outcome::NotSynced(_, why) => panic!("a store without faults did not sync: {why}"),
                Outcome::Withdrawn(_) => panic!("no cleanup runs in this test"),
                Outcome::Taken(_) => panic!("a store without faults received several requests"),
                Outcome::Unknown(_) => panic!("a store without faults returned no definitive response"),
            }
        }
        assert_eq!(
            winning_commits.len(),
            1,
            "version {number} has the winners {winning_commits:?}"
        );
        let winning_commit = body(winning_commits[0]);
        let found = read(&committer, version).await?;
        assert_eq!(
            found.as_ref().map(String::as_bytes),
            Some(winning_commit.as_slice())
        );
    }
    assert_eq!(read(&committer, Version::try_new(VERSIONS)?).await?, None);
    Ok(())
}

/// Verifies that the log folder lists exactly the versions that the contract test committed. Panics otherwise.
///
/// Protocol: *Delta Log Entries*.
pub async fn is_listed(table: &TableLocation) -> Result<()> {
    let listing = Listing::whole(table).await?;
    let versions: Vec<i64> = listing
        .commits()
        .map(|commit| commit.path.version.as_i64())
        .collect();
    assert_eq!(versions, (0..VERSIONS).collect::<Vec<_>>());
    let files = listing.files.len();
    assert_eq!(
        files,
        versions.len(),
        "the listing contains other log files: {listing:?}"
    );
    Ok(())
}

/// Commits an append through a committer that takes ten seconds per proposal, on a paused clock. Panics if the commit
/// is not found: a committer whose commits are not immediately listed in `_delta_log` must be gapless, or its snapshots
/// must know its commits.
#[expect(clippy::panic, reason = "a violated contract fails the calling test")]
pub async fn reports_a_slow_commit(committer: &dyn Committer, snapshot: &Snapshot) -> Result<()> {
    let slow = Slow(committer);
    let mut transaction = commit_to(snapshot)?;
    transaction.options.post_commit = PostCommitPolicy::none();
    transaction.proposal.adds = an_append("slow").adds;
    transaction.committer = &slow;
    match transaction.commit().await {
        Ok(committed) => {
            assert_eq!(committed.version, snapshot.version().next()?);
            Ok(())
        }
        Err(error) => panic!("a slow commit is reported as an error: {error}"),
    }
}

/// A committer that takes ten seconds per proposal.
#[derive(Debug)]
struct Slow<'a>(&'a dyn Committer);

impl Committer for Slow<'_> {
    #[expect(clippy::disallowed_methods, reason = "the test's clock is paused")]
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            self.0.propose(version, commit).await
        })
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        self.0.read_commit(version)
    }

    fn is_gapless(&self) -> bool {
        self.0.is_gapless()
    }
}

/// How a store or a catalog failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The proposal was committed, and the response was lost.
    Behind,
    /// The request was lost, and nothing was committed.
    Before,
}

/// Proposes a version without concurrent writers to a failing committer. Panics if it reports that nothing was
/// committed although something was, or if the outcome cannot be determined.
pub async fn is_honest(
    committer: &dyn Committer,
    version: Version,
    failed: Failed,
    how: &str,
) -> Result<Outcome, Error> {
    let proposed = committer.propose(version, b"ours\n".to_vec()).await;
    let found = committer.read_commit(version).await?;
    if let Some(found) = &found {
        assert_eq!(
            found.as_ref(),
            b"ours\n",
            "{how}: incomplete, or another proposal"
        );
    }
    match (&proposed, failed) {
        (Err(error), _) => assert!(found.is_none(), "{how}: it was committed despite {error}"),
        (Ok(Outcome::Committed(_) | Outcome::NotSynced(..)), _) => {
            assert!(found.is_some(), "{how}: nothing was committed");
        }
        (Ok(Outcome::Withdrawn(_)), _) => assert!(found.is_none(), "{how}: it was committed"),
        // This proposal itself was committed; a reader of the version finds it.
        (Ok(Outcome::Lost(_) | Outcome::Taken(_)), _) => {
            assert!(found.is_some(), "{how}: lost, but no version exists")
        }
        (Ok(Outcome::Unknown(_)), Failed::Behind) => assert!(found.is_some(), "{how}: no version exists"),
        (Ok(Outcome::Unknown(_)), Failed::Before) => {}
    }
    proposed
}

fn body(writer: usize) -> Vec<u8> {
    // Large enough that a partial write would be visible.
    let line = format!("{writer}\n");
    line.repeat(50_000).into_bytes()
}

async fn read(committer: &Arc<dyn Committer>, version: Version) -> Result<Option<String>> {
    let bytes = committer.read_commit(version).await?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
