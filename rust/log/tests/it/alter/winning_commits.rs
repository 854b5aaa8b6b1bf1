//! Changes of a table after a winning commit: planned again, already done, or conflicts.

use deltaic_log::transaction::{CommitOptions, alter};
use deltaic_protocol::change::TableChange;
use deltaic_protocol::{Conflict, ErrorKind, Result};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::add;
use serde_json::json;

use super::changes::{change, column, new_column, options, set, strict};
use super::table::{table, their_metadata};

#[tokio::test]
async fn changes_are_recreated_after_others_or_conflict() -> Result<()> {
    for again in [true, false] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![their_metadata(json!({"theirs": "1"}))]).await?;
        let how = if again { options() } else { strict() };
        let ended = alter(&snapshot, &[set("ours", "1")], &how, None).await;
        let fresh = table.open().await?;
        if !again {
            let kind = ended.err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::CommitConflict(Conflict::MetadataChanged)));
            assert_eq!(fresh.version().as_i64(), 1);
            continue;
        }
        let committed = ended?;
        assert_eq!(
            (committed.version.as_i64(), committed.conflicts_resolved.len()),
            (2, 1)
        );
        for key in ["theirs", "ours"] {
            assert_eq!(fresh.metadata().property(key), Some("1"));
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_change_that_a_winning_commit_has_made_or_forbids_is_checked_again() -> Result<()> {
    let (mut table, snapshot) = table(&[], json!({})).await?;
    let mut theirs = their_metadata(json!({}));
    let schema = snapshot.metadata().schema_string.replace(
        "]}",
        r#",{"name":"a","type":"string","nullable":true,"metadata":{}}]}"#,
    );
    theirs["metaData"]["schemaString"] = json!(schema);
    table.commit(vec![theirs]).await?;
    let error = change(&snapshot, &[new_column("a")])
        .await
        .expect_err("it is there by now");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    table.commit(vec![their_metadata(json!({"k": "v"}))]).await?;
    let committed = change(&snapshot, &[set("k", "v")]).await?;
    assert_eq!((committed.skipped, committed.version.as_i64()), (true, 2));
    assert_eq!(table.open().await?.version().as_i64(), 2);
    Ok(())
}

/// The second winner is read, not met by a proposal.
#[tokio::test]
async fn lost_proposals_are_counted_over_all_rounds() -> Result<()> {
    for (attempts, wins) in [(1, false), (2, true), (3, true)] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![add("theirs", None)]).await?;
        table.commit(vec![their_metadata(json!({"theirs": "1"}))]).await?;
        let how = CommitOptions {
            max_attempts: attempts,
            ..options()
        };
        let ended = alter(&snapshot, &[set("ours", "1")], &how, None).await;
        assert_eq!(ended.is_ok(), wins, "{attempts}");
        if let Err(error) = ended {
            assert!(matches!(error.kind(), ErrorKind::CommitConflict(_)), "{error}");
        }
    }
    Ok(())
}

/// The first in-commit timestamp must be later than the file of the commit before it, so the time of that file must be known.
///
/// protocol: writer-requirements-for-in-commit-timestamps.2
#[tokio::test]
async fn in_commit_timestamps_are_not_enabled_after_a_winning_commit_of_unknown_time() -> Result<()> {
    let (mut table, snapshot) = table(&[], json!({})).await?;
    table.commit(vec![add("theirs", None)]).await?;
    let time_of_winning_commit = Rule::new(Fault::PermissionDenied)
        .of(&[RequestKind::Head])
        .at("01.json");
    table.scripted().fail(time_of_winning_commit);
    let enabled = set("delta.enableInCommitTimestamps", "true");
    let error = change(&snapshot, &[enabled])
        .await
        .expect_err("the time is not known");
    assert_eq!(error.kind(), ErrorKind::StorageError, "{error}");
    assert_eq!(table.open().await?.version().as_i64(), 1);
    Ok(())
}

#[tokio::test]
async fn an_append_remains_in_the_way_of_no_change_that_reads_no_row() -> Result<()> {
    for how in [options(), strict()] {
        let (mut table, snapshot) = table(&[], json!({})).await?;
        table.commit(vec![add("theirs", None)]).await?;
        let committed = alter(&snapshot, &[new_column("a")], &how, None).await?;
        assert_eq!(
            (committed.version.as_i64(), committed.conflicts_resolved.len()),
            (2, 1)
        );
        assert_eq!(table.open().await?.num_files(), 1);
    }
    Ok(())
}

/// The metadata alone do not show that both changes exclude each other.
#[tokio::test]
async fn a_column_is_not_dropped_by_which_a_winning_commit_clusters_the_table() -> Result<()> {
    let (table, snapshot) = table(&[], json!({})).await?;
    let mapped = [set("delta.columnMapping.mode", "name"), new_column("a")];
    change(&snapshot, &mapped).await?;
    let both = table.open().await?;
    change(&both, &[TableChange::SetClustering(vec![column("a")])]).await?;
    let drop = [TableChange::DropColumn(column("a"))];
    let raced = alter(&both, &drop, &strict(), None)
        .await
        .err()
        .map(|error| error.kind());
    assert!(matches!(raced, Some(ErrorKind::CommitConflict(_))), "{raced:?}");
    let error = change(&both, &drop)
        .await
        .expect_err("the table is clustered by it");
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    Ok(())
}
