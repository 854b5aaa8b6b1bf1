//! Number and pauses of retries of each service's client on a failing network, on a paused clock.
//!
//! The limit `retry_timeout` uses the machine's clock, which tests cannot pause: only its boundary cases are tested,
//! none and the default. It ends retries and no running request; `read_timeout` and `timeout` do that.

use std::sync::Arc;
use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_testkit::remote_table::{MAY_PASS, SERVICES, Service, put_commit, remote_place};
use deltaic_testkit::scripted_network::Mishap::{BreaksOff, Long, Short, Silence, Status};
use deltaic_testkit::scripted_network::{Attempt, Mishap, ScriptedNetwork, Trouble};
use deltaic_testkit::secrets::reveals_no_secret;
use deltaic_testkit::table_builder::{TableBuilder, add};

/// Permanent faults.
const STAYS: [Mishap; 6] = [
    Status(400, "InvalidRequest"),
    Status(401, "Unauthorized"),
    Status(403, "AccessDenied"),
    Status(404, "NoSuchBucket"),
    Status(409, "OperationAborted"),
    Status(412, "PreconditionFailed"),
];

/// Default options.
const RETRIES: usize = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const RETRY_FOR: Duration = Duration::from_secs(60);
/// A timer may fire within the millisecond after it is due.
const TICK: Duration = Duration::from_millis(1);

const LIST: &str = "prefix=";
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

/// The pauses between attempts, verified against the settings.
fn pauses(attempts: &[Attempt], how: &str) -> Vec<Duration> {
    let pairs = attempts.iter().zip(attempts.iter().skip(1));
    let pauses: Vec<Duration> = pairs
        .map(|(failed, next)| next.started.saturating_sub(failed.ended))
        .collect();
    for (number, pause) in pauses.iter().enumerate() {
        let longest = if number == 0 { FIRST_PAUSE } else { LONGEST_PAUSE };
        assert!(
            (FIRST_PAUSE..=longest + TICK).contains(pause),
            "{how}: the pause {number} is {pause:?}"
        );
    }
    pauses
}

fn assert_store_failed(error: &Error, how: &str) {
    reveals_no_secret(error);
    assert_eq!(error.kind(), ErrorKind::StorageError, "{how}: {error}");
    assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
}

#[tokio::test(start_paused = true)]
async fn failed_requests_are_retried_up_to_the_configured_number() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            for (retries, expected) in [("", RETRIES), ("0", 0), ("1", 1), ("40", 40)] {
                let more = [("max_retries", retries)];
                let more = if retries.is_empty() { &[] } else { &more[..] };
                let how = format!("{}, {mishap:?}, max_retries {retries:?}", service.0);
                let (network, location) = table(service, more)?;
                network.meets(Trouble::new(mishap, "GET", LIST));
                assert_store_failed(&open(&location).await.expect_err(&how), &how);
                let attempts = network.attempts("GET", LIST);
                assert_eq!(attempts.len(), expected + 1, "{how}");
                let waited: Duration = pauses(&attempts, &how).iter().sum();
                assert!(expected > RETRIES || waited <= RETRY_FOR, "{how}: {waited:?}");
                let last_word = attempts.last().map(|attempt| attempt.ended - attempt.started);
                let until_given_up = Duration::from_secs(if mishap == Silence { 30 } else { 0 });
                assert!(
                    last_word.is_some_and(|time| time >= until_given_up && time <= until_given_up + TICK),
                    "{how}: {last_word:?}"
                );
            }
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_a_timeout_nothing_is_retried() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            let how = format!("{}, {mishap:?}", service.0);
            let (network, location) = table(service, &[("retry_timeout", "0s")])?;
            network.meets(Trouble::new(mishap, "GET", LIST));
            assert_store_failed(&open(&location).await.expect_err(&how), &how);
            assert_eq!(network.attempts("GET", LIST).len(), 1, "{how}");
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn permanent_failures_are_not_retried() -> Result<()> {
    for service in SERVICES {
        for mishap in STAYS {
            for request in [LIST, "_delta_log/00000000000000000000.json"] {
                let how = format!("{}, {mishap:?} at {request}", service.0);
                let (network, location) = table(service, &[])?;
                network.meets(Trouble::new(mishap, "GET", request));
                let error = open(&location).await.expect_err(&how);
                reveals_no_secret(&error);
                // A listed but missing file may be damage of the log.
                let is_absent =
                    mishap == Status(404, "NoSuchBucket") && error.kind() == ErrorKind::CorruptLog;
                if !is_absent {
                    assert_store_failed(&error, &how);
                }
                assert_eq!(network.attempts("GET", request).len(), 1, "{how}");
            }
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn requests_that_finish_in_time_are_not_retried() -> Result<()> {
    for service in SERVICES {
        for mishap in MAY_PASS {
            for request in [LIST, COMMIT, "_last_checkpoint"] {
                let how = format!("{}, {mishap:?} at {request}", service.0);
                let (network, location) = table(service, &[])?;
                put_commit(&network, 1, &[add("a", None), add("b", None)]);
                network.meets(Trouble::new(mishap, "GET", request).requests(0..RETRIES));
                let snapshot = open(&location).await?;
                assert_eq!(
                    (
                        snapshot.version().as_i64(),
                        snapshot.num_files(),
                        snapshot.warnings()
                    ),
                    (1, 2, &[][..]),
                    "{how}"
                );
                let attempts = network.attempts("GET", request);
                assert_eq!(pauses(&attempts, &how).len(), RETRIES, "{how}");
            }
        }
    }
    Ok(())
}

/// The rest of an interrupted body is fetched; a body that is silently too short or too long is not accepted as a
/// commit.
#[tokio::test(start_paused = true)]
async fn a_body_is_whole_or_an_error() -> Result<()> {
    for service in SERVICES {
        for (mishap, which) in [
            (BreaksOff, 0..2),
            (BreaksOff, 0..usize::MAX),
            (Short, 0..1),
            (Short, 0..usize::MAX),
            (Long, 0..1),
            (Long, 0..usize::MAX),
        ] {
            for request in [LIST, COMMIT] {
                let how = format!("{}, {mishap:?} at {request}, {which:?}", service.0);
                let (network, location) = table(service, &[])?;
                put_commit(&network, 1, &[add("a", None), add("b", None)]);
                network.meets(Trouble::new(mishap, "GET", request).requests(which.clone()));
                match open(&location).await {
                    Ok(snapshot) => assert_eq!(
                        (snapshot.version().as_i64(), snapshot.num_files()),
                        (1, 2),
                        "{how}"
                    ),
                    Err(error) => {
                        assert_store_failed(&error, &how);
                        assert!(
                            (mishap, request, which.end) != (BreaksOff, COMMIT, 2),
                            "{how}: the rest was not fetched: {error}"
                        );
                    }
                }
                assert!(network.attempts("GET", request).len() <= RETRIES + 1, "{how}");
            }
        }
    }
    Ok(())
}
