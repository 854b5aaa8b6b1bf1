//! Commits on a failing network: one commit, no commit and an error, or an error that the outcome is unknown.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{Committed, create};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_testkit::own_commits::{a_new_table, an_append, append, without_maintenance};
use deltaic_testkit::remote_table::{MAY_PASS, SERVICES, Service, put_commit, remote_place};
use deltaic_testkit::scripted_network::Mishap::{Reset, Silence, Status};
use deltaic_testkit::scripted_network::{ScriptedNetwork, Trouble};
use deltaic_testkit::secrets::reveals_no_secret;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};

/// Default number of retries.
const RETRIES: usize = 6;
const COMMIT: &str = "_delta_log/00000000000000000001.json";

/// A table of one version.
fn table(service: Service, more: &[(&str, &str)]) -> Result<(ScriptedNetwork, Arc<TableLocation>)> {
    let (network, location) = remote_place(service, more)?;
    put_commit(&network, 0, &TableBuilder::first_actions());
    Ok((network, location))
}

async fn open(location: &Arc<TableLocation>) -> Result<Snapshot> {
    Snapshot::load(Arc::clone(location), None, LoadOptions::default()).await
}

async fn append_to(snapshot: &Snapshot) -> Result<Committed> {
    append(snapshot, &an_append("ours")).await
}

fn assert_store_failed(error: &Error, how: &str) {
    reveals_no_secret(error);
    assert_eq!(error.kind(), ErrorKind::StorageError, "{how}: {error}");
    assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
}

/// Whether or not the put was executed, and whatever the response was: one commit, and no conflict with itself.
///
/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test(start_paused = true)]
async fn a_put_whose_answer_is_lost_is_one_commit() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            for is_done in [false, true] {
                let how = format!("{}, {mishap:?}, done: {is_done}", service.0);
                let (network, location) = table(service, &[])?;
                let snapshot = open(&location).await?;
                let trouble = Trouble::new(mishap, "PUT", COMMIT).requests(0..1);
                network.meets(if is_done { trouble.done() } else { trouble });
                let committed = append_to(&snapshot).await?;
                assert_eq!(
                    (committed.version.as_i64(), committed.conflicts_resolved.len()),
                    (1, 0),
                    "{how}"
                );
                assert_eq!(network.objects().len(), 2, "{how}");
                assert_eq!(open(&location).await?.num_files(), 1, "{how}");
                // A put that may have succeeded is not repeated before the version has been read.
                let puts = network.attempts("PUT", COMMIT).len();
                let again = !is_done || !matches!(mishap, Reset | Silence);
                assert_eq!(puts, 1 + usize::from(again), "{how}");
            }
        }
    }
    Ok(())
}

/// The probe for conditional puts tolerates lost responses like the commit after it, and leaves no object.
#[tokio::test(start_paused = true)]
async fn a_trial_whose_answer_is_lost_fails_no_append() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            for (is_done, which) in [(false, 0..1), (true, 0..1), (false, 1..2), (true, 1..2)] {
                let how = format!("{}, {mishap:?}, done: {is_done}, {which:?}", service.0);
                let (network, location) = table(service, &[])?;
                let snapshot = open(&location).await?;
                let trouble = Trouble::new(mishap, "PUT", "_probe-").requests(which);
                network.meets(if is_done { trouble.done() } else { trouble });
                assert_eq!(append_to(&snapshot).await?.version.as_i64(), 1, "{how}");
                assert_eq!(network.objects().len(), 2, "{how}");
            }
        }
    }
    Ok(())
}

/// The winning commit is read, also if the put had to be repeated before it was rejected; the commit follows it.
#[tokio::test(start_paused = true)]
async fn a_version_that_another_has_won_is_left_to_it() -> Result<()> {
    for service in SERVICES {
        for mishap in [None, Some(Status(503, "SlowDown")), Some(Reset), Some(Silence)] {
            let how = format!("{}, {mishap:?}", service.0);
            let (network, location) = table(service, &[])?;
            let snapshot = open(&location).await?;
            put_commit(&network, 1, &[add("theirs", None), remove("none", None)]);
            if let Some(mishap) = mishap {
                network.meets(Trouble::new(mishap, "PUT", COMMIT).requests(0..1));
            }
            let committed = append_to(&snapshot).await?;
            assert_eq!(
                (committed.version.as_i64(), committed.conflicts_resolved.len()),
                (2, 1),
                "{how}"
            );
            assert_eq!(open(&location).await?.num_files(), 2, "{how}");
            let refused = network.attempts("PUT", COMMIT).len();
            let again = mishap == Some(Status(503, "SlowDown"));
            assert_eq!(refused, 1 + usize::from(again), "{how}");
        }
    }
    Ok(())
}

/// S3 returns this status during a concurrent put of the same name: no writer has won, so the version is proposed
/// again.
#[tokio::test(start_paused = true)]
async fn an_undecided_put_is_proposed_again() -> Result<()> {
    let (network, location) = table(SERVICES[0], &[])?;
    let snapshot = open(&location).await?;
    let undecided = Status(409, "ConditionalRequestConflict");
    network.meets(Trouble::new(undecided, "PUT", COMMIT).requests(0..3));
    assert_eq!(append_to(&snapshot).await?.version.as_i64(), 1);
    assert_eq!(network.attempts("PUT", COMMIT).len(), 4);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_put_that_is_refused_is_made_once_and_changes_nothing() -> Result<()> {
    for service in SERVICES {
        for (status, code) in [
            (401, "Unauthorized"),
            (403, "AccessDenied"),
            (404, "NoSuchBucket"),
        ] {
            let how = format!("{}, {status}", service.0);
            let (network, location) = table(service, &[])?;
            let snapshot = open(&location).await?;
            let before = network.objects();
            network.meets(Trouble::new(Status(status, code), "PUT", ""));
            assert_store_failed(&append_to(&snapshot).await.expect_err(&how), &how);
            assert_eq!(network.attempts("PUT", "").len(), 1, "{how}");
            assert_eq!(network.objects(), before, "{how}");
        }
    }
    Ok(())
}

/// A store that accepts no commit fails after a bounded number of proposals, whatever the limit of winning commits is.
#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_a_put_is_given_up() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            let how = format!("{}, {mishap:?}", service.0);
            let (network, location) = table(service, &[])?;
            let snapshot = open(&location).await?;
            let before = network.objects();
            network.meets(Trouble::new(mishap, "PUT", COMMIT));
            let error = append_to(&snapshot).await.expect_err(&how);
            reveals_no_secret(&error);
            assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
            let puts = network.attempts("PUT", COMMIT).len();
            assert!(puts <= 10 * (RETRIES + 1), "{how}: {puts} puts");
            assert_eq!(network.objects(), before, "{how}");
            network.heal();
            assert_eq!(append_to(&snapshot).await?.version.as_i64(), 1, "{how}");
        }
    }
    Ok(())
}

/// If the version cannot be read back either, the error says that it may have been committed; and it was.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_cannot_be_learnt_is_reported() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            let how = format!("{}, {mishap:?}", service.0);
            let (network, location) = table(service, &[])?;
            let snapshot = open(&location).await?;
            network.meets(Trouble::new(mishap, "PUT", COMMIT).requests(0..1).done());
            network.meets(Trouble::new(mishap, "GET", COMMIT));
            let error = append_to(&snapshot).await.expect_err(&how);
            reveals_no_secret(&error);
            assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
            network.heal();
            assert_eq!(snapshot.refresh().await?.version().as_i64(), 1, "{how}");
        }
    }
    Ok(())
}

/// "The table already exists" may be the response to the put that created it; it is not reported without reading the
/// version.
#[tokio::test(start_paused = true)]
async fn a_table_that_was_made_unheard_is_not_a_other_table() -> Result<()> {
    const FIRST: &str = "_delta_log/00000000000000000000.json";
    for service in SERVICES {
        for (refusal, reads_fail) in [None, Some(401), Some(403), Some(404)]
            .into_iter()
            .flat_map(|refusal| [(refusal, false), (refusal, true)])
        {
            let expected = reads_fail.then_some(ErrorKind::CommitUnknown);
            let how = format!("{}, {refusal:?}, reads fail: {reads_fail}", service.0);
            let (network, location) = remote_place(service, &[])?;
            network.meets(
                Trouble::new(Status(500, "InternalError"), "PUT", FIRST)
                    .requests(0..1)
                    .done(),
            );
            if let Some(status) = refusal {
                let refused = Trouble::new(Status(status, "No"), "PUT", FIRST);
                network.meets(refused.requests(1..usize::MAX));
            }
            if reads_fail {
                network.meets(Trouble::new(Status(500, "InternalError"), "GET", FIRST));
            }
            let made = create(&location, a_new_table(), &without_maintenance()).await;
            assert_eq!(made.err().map(|error| error.kind()), expected, "{how}");
            network.heal();
            assert_eq!(open(&location).await?.version().as_i64(), 0, "{how}");
        }
    }
    Ok(())
}
