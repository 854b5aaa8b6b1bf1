//! A writer whose table was concurrently dropped and recreated.

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{CommitOptions, alter};
use deltaic_protocol::change::TableChange;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};
use deltaic_testkit::own_commits::{append_to, log_versions};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

/// The first commit of a table with this id; if its commits expire at once, each commit lists the log.
fn first(id: &str, expires: bool) -> Vec<Value> {
    let mut actions = TableBuilder::first_actions();
    actions[1]["metaData"]["id"] = json!(id);
    if expires {
        actions[1]["metaData"]["configuration"] = json!({"delta.logRetentionDuration": "interval 0 days"});
    }
    actions
}

/// A table with this number of files, one per version.
async fn table(id: &str, expires: bool, files: i64) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    table.commit(first(id, expires)).await?;
    for number in 0..files {
        table.commit(vec![add(&format!("{id}-{number}"), None)]).await?;
    }
    Ok(table)
}

/// Deletes a table's log and copies another table's log to its location.
async fn make_anew(table: &TableBuilder, other: &TableBuilder) -> Result<()> {
    for version in log_versions(table, ".json").await? {
        table.delete(&LogPath::commit(Version::try_new(version)?)).await?;
    }
    for (version, actions) in other.commits().iter().enumerate() {
        let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
        let path = format!("_delta_log/{version:020}.json");
        table.put(&path, text.into_bytes()).await?;
    }
    Ok(())
}

/// The error says that nothing was committed, and what to do.
fn assert_refused(error: &Error, how: &str) {
    assert!(
        matches!(error.kind(), ErrorKind::CommitConflict(_)),
        "{how}: {error}"
    );
    assert!(error.hint_text().is_some(), "{how}: {error}");
}

/// On a store, where recently read information is not read again.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_into_a_table_recreated_in_memory() -> Result<()> {
    // Fewer versions, the same number, more, and none at all.
    for versions in [None, Some(1), Some(3), Some(6)] {
        for expires in [true, false] {
            let how = format!("{versions:?} files, commits that expire: {expires}");
            let own = table("mine", expires, 3).await?;
            let held = own.open().await?;
            match versions {
                Some(files) => make_anew(&own, &table("theirs", expires, files).await?).await?,
                None => make_anew(&own, &TableBuilder::new()).await?,
            }
            if !expires && versions.is_none_or(|files| files <= 3) {
                // On a store the next version's name is free, and recently read information is not read again.
                continue;
            }
            let before = log_versions(&own, ".json").await?;
            let ended = append_to(&held, "late", PostCommitPolicy::none()).await;
            let error = ended.expect_err("it is another table");
            assert_refused(&error, &how);
            assert_eq!(
                error.kind(),
                ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
                "{how}"
            );
            assert!(error.context().contains(&("version", 3.into())), "{how}: {error}");
            assert_eq!(log_versions(&own, ".json").await?, before, "{how}");
        }
    }
    Ok(())
}

/// On a disk the check is cheap, so it is done for each commit.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_into_a_table_recreated_on_disk() -> Result<()> {
    for versions in [0, 1, 3, 6] {
        let how = format!("{versions} files");
        let folder = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
        let location = table("mine", false, 3).await?.copy_to(folder.path()).await?;
        let held = Snapshot::load(location.clone(), None, LoadOptions::default()).await?;
        let log = location.below("_delta_log")?;
        let listed = location.store().list_with_delimiter(Some(&log)).await;
        for file in listed.expect("it is listed").objects {
            let gone = object_store::ObjectStoreExt::delete(location.store(), &file.location).await;
            gone.expect("it was there");
        }
        table("theirs", false, versions)
            .await?
            .copy_to(folder.path())
            .await?;
        let ended = append_to(&held, "late", PostCommitPolicy::none()).await;
        assert_refused(&ended.expect_err("it is another table"), &how);
        let now = Snapshot::load(location, None, LoadOptions::default()).await?;
        assert_eq!(now.version().as_i64(), versions, "{how}");
        assert_eq!(now.metadata().id, "theirs", "{how}");
    }
    Ok(())
}

/// Commits to the same table continue, also if its own file was deleted or rewritten.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_table_continues() -> Result<()> {
    for expires in [true, false] {
        let own = table("mine", expires, 3).await?;
        write_checkpoint(&own.open().await?, &CheckpointOptions::default()).await?;
        for version in 0..=3 {
            own.delete(&LogPath::commit(Version::try_new(version)?)).await?;
        }
        let held = own.open().await?;
        let checkpoint = "_delta_log/00000000000000000003.checkpoint.parquet";
        let bytes = own.location().read(checkpoint).await.expect("it is there");
        own.put(checkpoint, bytes.to_vec()).await?;
        let committed = append_to(&held, "late", PostCommitPolicy::none()).await?;
        assert_eq!(committed.version.as_i64(), 4);
    }
    Ok(())
}

fn alone() -> CommitOptions {
    CommitOptions {
        max_attempts: 100,
        post_commit: PostCommitPolicy::none(),
        ..CommitOptions::default()
    }
}

/// A winning commit may replace the table within the same log. The operation is not applied to the replacement.
#[tokio::test(flavor = "multi_thread")]
async fn a_winning_commit_of_another_id_is_another_table() -> Result<()> {
    let mut own = table("mine", false, 1).await?;
    let held = own.open().await?;
    own.commit(first("theirs", false).split_off(1)).await?;
    let named = TableChange::SetName(Some("n".to_owned()));
    for ended in [
        append_to(&held, "late", PostCommitPolicy::none()).await,
        alter(&held, &[named], &alone(), None).await,
    ] {
        let error = ended.expect_err("it is another table");
        assert_refused(&error, "another id");
        let kind = ErrorKind::CommitConflict(Conflict::MetadataChanged);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.context().contains(&("field", "id".into())), "{error}");
        assert!(error.what().contains("another table"), "{error}");
    }
    assert_eq!(log_versions(&own, ".json").await?, [0, 1, 2]);
    Ok(())
}

/// Requests that verify that the table was not recreated: none for a fresh version without winning commits, and one for
/// the commit file of the version that was read, for any number of winning commits.
#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_version_is_not_requested_again() -> Result<()> {
    for winning_commits in [0, 1, 2] {
        let mut own = table("mine", false, 1).await?;
        let held = own.open().await?;
        for number in 0..winning_commits {
            own.commit(vec![add(&format!("theirs-{number}"), None)]).await?;
        }
        own.scripted().forget();
        append_to(&held, "late", PostCommitPolicy::none()).await?;
        let report = own.scripted().report();
        let of_base = report.at(RequestKind::Head, "/00000000000000000001.json").count();
        assert_eq!(of_base, usize::from(winning_commits > 0), "{report:#?}");
        // A proposal and the time of the commit. After a lost proposal: the winning commits, the version after them,
        // another proposal.
        let expected = 2 + if winning_commits > 0 {
            winning_commits + 2 + of_base
        } else {
            0
        };
        assert_eq!(report.requests.len(), expected, "{report:#?}");
    }
    Ok(())
}
