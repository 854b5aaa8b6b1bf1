//! Commits: the retry loop of an append against winning commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::committer::{BoxedFuture, Committer, Outcome};
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{CommitOptions, UserInfo};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_testkit::fault::Fault;
use deltaic_testkit::own_commits::{self, Append, append, commit_to, without_maintenance};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::json;
use tokio::time::Instant;

fn an_append(path: &str, max_attempts: usize) -> Append {
    Append {
        options: CommitOptions {
            max_attempts,
            ..without_maintenance()
        },
        ..own_commits::an_append(path)
    }
}

async fn table() -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    let snapshot = Snapshot::load(table.location(), None, LoadOptions::default()).await?;
    Ok((table, snapshot))
}

#[tokio::test]
async fn an_append_is_rebased_on_commits_that_do_not_conflict() -> Result<()> {
    let (mut table, snapshot) = table().await?;
    table.commit(vec![add("theirs", None)]).await?;
    table
        .commit(vec![json!({"txn": {"appId": "a", "version": 1}})])
        .await?;
    let committed = append(&snapshot, &an_append("ours", 10)).await?;
    assert_eq!(
        (committed.version.as_i64(), committed.conflicts_resolved.len()),
        (3, 2)
    );
    assert_eq!(
        Snapshot::load(table.location(), None, LoadOptions::default())
            .await?
            .num_files(),
        2
    );
    Ok(())
}

/// A writer that is many versions late reads up to the newest version before it proposes again. If it proposed each
/// version, or paused after each winning commit, it would never catch up with busy writers.
#[tokio::test(start_paused = true)]
async fn a_stale_writer_reads_all_commits_before_its_next_proposal() -> Result<()> {
    const WINNERS: i64 = 100;
    let (mut table, snapshot) = table().await?;
    for number in 0..WINNERS {
        table.commit(vec![add(&number.to_string(), None)]).await?;
    }
    table.scripted().forget();
    let begun = Instant::now();
    let committed = append(&snapshot, &an_append("ours", 2)).await?;
    assert_eq!(committed.version.as_i64(), WINNERS + 1);
    assert_eq!(committed.conflicts_resolved.len(), 100);
    let proposals = table.scripted().report().count(RequestKind::Put);
    assert_eq!(proposals, 2);
    // The clock is paused: the only delay is the pause after the lost proposal.
    let paused = begun.elapsed();
    assert!(paused.as_millis() <= 4, "{paused:?}");
    Ok(())
}

#[tokio::test]
async fn a_changed_protocol_or_metadata_is_a_conflict() -> Result<()> {
    let from_the_future = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7,
        "writerFeatures": ["fromTheFuture"]}});
    let mut named = TableBuilder::first_actions().swap_remove(1);
    named["metaData"]["name"] = json!("another name");
    for (winning_commit, conflict) in [
        (from_the_future, Conflict::ProtocolChanged),
        (named, Conflict::MetadataChanged),
    ] {
        let (mut table, snapshot) = table().await?;
        table.commit(vec![winning_commit]).await?;
        let lost = append(&snapshot, &an_append("ours", 10)).await.err();
        assert_eq!(
            lost.as_ref().map(Error::kind),
            Some(ErrorKind::CommitConflict(conflict))
        );
        assert!(lost.is_some_and(|error| error.to_string().contains("version 1")));
        assert_eq!(
            Snapshot::load(table.location(), None, LoadOptions::default())
                .await?
                .num_files(),
            0
        );
    }
    Ok(())
}

/// A store on which others win the next proposals, and each time commit this number of further versions.
#[derive(Debug)]
struct Outrun {
    location: Arc<TableLocation>,
    times: AtomicUsize,
    versions: i64,
}

impl Committer for Outrun {
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        Box::pin(async move {
            let left = self.times.load(Ordering::Relaxed);
            if left > 0 {
                self.times.store(left - 1, Ordering::Relaxed);
                for number in 0..self.versions {
                    let version = Version::try_new(version.as_i64() + number)?;
                    let theirs = format!("{}\n", add(&format!("theirs{version}"), None));
                    self.location.propose(version, theirs.into_bytes()).await?;
                }
            }
            self.location.propose(version, commit).await
        })
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        self.location.read_commit(version)
    }
}

/// Attempts are lost proposals, regardless of how many versions others have committed.
#[tokio::test(start_paused = true)]
async fn attempts_are_lost_proposals() -> Result<()> {
    for (times, versions, max_attempts, wins) in [
        (1, 1, 1, false),
        (1, 150, 2, true),
        (2, 1, 2, false),
        (4, 30, 5, true),
        (5, 30, 5, false),
    ] {
        let how = format!("{times} times {versions}, {max_attempts} attempts");
        let (table, snapshot) = table().await?;
        let committer = Outrun {
            location: table.location(),
            times: AtomicUsize::new(times),
            versions,
        };
        let mut transaction = commit_to(&snapshot)?;
        transaction.committer = &committer;
        transaction.options.max_attempts = max_attempts;
        transaction.proposal.adds = an_append("ours", 1).adds;
        match transaction.commit().await {
            Ok(committed) => assert!(wins && committed.conflicts_resolved.len() > 1, "{how}"),
            Err(error) => {
                assert!(!wins, "{how}: {error}");
                assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
            }
        }
    }
    Ok(())
}

/// A store on which others commit a version every tenth of a millisecond.
#[derive(Debug)]
struct Busy {
    location: Arc<TableLocation>,
    begun: Instant,
    newest: AtomicI64,
    proposals: AtomicUsize,
}

impl Busy {
    /// Commits the versions of the other writers up to now.
    async fn others_commit(&self) -> Result<()> {
        let until = 1 + i64::try_from(self.begun.elapsed().as_micros() / 100).unwrap_or(i64::MAX);
        for version in self.newest.load(Ordering::Relaxed)..until {
            let theirs = format!("{}\n", add(&format!("theirs{version}"), None));
            let version = Version::try_new(version + 1)?;
            self.location.propose(version, theirs.into_bytes()).await?;
        }
        self.newest.fetch_max(until, Ordering::Relaxed);
        Ok(())
    }
}

impl Committer for Busy {
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        self.proposals.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            self.others_commit().await?;
            self.location.propose(version, commit).await
        })
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        Box::pin(async move {
            self.others_commit().await?;
            self.location.read_commit(version).await
        })
    }
}

/// A writer proposes immediately after it has found the newest version, before others commit.
#[tokio::test(start_paused = true)]
async fn a_writer_proposes_at_once_what_it_has_observed_free() -> Result<()> {
    for _ in 0..3 {
        let (table, snapshot) = table().await?;
        let committer = Busy {
            location: table.location(),
            begun: Instant::now(),
            newest: AtomicI64::new(0),
            proposals: AtomicUsize::new(0),
        };
        let mut transaction = commit_to(&snapshot)?;
        transaction.committer = &committer;
        transaction.options.max_attempts = 10;
        transaction.proposal.adds = an_append("ours", 1).adds;
        transaction.commit().await?;
        assert_eq!(committer.proposals.load(Ordering::Relaxed), 2);
    }
    Ok(())
}

/// The default deadline of a commit is ten minutes.
#[tokio::test(start_paused = true)]
async fn a_commit_ends_after_ten_minutes_without_a_deadline() -> Result<()> {
    let (table, snapshot) = table().await?;
    table.scripted().set_latency(Duration::from_secs(1));
    let committer = Outrun {
        location: table.location(),
        times: AtomicUsize::new(usize::MAX),
        versions: 1,
    };
    let begun = Instant::now();
    let mut transaction = commit_to(&snapshot)?;
    transaction.committer = &committer;
    transaction.proposal.adds = an_append("ours", 1).adds;
    let error = transaction.commit().await.expect_err("others always win");
    assert!(error.to_string().contains("the deadline passed"), "{error}");
    let tried = begun.elapsed().as_secs();
    assert!((600..620).contains(&tried), "{tried} s");
    Ok(())
}

#[tokio::test]
async fn the_users_own_keys_remain_beside_ours_and_never_for_them() -> Result<()> {
    let (table, snapshot) = table().await?;
    let mut ours = an_append("ours", 1);
    ours.options.user = UserInfo::parse(Some(r#"{"userMetadata":"why"}"#))?;
    let committed = append(&snapshot, &ours).await?;
    let info: serde_json::Value =
        serde_json::from_str(committed.commit_info.as_deref().expect("it was committed")).expect("JSON");
    assert_eq!(
        (
            &info["userMetadata"],
            &info["isBlindAppend"],
            &info["readVersion"]
        ),
        (&json!("why"), &json!(true), &json!(0))
    );
    assert!(UserInfo::parse(Some(r#"{"txnId":"x"}"#)).is_err());
    assert!(UserInfo::parse(Some("[]")).is_err());
    drop(table);
    Ok(())
}

/// A lost response is not a conflict with the own commit, and a lost request is retried: one commit in both cases. Other
/// implementations have returned an error although the commit succeeded (delta-kernel-rs#2717, delta-kernel-rs#3070,
/// delta-rs#2279, delta-rs#2609).
#[tokio::test]
async fn a_lost_answer_neither_doubles_nor_loses_a_commit() -> Result<()> {
    for fault in [Fault::AnswerLost, Fault::RequestLost] {
        let (table, snapshot) = table().await?;
        table.scripted().script_next(&[fault], &[]);
        let committed = append(&snapshot, &an_append("ours", 10)).await?;
        assert_eq!(
            (committed.version.as_i64(), committed.conflicts_resolved.len()),
            (1, 0),
            "{fault:?}"
        );
        let opened = Snapshot::load(table.location(), None, LoadOptions::default()).await?;
        assert_eq!(
            (opened.version().as_i64(), opened.num_files()),
            (1, 1),
            "{fault:?}"
        );
    }
    Ok(())
}

/// Attempts are lost proposals: a lost response does not count.
#[tokio::test]
async fn a_lost_request_uses_up_no_attempt() -> Result<()> {
    let (table, snapshot) = table().await?;
    table.scripted().script_next(&[Fault::RequestLost; 3], &[]);
    let committed = append(&snapshot, &an_append("ours", 1)).await?;
    assert_eq!(committed.version.as_i64(), 1);
    Ok(())
}

/// If the outcome is unknown the error says so, whatever the last fault was: the files may be in the table.
#[tokio::test]
async fn an_outcome_that_cannot_be_learnt_is_reported() -> Result<()> {
    use Fault::{AnswerLost, RequestLost};
    for (puts, reads, attempts) in [
        (vec![AnswerLost], vec![RequestLost], 10),
        (vec![RequestLost], vec![RequestLost], 10),
        (vec![RequestLost; 10], vec![], 1),
    ] {
        let (table, snapshot) = table().await?;
        table.scripted().script_next(&puts, &reads);
        let error = append(&snapshot, &an_append("ours", attempts)).await.err();
        assert_eq!(
            error.map(|error| error.kind()),
            Some(ErrorKind::CommitUnknown),
            "{puts:?} {reads:?}"
        );
    }
    Ok(())
}
