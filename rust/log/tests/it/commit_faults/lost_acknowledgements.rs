//! Lost responses in many reproducible runs: no commit is duplicated, and no successful commit is reported as failed.

use std::future::{Future, poll_fn};
use std::io::Write;
use std::pin::pin;
use std::task::Poll;

use deltaic_protocol::Result;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::test_seed::test_seed;
use deltaic_testkit::untrusted::mutation::Chance;

use super::table::{commit, found, open, table, win};

const RUNS: u64 = 128;

/// Operations per run.
const OPERATIONS: i64 = 3;

/// Each response to a put may be lost, whether or not it was executed, and others win in between: every operation
/// succeeds at the first attempt and is committed once.
#[tokio::test(start_paused = true)]
async fn a_store_that_loses_answers_doubles_nothing_and_fails_nothing() -> Result<()> {
    let (mut doubled, mut failed, mut lost) = (0, 0, 0);
    let first = test_seed();
    for run in 0..RUNS {
        let chance = &mut Chance::from_number(first.wrapping_add(run));
        let mut table = table().await?;
        let old = open(&table.location()).await?;
        win(&mut table, i64::try_from(chance.below(4)).unwrap_or(0)).await?;
        // Fewer consecutive losses than the limit after which a commit fails.
        for put in 0..40 {
            let fault = [None, Some(Fault::AnswerLost), Some(Fault::RequestLost)][chance.below(3)];
            if let Some(fault) = fault.filter(|_| put % 8 != 7) {
                let rule = Rule::new(fault).of(&[RequestKind::Put]).requests(put..put + 1);
                table.scripted().fail(rule);
            }
        }
        for number in 1..=OPERATIONS {
            let how = format!("run {run}, operation {number}");
            // Writers have read older and newer versions.
            let read = match chance.below(2) {
                0 if number == 1 => old.clone(),
                _ => open(&table.location()).await?,
            };
            let before = table.scripted().faults_met();
            // A writer recognizes its own commit: it reports a commit, not a skipped operation.
            let outcome = commit(&read, number, None).await;
            failed += usize::from(!outcome.is_ok_and(|outcome| !outcome.skipped));
            lost += table.scripted().faults_met() - before;
            doubled += found(&table.location(), number, None, &how)
                .await?
                .len()
                .abs_diff(1);
        }
    }
    assert_eq!((doubled, failed), (0, 0), "{lost} answers were lost");
    assert!(lost > 256, "only {lost} answers were lost");
    Ok(())
}

/// The state of an operation when its writer is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Splitting {
    /// It is done, and the writer does not receive the result.
    Done,
    /// It is still running.
    UnderWay,
}

/// Runs a future until it has been pending this number of times, then drops it.
async fn cut_off<T>(work: impl Future<Output = T>, waits: usize, cut: Splitting) -> Option<T> {
    let mut work = pin!(work);
    let mut left = waits;
    poll_fn(|context| {
        if left == 0 && cut == Splitting::Done {
            return Poll::Ready(None);
        }
        match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => {
                left -= 1;
                Poll::Pending
            }
        }
    })
    .await
}

/// On a local file system the writer itself is lost at any await point; the next one runs the same operation again,
/// while the last step of the previous one may still be running: how many writers had committed when they were lost is
/// printed, since it depends on the threads of the disk.
#[tokio::test]
async fn writers_that_are_lost_on_a_file_system_double_nothing_and_fail_nothing() -> Result<()> {
    let (mut doubled, mut failed, mut lost, mut done) = (0, 0, 0, 0);
    let first = test_seed();
    for run in 0..RUNS {
        let chance = &mut Chance::from_number(first.wrapping_add(run));
        let folder = tempfile::tempdir().expect("a folder can be made");
        let location = table().await?.copy_to(folder.path()).await?;
        for number in 1..=OPERATIONS {
            let how = format!("run {run}, operation {number}");
            let mut read = open(&location).await?;
            let mut is_lost = false;
            for _ in 0..chance.below(4) {
                let cut = [Splitting::Done, Splitting::UnderWay][chance.below(2)];
                let ended = cut_off(commit(&read, number, None), chance.below(3), cut).await;
                is_lost = ended.is_none();
                lost += usize::from(is_lost);
                failed += usize::from(matches!(ended, Some(Err(_))));
                if !is_lost {
                    break;
                }
                if chance.below(2) == 0 {
                    read = open(&location).await?;
                }
            }
            match commit(&read, number, None).await {
                Ok(committed) => done += usize::from(is_lost && committed.skipped),
                Err(_) => failed += 1,
            }
            let times = found(&location, number, None, &how).await?.len();
            doubled += times.abs_diff(1);
        }
    }
    assert_eq!((doubled, failed), (0, 0), "{lost} writers were lost");
    let _ = writeln!(
        std::io::stderr(),
        "{lost} writers were lost, {done} of them had committed"
    );
    Ok(())
}
