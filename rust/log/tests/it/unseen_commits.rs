//! Errors of commits that may have succeeded unobserved: "nothing was committed" is never reported without reading the
//! version.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::committer::{BoxedFuture, Committer, Outcome};
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{Committed, Operation, Transaction, UserInfo};
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::Deadline;
use deltaic_testkit::committer_contract::{Failed, is_honest};
use deltaic_testkit::own_commits::{self, Append, append, commit_to};
use deltaic_testkit::remote_table::{MAY_PASS, SERVICES, Service, put_commit, remote_place};
use deltaic_testkit::scripted_network::Mishap::{Closed, Reset, Status};
use deltaic_testkit::scripted_network::{Mishap, ScriptedNetwork, Trouble};
use deltaic_testkit::secrets::reveals_no_secret;
use deltaic_testkit::table_builder::{TableBuilder, add};

const FIRST: &str = "_delta_log/00000000000000000000.json";
const COMMIT: &str = "_delta_log/00000000000000000001.json";

/// Responses that a client may have received before it was rejected.
const BEFORE: [Mishap; 4] = [
    Status(500, "InternalError"),
    Status(503, "SlowDown"),
    Status(429, "TooManyRequests"),
    Closed,
];

/// Rejections that prove that a first put was not executed.
const REFUSALS: [Mishap; 3] = [
    Status(401, "Unauthorized"),
    Status(403, "AccessDenied"),
    Status(404, "NoSuchBucket"),
];

/// A table of one version.
fn table(service: Service) -> Result<(ScriptedNetwork, Arc<TableLocation>)> {
    let (network, location) = remote_place(service, &[])?;
    put_commit(&network, 0, &TableBuilder::first_actions());
    Ok((network, location))
}

async fn open(location: &Arc<TableLocation>) -> Result<Snapshot> {
    Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await
}

fn ours() -> Append {
    own_commits::an_append("ours")
}

async fn append_to(snapshot: &Snapshot) -> Result<Committed> {
    append(snapshot, &ours()).await
}

/// A rejection describes the request that it responds to. If a service's client has sent the put more than once, the
/// outcome of the first one is unknown.
///
/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_second_request_states_nothing_of_the_first() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            for refusal in REFUSALS {
                for failed in [Failed::Before, Failed::Behind] {
                    let how = format!("{} {mishap:?}, then {refusal:?}, {failed:?}", service.0);
                    let (network, location) = remote_place(service, &[])?;
                    let trouble = Trouble::new(mishap, "PUT", FIRST).requests(0..1);
                    network.meets(if failed == Failed::Behind {
                        trouble.done()
                    } else {
                        trouble
                    });
                    network.meets(Trouble::new(refusal, "PUT", FIRST).requests(1..2));
                    let outcome = is_honest(location.as_ref(), Version::ZERO, failed, &how).await?;
                    assert_eq!(outcome, Outcome::Unknown(Version::ZERO), "{how}");
                }
            }
        }
    }
    Ok(())
}

/// If a service's client sends a put twice and the second one fails because the version exists, the first one may have
/// written it, whatever commit the version is by now.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(start_paused = true)]
async fn a_version_that_exists_for_the_second_request_may_be_of_the_first() -> Result<()> {
    for service in SERVICES {
        for mishap in [Status(500, "InternalError"), Status(503, "SlowDown")] {
            for is_done in [true, false] {
                let how = format!("{} {mishap:?}, done: {is_done}", service.0);
                let (network, location) = remote_place(service, &[])?;
                let trouble = Trouble::new(mishap, "PUT", FIRST).requests(0..1);
                network.meets(if is_done { trouble.done() } else { trouble });
                if !is_done {
                    put_commit(&network, 0, &TableBuilder::first_actions());
                }
                let outcome = location.propose(Version::ZERO, b"ours\n".to_vec()).await?;
                assert_eq!(outcome, Outcome::Taken(Version::ZERO), "{how}");
            }
        }
    }
    Ok(())
}

/// The rejection may respond to the client's retry, and the first put may have succeeded: "nothing was committed" is
/// not reported without reading the version.
///
/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test(start_paused = true)]
async fn a_put_that_is_refused_when_it_is_made_again_may_remain() -> Result<()> {
    for service in SERVICES {
        for mishap in BEFORE {
            for refusal in REFUSALS {
                for (is_done, reads_fail) in [(true, false), (true, true), (false, false)] {
                    let how = format!("{}, {mishap:?}, then {refusal:?}, done: {is_done}", service.0);
                    let (network, location) = table(service)?;
                    let snapshot = open(&location).await?;
                    let trouble = Trouble::new(mishap, "PUT", COMMIT).requests(0..1);
                    network.meets(if is_done { trouble.done() } else { trouble });
                    network.meets(Trouble::new(refusal, "PUT", COMMIT).requests(1..usize::MAX));
                    if reads_fail {
                        network.meets(Trouble::new(Status(403, "AccessDenied"), "GET", COMMIT));
                    }
                    let outcome = append_to(&snapshot).await;
                    network.heal();
                    assert_eq!(network.objects().len(), 1 + usize::from(is_done), "{how}");
                    match outcome {
                        Ok(committed) => assert_eq!(
                            (
                                committed.version.as_i64(),
                                committed.conflicts_resolved.len(),
                                is_done
                            ),
                            (1, 0, !reads_fail),
                            "{how}"
                        ),
                        Err(error) => {
                            reveals_no_secret(&error);
                            assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
                            assert!(reads_fail || !is_done, "{how}: {error}");
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// A proposal without a response may have succeeded without being visible yet: if the next one is rejected, the version
/// is read before the error is returned.
#[tokio::test(start_paused = true)]
async fn after_an_open_proposal_a_refusal_is_not_believed_unseen() -> Result<()> {
    for service in SERVICES {
        for refusal in REFUSALS {
            for theirs in [false, true] {
                let how = format!("{}, {refusal:?}, theirs: {theirs}", service.0);
                let (network, location) = table(service)?;
                let snapshot = open(&location).await?;
                let trouble = Trouble::new(Reset, "PUT", COMMIT).requests(0..1);
                network.meets(if theirs { trouble } else { trouble.done() });
                if theirs {
                    put_commit(&network, 1, &[add("theirs", None)]);
                }
                network.meets(Trouble::new(Status(404, "NoSuchKey"), "GET", COMMIT).requests(0..1));
                network.meets(Trouble::new(refusal, "PUT", "_delta_log/0").requests(1..usize::MAX));
                let outcome = append_to(&snapshot).await;
                if theirs {
                    // The version is another writer's, so ours was not committed, and the next proposal is rejected at
                    // once.
                    let error = outcome.expect_err(&how);
                    assert_eq!(error.kind(), ErrorKind::StorageError, "{how}: {error}");
                } else {
                    assert_eq!(outcome?.version.as_i64(), 1, "{how}");
                }
                assert_eq!(network.objects().len(), 2, "{how}");
            }
        }
    }
    Ok(())
}

/// The same if the deadline passes before the version could be read.
#[tokio::test(start_paused = true)]
async fn after_an_open_proposal_a_deadline_is_reported_after_a_last_look() -> Result<()> {
    for (is_done, expected) in [(true, None), (false, Some(ErrorKind::CommitUnknown))] {
        let (network, location) = table(SERVICES[0])?;
        let snapshot = open(&location).await?;
        let trouble = Trouble::new(Reset, "PUT", COMMIT).requests(0..1);
        network.meets(if is_done { trouble.done() } else { trouble });
        network.meets(Trouble::new(Status(404, "NoSuchKey"), "GET", COMMIT).requests(0..1));
        let mut transaction = Transaction::try_new(&snapshot, Operation::Write, ensure_appendable)?;
        transaction.proposal.adds = ours().adds;
        transaction.options.post_commit = PostCommitPolicy::none();
        transaction.options.deadline = Some(Deadline::after(Duration::from_millis(1)));
        let outcome = transaction.commit().await;
        assert_eq!(outcome.err().map(|error| error.kind()), expected);
        assert_eq!(network.attempts("PUT", COMMIT).len(), 1);
        assert_eq!(network.objects().len(), 1 + usize::from(is_done));
    }
    Ok(())
}

/// A store reports that a version is taken, possibly by this very put, and does not show it: the version is read again,
/// and never put again, since the log might have a gap if it was deleted.
#[tokio::test(start_paused = true)]
async fn a_taken_version_that_is_not_to_be_observed_is_read_again() -> Result<()> {
    for service in SERVICES {
        for (unseen, is_done) in [(3, true), (usize::MAX, true), (usize::MAX, false)] {
            let how = format!("{}, unseen {unseen} times, done: {is_done}", service.0);
            let (network, location) = table(service)?;
            let snapshot = open(&location).await?;
            let taken = if is_done {
                Status(500, "InternalError")
            } else {
                Status(412, "PreconditionFailed")
            };
            let trouble = Trouble::new(taken, "PUT", COMMIT).requests(0..1);
            network.meets(if is_done { trouble.done() } else { trouble });
            network.meets(Trouble::new(Status(404, "NoSuchKey"), "GET", COMMIT).requests(0..unseen));
            let outcome = append_to(&snapshot).await;
            if unseen == usize::MAX {
                let error = outcome.expect_err(&how);
                reveals_no_secret(&error);
                assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
            } else {
                assert_eq!(outcome?.version.as_i64(), 1, "{how}");
            }
            assert_eq!(
                network.attempts("PUT", COMMIT).len(),
                1 + usize::from(is_done),
                "{how}"
            );
            assert!(network.attempts("GET", COMMIT).len() <= 10, "{how}");
            assert_eq!(network.objects().len(), 1 + usize::from(is_done), "{how}");
        }
    }
    Ok(())
}

/// The maximum line length does not affect which commit is recognized as ours.
#[tokio::test(start_paused = true)]
async fn our_own_commit_is_known_however_long_its_lines_are() -> Result<()> {
    let long = "x".repeat(3_000);
    let info = format!(r#"{{"userMetadata":"{long}"}}"#);
    let stats = format!(r#"{{"numRecords":1,"minValues":{{"id":"{long}"}}}}"#);
    for service in SERVICES {
        for (info, stats) in [(Some(info.as_str()), None), (None, Some(&stats))] {
            for theirs in [false, true] {
                let (network, location) = table(service)?;
                let max_line_bytes = 2_000;
                let options = LoadOptions { max_line_bytes };
                let snapshot = Snapshot::load(Arc::clone(&location), None, options).await?;
                let mut ours = ours();
                ours.options.user = UserInfo::parse(info)?;
                ours.adds[0].stats = stats.cloned();
                let trouble = Trouble::new(Status(500, "InternalError"), "PUT", COMMIT).requests(0..1);
                network.meets(if theirs { trouble } else { trouble.done() });
                if theirs {
                    put_commit(&network, 1, &[add(&long, None)]);
                }
                let outcome = append(&snapshot, &ours).await;
                if theirs {
                    // Another writer's unreadable commit: it has won, and ours does not exist.
                    let error = outcome.expect_err("the line is too long");
                    assert_eq!(error.kind(), ErrorKind::CorruptLog, "{error}");
                } else {
                    assert_eq!(outcome?.version.as_i64(), 1);
                    assert_eq!(open(&location).await?.num_files(), 1);
                }
            }
        }
    }
    Ok(())
}

/// A store that returns a commit with one byte that is invalid in UTF-8.
#[derive(Debug)]
struct Damaging {
    /// The response to every proposal.
    outcome: fn(Version) -> Outcome,
    /// The byte after the first occurrence of this string is changed.
    at: &'static str,
    /// The commit at the version; a proposal is stored if there is none.
    commit: OnceLock<Bytes>,
}

impl Damaging {
    fn hold(&self, mut commit: Vec<u8>) {
        let found = commit
            .windows(self.at.len())
            .position(|text| text == self.at.as_bytes());
        if let Some(byte) = found.and_then(|found| commit.get_mut(found + self.at.len())) {
            *byte = 0xff;
        }
        self.commit.get_or_init(|| commit.into());
    }
}

impl Committer for Damaging {
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        self.hold(commit);
        Box::pin(async move { Ok((self.outcome)(version)) })
    }

    fn read_commit(&self, _: Version) -> BoxedFuture<'_, Option<Bytes>> {
        Box::pin(async { Ok(self.commit.get().cloned()) })
    }
}

/// A commit that is not UTF-8 may be the proposed one, whichever of its bytes is damaged: its id proves nothing.
///
/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test]
async fn a_taken_version_that_is_not_utf8_may_be_our_own() -> Result<()> {
    let table = TableBuilder::of(&[TableBuilder::first_actions()]).await?;
    let snapshot = table.open().await?;
    let theirs = add("theirs", None).to_string() + "\n";
    for outcome in [Outcome::Unknown, Outcome::Lost] {
        for (at, found) in [
            (r#""path":""#, None),
            (r#""txnId":""#, None),
            (r#""path":""#, Some(theirs.clone())),
        ] {
            let how = format!(
                "{:?}, damaged behind {at}, another's: {}",
                outcome(Version::ZERO),
                found.is_some()
            );
            let committer = Damaging {
                outcome,
                at,
                commit: OnceLock::new(),
            };
            if let Some(theirs) = found {
                committer.hold(theirs.into_bytes());
            }
            let mut transaction = commit_to(&snapshot)?;
            transaction.committer = &committer;
            transaction.proposal.adds = ours().adds;
            let error = transaction.commit().await.expect_err(&how);
            assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
            assert!(error.to_string().contains("UTF-8"), "{how}: {error}");
        }
    }
    Ok(())
}
