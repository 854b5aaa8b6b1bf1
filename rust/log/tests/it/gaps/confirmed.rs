//! What proves that a commit is in the table after others wrote a checkpoint over it: commits that add no file.

use std::sync::Arc;
use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::transaction::{Committed, Proposal, create};
use deltaic_protocol::actions::{Add, DomainMetadata, Remove, Txn};
use deltaic_protocol::{ErrorKind, Result};
use deltaic_storage::clock::now_ms;
use deltaic_testkit::own_commits::{a_new_table, an_append, append_to, commit_to, without_maintenance};
use deltaic_testkit::table_builder::{TableBuilder, add};
use object_store::ObjectStoreExt;
use serde_json::json;

use super::others::{Others, Splitting, StalledPut, open, others_commit_and_cut};

/// What a commit does that adds no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Remove,
    Metadata,
    Domain,
    DomainRemoved,
    Txn,
}

const CHANGES: [Change; 5] = [
    Change::Remove,
    Change::Metadata,
    Change::Domain,
    Change::DomainRemoved,
    Change::Txn,
];

/// The actions of a change of a version, at a time in milliseconds since the epoch.
fn proposal(change: Change, held: &Snapshot, now_ms: i64) -> Proposal {
    let mut proposal = Proposal::default();
    let domain = |name: &str, removed: bool| DomainMetadata {
        domain: name.to_owned(),
        configuration: "{}".to_owned(),
        removed,
    };
    match change {
        Change::Remove => {
            let first = Add {
                path: "f".to_owned(),
                ..Add::default()
            };
            proposal.removes.push(Remove::of(&first, now_ms));
        }
        Change::Metadata => {
            let mut metadata = held.metadata().clone();
            let property = ("mine".to_owned(), Some("1".to_owned()));
            metadata.configuration.extend([property]);
            proposal.metadata = Some(metadata);
        }
        Change::Domain => proposal.domains.push(domain("mine", false)),
        Change::DomainRemoved => proposal.domains.push(domain("first", true)),
        Change::Txn => proposal.txns.push(Txn {
            app_id: "mine".to_owned(),
            version: 7,
            last_updated: Some(now_ms),
        }),
    }
    proposal
}

/// Version 1 of a table with a file and a domain.
async fn table() -> Result<(TableBuilder, Snapshot)> {
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7,
        "writerFeatures": ["domainMetadata"]}});
    let second = vec![
        add("f", None),
        json!({"domainMetadata": {"domain": "first", "configuration": "{}", "removed": false}}),
    ];
    let table = TableBuilder::of(&[first, second]).await?;
    let held = table.open().await?;
    Ok((table, held))
}

const NOW_MS: i64 = 4_000_000_000_000;

/// A stall in which no cleanup deletes a new commit, and one in which it may.
const SHORT: Duration = Duration::from_secs(10);
const LONG: Duration = Duration::from_secs(2 * 3_600);

/// Commits a change by a put that stalls, before or after which others do something.
async fn commit_slowly(
    held: &Snapshot,
    change: Change,
    stall: Duration,
    [before, after]: [Others; 2],
) -> Result<Committed> {
    let committer = StalledPut {
        location: Arc::clone(held.location()),
        before,
        after,
        stall,
    };
    let mut transaction = commit_to(held)?;
    transaction.committer = &committer;
    transaction.options.post_commit = PostCommitPolicy::none();
    transaction.proposal = proposal(change, held, NOW_MS);
    transaction.commit().await
}

/// Other writers commit and write a checkpoint after the commit: it is acknowledged, even if its file was cleaned up.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(start_paused = true)]
async fn a_commit_without_new_files_is_found_in_the_checkpoint_after_it() -> Result<()> {
    for change in CHANGES {
        for (cut, commits) in [
            (Splitting::ByAnotherTool, 1),
            (Splitting::ByAnotherTool, 3),
            (Splitting::Nothing, 3),
        ] {
            let how = format!("{change:?}, {cut:?}, {commits} commits");
            let (_table, held) = table().await?;
            let location = Arc::clone(held.location());
            let after = Others::doing(async move { others_commit_and_cut(&location, commits, cut).await });
            let ended = commit_slowly(&held, change, SHORT, [Others::default(), after]).await;
            // While the commit's file is there, another commit may have made the same change before the name was free.
            let is_marked = matches!(change, Change::Remove | Change::Txn);
            if cut == Splitting::Nothing && !is_marked {
                let error = ended.expect_err(&how);
                assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
            } else {
                assert_eq!(ended?.version.as_i64(), 2, "{how}");
            }
        }
    }
    Ok(())
}

/// Another writer commits the same change as this version, others continue, and the log is cleaned up before the commit
/// gets the name: it is not acknowledged, although the table looks the same. Both changes may have the same millisecond.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(start_paused = true)]
async fn the_same_change_by_another_writer_verifies_nothing() -> Result<()> {
    for change in CHANGES {
        for (commits, earlier_ms, stall) in [
            (1, 1, SHORT),
            (2, 1, SHORT),
            (9, 1, SHORT),
            (1, 0, LONG),
            (9, 0, LONG),
        ] {
            let how = format!("{change:?}, {commits} commits, {earlier_ms} ms before, stalled for {stall:?}");
            let (_table, held) = table().await?;
            let before = {
                let held = held.clone();
                Others::doing(async move {
                    let mut same = commit_to(&held)?;
                    same.options.post_commit = PostCommitPolicy::none();
                    same.proposal = proposal(change, &held, NOW_MS - earlier_ms);
                    same.commit().await?;
                    others_commit_and_cut(held.location(), commits, Splitting::ByAnotherTool).await
                })
            };
            let ended = commit_slowly(&held, change, stall, [before, Others::default()]).await;
            let error = ended.expect_err(&how);
            assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
        }
    }
    Ok(())
}

fn new_file(path: &str) -> Add {
    an_append(path).adds.remove(0)
}

/// Commits files by a put that stalls, before or after which others do something.
async fn add_slowly(held: &Snapshot, paths: &[&str], [before, after]: [Others; 2]) -> Result<Committed> {
    let committer = StalledPut {
        location: Arc::clone(held.location()),
        before,
        after,
        stall: SHORT,
    };
    let mut transaction = commit_to(held)?;
    transaction.committer = &committer;
    transaction.options.post_commit = PostCommitPolicy::none();
    transaction.proposal.adds = paths.iter().map(|path| new_file(path)).collect();
    transaction.commit().await
}

/// Users name the files that they register: another commit may have added one of them.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(start_paused = true)]
async fn one_of_several_files_verifies_nothing() -> Result<()> {
    let (_table, held) = table().await?;
    let location = Arc::clone(held.location());
    let before = Others::doing(async move {
        append_to(&open(&location).await?, "shared", PostCommitPolicy::none()).await?;
        others_commit_and_cut(&location, 1, Splitting::ByAnotherTool).await
    });
    let ended = add_slowly(&held, &["shared", "ours"], [before, Others::default()]).await;
    let error = ended.expect_err("ours is in no version");
    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{error}");
    Ok(())
}

/// Files that another commit removes again prove the commit by their tombstones, also those of a checkpoint.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(start_paused = true)]
async fn a_commit_is_verified_by_files_that_were_removed_again() -> Result<()> {
    for (paths, cut) in [
        (&["ours"][..], Splitting::Nothing),
        (&["ours", "ours too"], Splitting::Nothing),
        (&["ours"], Splitting::ByAnotherTool),
    ] {
        let (_table, held) = table().await?;
        let location = Arc::clone(held.location());
        let after = Others::doing(async move {
            let newest = open(&location).await?;
            let mut other = commit_to(&newest)?;
            other.options.post_commit = PostCommitPolicy::none();
            other
                .proposal
                .removes
                .push(Remove::of(&new_file("ours"), now_ms()));
            other.commit().await?;
            others_commit_and_cut(&location, 1, cut).await
        });
        let ended = add_slowly(&held, paths, [Others::default(), after]).await;
        assert_eq!(ended?.version.as_i64(), 2, "{paths:?}, {cut:?}");
    }
    Ok(())
}

/// A proposal that stalls while the table is dropped and created again becomes a commit of another table.
#[tokio::test(start_paused = true)]
async fn a_commit_into_a_recreated_table_is_not_acknowledged() -> Result<()> {
    let (table, held) = table().await?;
    let location = Arc::clone(held.location());
    let before = Others::doing(async move {
        for version in 0..2 {
            let path = location.below(&format!("_delta_log/{version:020}.json"))?;
            location.store().delete(&path).await.expect("it is there");
        }
        create(&location, a_new_table(), &without_maintenance()).await?;
        append_to(&open(&location).await?, "new", PostCommitPolicy::none()).await?;
        Ok(())
    });
    let ended = add_slowly(&held, &["ours"], [before, Others::default()]).await;
    let error = ended.expect_err("it is another table");
    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{error}");
    drop(table);
    Ok(())
}

/// A later change of the same thing leaves no proof.
#[tokio::test(start_paused = true)]
async fn a_change_that_others_change_again_is_not_known() -> Result<()> {
    let (_table, held) = table().await?;
    let location = Arc::clone(held.location());
    let after = Others::doing(async move {
        let newest = open(&location).await?;
        let mut other = commit_to(&newest)?;
        other.options.post_commit = PostCommitPolicy::none();
        other.proposal = proposal(Change::Metadata, &newest, NOW_MS);
        if let Some(metadata) = other.proposal.metadata.as_mut() {
            metadata.configuration.remove("mine");
        }
        other.commit().await?;
        others_commit_and_cut(&location, 1, Splitting::ByAnotherTool).await
    });
    let ended = commit_slowly(&held, Change::Metadata, SHORT, [Others::default(), after]).await;
    let error = ended.expect_err("the property has gone");
    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{error}");
    Ok(())
}
