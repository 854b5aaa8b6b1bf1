//! Commits: the loop of an append against winners.

use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{Append, UserInfo, append};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result};
use deltaic_testkit::fault::Fault;
use deltaic_testkit::own_commits;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::json;

fn an_append(path: &str, max_attempts: usize) -> Append {
    Append {
        max_attempts,
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
async fn an_append_goes_behind_winners_that_are_no_conflict() -> Result<()> {
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

/// Who is far behind, because many others write, reads on to the newest version before it proposes again: to propose each
/// version and to pause behind each winner is to fall further behind, for as long as others write.
#[tokio::test(start_paused = true)]
async fn who_is_far_behind_catches_up_before_the_next_proposal() -> Result<()> {
    const WINNERS: i64 = 100;
    let (mut table, snapshot) = table().await?;
    for number in 0..WINNERS {
        table.commit(vec![add(&number.to_string(), None)]).await?;
    }
    table.scripted().forget();
    let begun = tokio::time::Instant::now();
    let committed = append(&snapshot, &an_append("ours", 1_000)).await?;
    assert_eq!(committed.version.as_i64(), WINNERS + 1);
    assert_eq!(committed.conflicts_resolved.len(), 100);
    let proposals = table.scripted().report().count(RequestKind::Put);
    assert!(proposals <= 4, "{proposals} proposals");
    // The clock stands still but for pauses: there was one.
    let paused = begun.elapsed();
    assert!(paused.as_millis() < 10, "{paused:?}");
    Ok(())
}

#[tokio::test]
async fn a_changed_protocol_or_metadata_is_a_conflict() -> Result<()> {
    let from_the_future = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7,
        "writerFeatures": ["fromTheFuture"]}});
    let mut named = TableBuilder::first_actions().swap_remove(1);
    named["metaData"]["name"] = json!("another name");
    for (winner, conflict) in [
        (from_the_future, Conflict::ProtocolChanged),
        (named, Conflict::MetadataChanged),
    ] {
        let (mut table, snapshot) = table().await?;
        table.commit(vec![winner]).await?;
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

#[tokio::test]
async fn attempts_end() -> Result<()> {
    let (mut table, snapshot) = table().await?;
    for path in ["a", "b", "c"] {
        table.commit(vec![add(path, None)]).await?;
    }
    let lost = append(&snapshot, &an_append("ours", 2)).await.err();
    assert_eq!(
        lost.map(|error| error.kind()),
        Some(ErrorKind::CommitConflict(Conflict::ConcurrentWrite))
    );
    Ok(())
}

#[tokio::test]
async fn the_users_own_keys_stand_beside_ours_and_never_for_them() -> Result<()> {
    let (table, snapshot) = table().await?;
    let mut ours = an_append("ours", 1);
    ours.user = UserInfo::parse(Some(r#"{"userMetadata":"why"}"#))?;
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

/// An answer that is lost is no conflict with oneself, and a request that is lost is made again: one commit, either way.
/// Others have returned an error although the commit had landed (delta-kernel-rs#2717, delta-kernel-rs#3070,
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

/// Attempts are counted by winners: an answer that is lost is none.
#[tokio::test]
async fn a_lost_request_uses_up_no_attempt() -> Result<()> {
    let (table, snapshot) = table().await?;
    table.scripted().script_next(&[Fault::RequestLost; 3], &[]);
    let committed = append(&snapshot, &an_append("ours", 1)).await?;
    assert_eq!(committed.version.as_i64(), 1);
    Ok(())
}

/// Where the outcome cannot be learnt the error says so, whatever came last: the files may be in the table.
#[tokio::test]
async fn an_outcome_that_cannot_be_learnt_is_told() -> Result<()> {
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
