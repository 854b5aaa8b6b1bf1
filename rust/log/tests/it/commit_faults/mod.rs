//! A complete commit on a failing store: removes, adds, row ids and timestamps rebased over two winning commits, every
//! request in turn with every fault; writers cut off between any two requests; and lost responses.
//!
//! In every case the table opens, the reported result is correct, and nothing is partially or doubly committed.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

mod lost_acknowledgements;
mod table;

use std::sync::Arc;
use std::time::Duration;

use deltaic_log::transaction::Committed;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_testkit::facts::live_files;
use deltaic_testkit::fault::{Fault, Rule};

use self::table::{commit, found, names, open, table, win};

/// The reported result is correct, and running the operation again results in exactly one commit.
async fn assert_honest(
    location: &Arc<TableLocation>,
    outcome: &Result<Committed>,
    winning_commits: i64,
    how: &str,
) -> Result<()> {
    let takes = Some("old1");
    let before = found(location, 7, takes, how).await?;
    let is_unknown = |kind: ErrorKind| kind == ErrorKind::CommitUnknown;
    match outcome {
        Ok(committed) => assert_eq!(before, [committed.version.as_i64()], "{how}: {committed:?}"),
        Err(error) if is_unknown(error.kind()) => assert!(before.len() <= 1, "{how}: {before:?}"),
        Err(error) => {
            assert_eq!(before, [0; 0], "{how}: {error}");
            let known = [ErrorKind::StorageError, ErrorKind::CorruptLog];
            assert!(known.contains(&error.kind()), "{how}: {error}");
        }
    }
    if let Err(error) = outcome {
        assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
    }
    let again = commit(&open(location).await?, 7, takes).await?;
    assert_eq!(again.skipped, !before.is_empty(), "{how}");
    assert_eq!(found(location, 7, takes, how).await?.len(), 1, "{how}");
    let files = live_files(&open(location).await?).await?;
    let paths: Vec<String> = files.into_keys().map(|(path, _)| path).collect();
    let mut expected: Vec<String> = (0..winning_commits)
        .map(|number| format!("theirs{number}"))
        .collect();
    expected.extend(names(7));
    expected.push("old2".to_owned());
    expected.sort();
    assert_eq!(paths, expected, "{how}");
    Ok(())
}

/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test(start_paused = true)]
async fn a_rebased_commit_that_meets_a_fault_is_whole_or_not_there() -> Result<()> {
    for fault in Fault::OF_READS.into_iter().chain([Fault::AnswerLost]) {
        for winning_commits in [0, 2] {
            for number in 0.. {
                let mut was_met = false;
                for until in [number + 1, number + 2, usize::MAX] {
                    let how =
                        format!("{fault:?} at the requests {number}..{until}, {winning_commits} winners");
                    let mut table = table().await?;
                    let snapshot = open(&table.location()).await?;
                    win(&mut table, winning_commits).await?;
                    table.scripted().fail(Rule::new(fault).requests(number..until));
                    let outcome = commit(&snapshot, 7, Some("old1")).await;
                    was_met |= table.scripted().faults_met() > 0;
                    table.scripted().heal();
                    assert!(fault != Fault::Slow || outcome.is_ok(), "{how}: {outcome:?}");
                    // No other writer uses this application id: a skip would mean that the own commit was taken for
                    // another's.
                    assert!(!outcome.as_ref().is_ok_and(|outcome| outcome.skipped), "{how}");
                    assert_honest(&table.location(), &outcome, winning_commits, &how).await?;
                }
                if !was_met {
                    assert!(
                        number > 2 * usize::try_from(winning_commits).unwrap_or(0),
                        "a commit makes requests"
                    );
                    break;
                }
            }
        }
    }
    Ok(())
}

/// A writer that is lost between two requests, the last of them executed or not, leaves a complete commit or none.
#[tokio::test(start_paused = true)]
async fn a_writer_that_is_cut_off_leaves_nothing_in_part() -> Result<()> {
    const REQUEST: Duration = Duration::from_secs(1);
    for winning_commits in [0, 2] {
        for number in 0.. {
            let how = format!("cut off in the request {number}, {winning_commits} winners");
            let mut table = table().await?;
            let snapshot = open(&table.location()).await?;
            win(&mut table, winning_commits).await?;
            table.scripted().set_latency(REQUEST);
            let time = REQUEST * number + REQUEST / 2;
            let outcome = tokio::time::timeout(time, commit(&snapshot, 7, Some("old1"))).await;
            table.scripted().set_latency(Duration::ZERO);
            let before = found(&table.location(), 7, Some("old1"), &how).await?;
            assert!(before.len() <= 1, "{how}");
            let has_ended = outcome.is_ok();
            // The cut-off writer has no result, and runs the operation again.
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(_) => commit(&open(&table.location()).await?, 7, Some("old1"))
                    .await
                    .map(|again| {
                        assert_eq!(again.skipped, !before.is_empty(), "{how}");
                        let version = found_once(&before, &again);
                        Committed { version, ..again }
                    }),
            };
            assert_honest(&table.location(), &outcome, winning_commits, &how).await?;
            if has_ended {
                assert!(i64::from(number) > 2 * winning_commits, "a commit makes requests");
                break;
            }
        }
    }
    Ok(())
}

/// The version of a commit that was made before, or now.
fn found_once(before: &[i64], now: &Committed) -> Version {
    let version = before.first().map(|version| Version::try_new(*version));
    version.transpose().expect("a version").unwrap_or(now.version)
}
