//! Appends on a failing store: every request in turn, with every fault. The result is one commit, no commit and an
//! error, or an error that the outcome is unknown.

use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::transaction::Committed;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_storage::clock::Deadline;
use deltaic_storage::store_error;
use deltaic_testkit::facts::live_files;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::listing_form::ListingForm;
use deltaic_testkit::own_commits::{an_append, commit_to};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};

async fn append_to(snapshot: &Snapshot) -> Result<Committed> {
    append_file(snapshot, "ours").await
}

async fn append_file(snapshot: &Snapshot, path: &str) -> Result<Committed> {
    let mut transaction = commit_to(snapshot)?;
    // A slow request exceeds the default deadline of a commit.
    transaction.options.deadline = Some(Deadline::after(Duration::MAX));
    transaction.options.post_commit = PostCommitPolicy::none();
    transaction.proposal.adds = an_append(path).adds;
    transaction.commit().await
}

/// The versions whose commits contain one of our files.
async fn ours(table: &TableBuilder) -> Result<Vec<i64>> {
    let newest = table.open().await?.version().as_i64();
    let mut found = Vec::new();
    for version in 0..=newest {
        let text = table
            .location()
            .read(&format!("_delta_log/{version:020}.json"))
            .await;
        let text = text.map_err(|error| store_error(&error, "a commit that is listed"))?;
        if String::from_utf8_lossy(&text).contains("\"ours") {
            found.push(version);
        }
    }
    Ok(found)
}

/// The result of an append agrees with the table.
async fn assert_honest(table: &TableBuilder, outcome: Result<Committed>, how: &str) -> Result<()> {
    let found = ours(table).await?;
    match outcome {
        Ok(committed) => {
            assert_eq!(found, [committed.version.as_i64()], "{how}");
            assert!(
                live_files(&table.open().await?)
                    .await?
                    .keys()
                    .any(|(path, _)| path == "ours")
            );
        }
        Err(error) if error.kind() == ErrorKind::CommitUnknown => {
            assert!(found.len() <= 1, "{how}: {found:?}");
            assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
        }
        Err(error) => {
            assert_eq!(found, [0; 0], "{how}: {error}");
            // A file that exists for a put and not for a get may be a folder.
            let known = [ErrorKind::StorageError, ErrorKind::CorruptLog];
            assert!(known.contains(&error.kind()), "{how}: {error}");
            assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
        }
    }
    Ok(())
}

/// protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
#[tokio::test(start_paused = true)]
async fn an_append_that_meets_a_fault_states_what_is_so() -> Result<()> {
    let faults = Fault::OF_READS.into_iter().chain([Fault::AnswerLost]);
    for fault in faults {
        for winning_commits in [0, 1, 3] {
            for number in 0.. {
                let mut was_met = false;
                for until in [number + 1, number + 2, usize::MAX] {
                    let how =
                        format!("{fault:?} at the requests {number}..{until}, {winning_commits} winners");
                    let mut table = TableBuilder::new();
                    table.commit(TableBuilder::first_actions()).await?;
                    let snapshot = table.open().await?;
                    for winning_commit in 0..winning_commits {
                        table
                            .commit(vec![add(&format!("theirs{winning_commit}"), None)])
                            .await?;
                    }
                    table.scripted().fail(Rule::new(fault).requests(number..until));
                    let outcome = append_to(&snapshot).await;
                    was_met |= table.scripted().faults_met() > 0;
                    table.scripted().heal();
                    assert!(fault != Fault::Slow || outcome.is_ok(), "{how}");
                    assert_honest(&table, outcome, &how).await?;
                }
                if !was_met {
                    assert!(number > 1, "an append makes requests");
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Missing permissions are reported; nothing is partially done.
#[tokio::test]
async fn a_right_that_is_missing_is_reported() -> Result<()> {
    use RequestKind::{Get, Head, List, ListFolder, ListFrom, Put};
    for (kinds, may_open, may_append) in [
        (&[List, ListFolder, ListFrom][..], false, true),
        (&[Get, Head][..], false, true),
        (&[Put][..], true, false),
    ] {
        let how = format!("without the right to {kinds:?}");
        let mut table = TableBuilder::new();
        table.commit(TableBuilder::first_actions()).await?;
        let snapshot = table.open().await?;
        table
            .scripted()
            .fail(Rule::new(Fault::PermissionDenied).of(kinds));
        let opened = table.open().await;
        assert_eq!(opened.is_ok(), may_open, "{how}");
        let outcome = append_to(&snapshot).await;
        assert_eq!(outcome.is_ok(), may_append, "{how}");
        for error in [opened.err(), outcome.as_ref().err().cloned()]
            .into_iter()
            .flatten()
        {
            assert_eq!(error.kind(), ErrorKind::StorageError, "{how}: {error}");
            assert!(error.to_string().contains("permission denied"), "{how}: {error}");
        }
        table.scripted().heal();
        assert_honest(&table, outcome, &how).await?;
    }
    Ok(())
}

/// An append relies on the responses to puts and never on a listing: it commits once, after winning commits that no
/// listing shows.
#[tokio::test]
async fn a_stale_listing_makes_no_second_version() -> Result<()> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    table.commit(vec![add("a", None)]).await?;
    for version in [2, 3] {
        table.commit(vec![add(&format!("theirs{version}"), None)]).await?;
        table.scripted().set_listing(ListingForm {
            without: (2..9).map(|version| format!("{version:020}")).collect(),
            ..ListingForm::default()
        });
    }
    let snapshot = table.open().await?;
    assert_eq!(snapshot.version().as_i64(), 1);
    let first = append_to(&snapshot).await?;
    let again = append_file(&snapshot.refresh().await?, "ours-again").await?;
    assert_eq!((first.version.as_i64(), again.version.as_i64()), (4, 5));
    table.scripted().heal();
    assert_eq!(ours(&table).await?, [4, 5]);
    Ok(())
}
