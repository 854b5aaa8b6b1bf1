//! Deadlines of transactions, on a paused clock.

use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{Committed, Operation, Transaction};
use deltaic_protocol::actions::Add;
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::{Conflict, ErrorKind, Result};
use deltaic_storage::clock::Deadline;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};

/// Latency of a request.
const LATENCY: Duration = Duration::from_millis(30);

async fn append_until(snapshot: &Snapshot, deadline: Option<Duration>) -> Result<Committed> {
    let mut transaction = Transaction::try_new(snapshot, Operation::Write, ensure_appendable)?;
    transaction.options.deadline = deadline.map(Deadline::after);
    transaction.proposal.adds.push(Add {
        path: "ours".to_owned(),
        size: 1,
        data_change: true,
        ..Add::default()
    });
    transaction.commit().await
}

/// A table, the snapshot that was read, and winning commits after it.
async fn made(winning_commits: usize) -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    let snapshot = table.open().await?;
    for winning_commit in 0..winning_commits {
        table
            .commit(vec![add(&format!("theirs{winning_commit}"), None)])
            .await?;
    }
    table.scripted().set_latency(LATENCY);
    table.scripted().forget();
    Ok((table, snapshot))
}

#[tokio::test(start_paused = true)]
async fn after_its_deadline_no_version_is_tried() -> Result<()> {
    const WINNERS: usize = 40;
    // A lost version costs a put and a read, and from the third on a pause.
    for (deadline, text, most) in [
        (Duration::ZERO, "before the commit was proposed", 0),
        (LATENCY * 2, "another writer had committed a version", 1),
        (LATENCY * 10, "consecutive versions", 5),
    ] {
        let (table, snapshot) = made(WINNERS).await?;
        let error = append_until(&snapshot, Some(deadline))
            .await
            .expect_err("there is no time");
        assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
        assert!(error.to_string().contains("the deadline passed"), "{error}");
        assert!(error.to_string().contains(text), "{error}");
        assert!(
            error
                .hint_text()
                .is_some_and(|hint| hint.contains("later deadline")),
            "{error}"
        );
        let puts = table.scripted().report().count(RequestKind::Put);
        assert!(puts <= most && (puts > 0) == (most > 0), "{puts} of {most}");
        let newest = snapshot.refresh().await?;
        assert_eq!(newest.num_files(), WINNERS);
    }
    for deadline in [None, Some(Duration::from_secs(3_600)), Some(Duration::MAX)] {
        let (_, snapshot) = made(WINNERS).await?;
        let committed = append_until(&snapshot, deadline).await?;
        assert!(committed.conflicts_resolved.len() >= WINNERS);
    }
    Ok(())
}

/// A proposal that may still succeed is not reported as a conflict, however late it is.
#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_remains_unknown_after_the_deadline() -> Result<()> {
    let (table, snapshot) = made(0).await?;
    let lost = Rule::new(Fault::RequestLost).of(&[RequestKind::Put]);
    table.scripted().fail(lost);
    let error = append_until(&snapshot, Some(LATENCY * 2))
        .await
        .expect_err("no answer comes");
    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{error}");
    assert!(error.to_string().contains("the deadline passed"), "{error}");
    Ok(())
}
