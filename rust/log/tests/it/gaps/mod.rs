//! Commits of a stale writer: the commits after the version that it read were cleaned up.

mod changing;
mod confirmed;
mod others;
mod retaken;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_log::cleanup::clean_up;
use deltaic_log::committer::{BoxedFuture, Committer, Disk, FileSystem, Files, Outcome};
use deltaic_log::history::history;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{Committed, create};
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Conflict, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::now_ms;
use deltaic_storage::store_error;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::own_commits::{
    a_new_table, an_append, append_to, commit_to, log_versions, without_maintenance,
};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use object_store::memory::InMemory;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Handle;

use self::others::{DAY_MS, Others, Splitting, StalledPut, open, others_commit_and_cut, wait};

/// A table whose commits expire at once, a snapshot of version 1, and `behind` later commits.
async fn table(behind: i64) -> Result<(TableBuilder, deltaic_log::Snapshot)> {
    let mut table = TableBuilder::new();
    let mut first = TableBuilder::first_actions();
    first[1]["metaData"]["configuration"] = json!({"delta.logRetentionDuration": "interval 0 days"});
    table.commit(first).await?;
    table.commit(vec![add("first", None)]).await?;
    let held = table.open().await?;
    for number in 0..behind {
        table.commit(vec![add(&format!("{number}"), None)]).await?;
    }
    Ok((table, held))
}

/// protocol: creation-of-new-log-entries.1
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_into_a_gap() -> Result<()> {
    for behind in [1, 2, 9] {
        let (table, held) = table(behind).await?;
        let newest = table.open().await?;
        write_checkpoint(&newest, &CheckpointOptions::default()).await?;
        clean_up(&newest, now_ms() + 3 * DAY_MS).await?;
        let before = log_versions(&table, ".json").await?;
        let ended = append_to(&held, "late", PostCommitPolicy::none()).await;
        if before.contains(&2) {
            // The commit of the checkpoint's version is retained, so the writer follows it.
            assert_eq!(ended?.version.as_i64(), 3);
            continue;
        }
        let error = ended.expect_err("the name of version 2 looks free");
        assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
        assert!(error.context().contains(&("version", 2.into())), "{error}");
        assert!(error.hint_text().is_some());
        assert_eq!(log_versions(&table, ".json").await?, before);
        let again = append_to(&held.refresh().await?, "late", PostCommitPolicy::none()).await?;
        assert_eq!(again.version.as_i64(), newest.version().as_i64() + 1);
        let files = table.open().await?.num_files();
        assert_eq!(i64::try_from(files).ok(), Some(behind + 2));
    }
    Ok(())
}

/// The time of a commit that was cleaned up cannot be read, which is a conflict and no failure of the store.
#[tokio::test]
async fn a_version_whose_commit_time_was_cleaned_up_is_a_conflict() -> Result<()> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let location = TableLocation::on_store("memory://times/".to_owned(), store, StorePath::from("t"));
    let location = Arc::new(location);
    let mut table = a_new_table();
    let enabled = ("delta.enableInCommitTimestamps".to_owned(), "true".to_owned());
    table.properties.extend([enabled]);
    create(&location, table, &without_maintenance()).await?;
    let options = CheckpointOptions::default();
    // A snapshot of a checkpoint's version does not hold the version's commit.
    write_checkpoint(&open(&location).await?, &options).await?;
    let held = open(&location).await?;
    append_to(&held, "first", PostCommitPolicy::none()).await?;
    let newest = open(&location).await?;
    write_checkpoint(&newest, &options).await?;
    clean_up(&newest, now_ms() + 40 * DAY_MS).await?;
    let error = append_to(&held, "late", PostCommitPolicy::none())
        .await
        .expect_err("the commit of version 0 is gone");
    assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
    assert!(error.hint_text().is_some());
    append_to(&held.refresh().await?, "late", PostCommitPolicy::none()).await?;
    Ok(())
}

/// A gap in the middle of what is left is one, too: another cleanup is at work.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_into_the_middle_of_a_cleanup() -> Result<()> {
    let (table, held) = table(3).await?;
    write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    table.delete("_delta_log/00000000000000000003.json").await?;
    let error = append_to(&held, "late", PostCommitPolicy::none())
        .await
        .expect_err("the name of version 3 looks free");
    assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
    assert!(error.context().contains(&("version", 3.into())), "{error}");
    Ok(())
}

/// A stale writer's commit below the hole of a cleanup looks like the next version: a writer that follows it misses
/// the actions of the commit that had the name before.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(flavor = "multi_thread")]
async fn the_commit_of_a_stale_writer_is_not_followed() -> Result<()> {
    for retention in ["interval 0 days", "interval 30 days"] {
        let mut table =
            TableBuilder::with_properties(&json!({"delta.logRetentionDuration": retention}), 1).await?;
        let held = table.open().await?;
        for name in ["second", "third"] {
            table.commit(vec![add(name, None)]).await?;
        }
        others_commit_and_cut(held.location(), 0, Splitting::ByAnotherTool).await?;
        let stale = format!("{}\n", add("stale", None));
        table
            .put("_delta_log/00000000000000000002.json", stale.into_bytes())
            .await?;
        let error = append_to(&held, "late", PostCommitPolicy::none())
            .await
            .expect_err("version 2 was cleaned up");
        assert_eq!(
            error.kind(),
            ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
            "{error}"
        );
        assert!(error.context().contains(&("version", 2.into())), "{error}");
        assert_eq!(log_versions(&table, ".json").await?, [2, 3]);
        append_to(&held.refresh().await?, "late", PostCommitPolicy::none()).await?;
    }
    Ok(())
}

/// A checkpoint of the version that was read is a begin for readers, so later commits are followed if the version's commit
/// was deleted.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_begins_at_the_checkpoint_of_the_version_that_was_read_is_followed() -> Result<()> {
    let (mut table, held) = table(0).await?;
    write_checkpoint(&held, &CheckpointOptions::default()).await?;
    for name in ["second", "third"] {
        table.commit(vec![add(name, None)]).await?;
    }
    write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    for version in 0..2 {
        table.delete(&format!("_delta_log/{version:020}.json")).await?;
    }
    let committed = append_to(&held, "late", PostCommitPolicy::none()).await?;
    assert_eq!(committed.version.as_i64(), 4);
    assert_eq!(table.open().await?.num_files(), 4);
    Ok(())
}

/// Reads commits of a log that others cut before the third is read.
#[derive(Debug)]
struct CutWhileFollowed {
    location: Arc<TableLocation>,
    others: Others,
}

impl Committer for CutWhileFollowed {
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        self.location.propose(version, commit)
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        Box::pin(async move {
            if version.as_i64() == 3 {
                self.others.act().await?;
            }
            self.location.read_commit(version).await
        })
    }
}

/// A transaction follows the commits that a listing showed, and a cleanup is faster: the name of the first that is gone
/// looks free.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_cut_while_it_is_followed_is_a_conflict() -> Result<()> {
    for retention in ["interval 0 days", "interval 30 days"] {
        let table =
            TableBuilder::with_properties(&json!({"delta.logRetentionDuration": retention}), 6).await?;
        let held = table.open_at(1).await?;
        let location = Arc::clone(held.location());
        let cut = {
            let location = Arc::clone(&location);
            async move { others_commit_and_cut(&location, 0, Splitting::ByAnotherTool).await }
        };
        let committer = CutWhileFollowed {
            location,
            others: Others::doing(cut),
        };
        let mut transaction = commit_to(&held)?;
        transaction.committer = &committer;
        transaction.options.post_commit = PostCommitPolicy::none();
        let error = transaction.commit().await.expect_err("version 3 is gone");
        assert_eq!(
            error.kind(),
            ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
            "{error}"
        );
    }
    Ok(())
}

/// Post-commit maintenance opens the table again if files of its snapshot were cleaned up.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_writer_writes_no_checkpoint_of_a_deleted_version() -> Result<()> {
    let (table, _) = table(7).await?;
    let held = table.open().await?;
    write_checkpoint(&held, &CheckpointOptions::default()).await?;
    clean_up(&held, now_ms() + 3 * DAY_MS).await?;
    let ninth = append_to(&held, "9", PostCommitPolicy::default()).await?;
    let refreshed = held.refresh().await?;
    let tenth = append_to(&refreshed, "10", PostCommitPolicy::default()).await?;
    assert_eq!((ninth.version.as_i64(), tenth.version.as_i64()), (9, 10));
    assert_eq!(tenth.post_commit.failures, Vec::<String>::new());
    assert!(tenth.post_commit.checkpoint.is_some());
    assert_eq!(table.open().await?.num_files(), 10);
    Ok(())
}

/// A table on disk whose log is kept for so long, at version 1, opened by a transaction.
#[expect(clippy::expect_used, reason = "a test states what it expects by failing")]
async fn on_disk(retention: &str) -> Result<(TempDir, Arc<TableLocation>, Snapshot)> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let table = TableBuilder::with_properties(&json!({"delta.logRetentionDuration": retention}), 1).await?;
    let location = table.copy_to(folder.path()).await?;
    let held = open(&location).await?;
    Ok((folder, location, held))
}

/// A transaction stays open while others commit, checkpoint and clean up, with a clock far ahead: its version's name looks
/// free, and no reader would ever see what is committed there.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(flavor = "multi_thread")]
async fn an_open_transaction_conflicts_once_the_commits_after_its_version_are_gone() -> Result<()> {
    for cut in [Splitting::ByUs { days: 40 }, Splitting::ByAnotherTool] {
        let (_folder, location, held) = on_disk("interval 30 days").await?;
        others_commit_and_cut(&location, 3, cut).await?;
        let error = append_to(&held, "late", PostCommitPolicy::none()).await;
        let error = error.expect_err("no reader sees version 2");
        assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
        assert!(error.context().contains(&("version", 2.into())), "{error}");
        let again = append_to(&held.refresh().await?, "late", PostCommitPolicy::none()).await?;
        assert_eq!(again.version.as_i64(), 5);
        assert_eq!(open(&location).await?.num_files(), 5);
    }
    Ok(())
}

/// A disk on which the first link stalls while others act.
#[derive(Debug)]
struct StalledLink {
    others: Others,
    runtime: Handle,
}

impl Files for StalledLink {
    fn link(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        let acted = self.runtime.block_on(self.others.act());
        acted.map_err(|error| std::io::Error::other(error.to_string()))?;
        Disk.link(from, to)
    }
}

/// A writer stalls within `link` while 20 versions are committed and cleaned up: it must not report a commit below the hole.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_stalls_until_its_version_is_cleaned_up_is_not_a_commit() -> Result<()> {
    for (cut, expected) in [
        (Splitting::ByAnotherTool, ErrorKind::CommitUnknown),
        (
            Splitting::ByUs { days: 1 },
            ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
        ),
    ] {
        let (_folder, location, held) = on_disk("interval 0 seconds").await?;
        let others = {
            let location = Arc::clone(&location);
            Others::doing(async move { others_commit_and_cut(&location, 20, cut).await })
        };
        let files = StalledLink {
            others,
            runtime: Handle::current(),
        };
        let committer = FileSystem::over(&location, Arc::new(files)).expect("the table is a local one");
        let error = append_through(&held, &committer).await;
        let error = error.expect_err("no reader sees version 2");
        assert_eq!(error.kind(), expected, "{cut:?}: {error}");
        assert!(error.context().contains(&("version", 2.into())), "{error}");
        assert!(error.hint_text().is_some(), "{error}");
        let newest = open(&location).await?;
        assert_eq!(
            (newest.version().as_i64(), newest.num_files()),
            (21, 21),
            "{cut:?}"
        );
        // Version 2 is in the log of the first case, and in no version that can be read.
        let listed = history(&location, None, LoadOptions::default()).await?;
        assert!(
            listed.iter().all(|record| record.version.as_i64() > 2),
            "{cut:?}: {listed:?}"
        );
        let written_ms = modified_ms(&location, newest.version()).await?;
        assert_eq!(listed[0].timestamp_ms, written_ms, "{cut:?}");
    }
    Ok(())
}

async fn modified_ms(location: &TableLocation, version: Version) -> Result<i64> {
    let commit = LogPath::commit(version).to_string();
    let found = location.store().head(&location.below(&commit)?).await;
    let found = found.map_err(|error| store_error(&error, &commit))?;
    Ok(found.last_modified.timestamp_millis())
}

async fn append_through(held: &Snapshot, committer: &dyn Committer) -> Result<Committed> {
    let mut transaction = commit_to(held)?;
    transaction.committer = committer;
    transaction.options.post_commit = PostCommitPolicy::none();
    transaction.proposal.adds = an_append("late").adds;
    transaction.commit().await
}

/// After a slow put, or if commits expire soon, the commit is looked for: it counts only if readers see it, whatever the log
/// looks like from its version on.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(start_paused = true)]
async fn a_slow_commit_is_reported_only_if_readers_see_it() -> Result<()> {
    let (lasting, short) = ("interval 30 days", "interval 0 seconds");
    let (slow, quick) = (Duration::from_secs(10), Duration::ZERO);
    for (retention, stall) in [(lasting, slow), (short, slow), (short, quick)] {
        // With one or two commits of others the log has no hole after version 2, but begins with a checkpoint after it.
        for (commits, is_before) in [1, 2, 3, 9]
            .into_iter()
            .flat_map(|commits| [(commits, true), (commits, false)])
        {
            let how = format!("{retention}, {stall:?}, {commits} commits, before: {is_before}");
            let properties = json!({"delta.logRetentionDuration": retention});
            let table = TableBuilder::with_properties(&properties, 1).await?;
            let (location, held) = (table.location(), table.open().await?);
            let others = {
                let location = Arc::clone(&location);
                Others::doing(async move {
                    others_commit_and_cut(&location, commits, Splitting::ByAnotherTool).await
                })
            };
            let (before, after) = match is_before {
                true => (others, Others::default()),
                false => (Others::default(), others),
            };
            let committer = StalledPut {
                location: Arc::clone(&location),
                before,
                after,
                stall,
            };
            let ended = append_through(&held, &committer).await;
            let newest = table.open().await?;
            let expected = 1 + commits + usize::from(!is_before || commits == 1);
            assert_eq!(newest.num_files(), expected, "{how}");
            match (is_before, commits) {
                // The version of the checkpoint is still taken, so the next one is won.
                (true, 1) => assert_eq!(ended?.version.as_i64(), 3, "{how}"),
                (true, _) => {
                    let error = ended.expect_err(&how);
                    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{how}: {error}");
                }
                (false, _) => assert_eq!(ended?.version.as_i64(), 2, "{how}"),
            }
        }
    }
    Ok(())
}

/// A commit that took long and cannot be looked for may be lost.
#[tokio::test(start_paused = true)]
async fn a_slow_commit_that_cannot_be_looked_for_is_not_reported() -> Result<()> {
    for (stall, expected) in [(0, None), (10, Some(ErrorKind::CommitUnknown))] {
        let table = TableBuilder::with_properties(&json!({}), 1).await?;
        let (location, held) = (table.location(), table.open().await?);
        let lists = [RequestKind::List, RequestKind::ListFrom, RequestKind::ListFolder];
        table.scripted().fail(Rule::new(Fault::RequestLost).of(&lists));
        let committer = StalledPut {
            location,
            before: Others::default(),
            after: Others::default(),
            stall: Duration::from_secs(stall),
        };
        let ended = append_through(&held, &committer).await;
        assert_eq!(ended.err().map(|error| error.kind()), expected, "{stall} s");
        table.scripted().heal();
        assert_eq!(table.open().await?.num_files(), 2);
    }
    Ok(())
}

/// A version that a listing shows is read and not proposed, so that no cleanup can make its name free in between.
///
/// protocol: creation-of-new-log-entries.1
#[tokio::test(start_paused = true)]
async fn a_version_that_is_listed_is_not_proposed() -> Result<()> {
    let mut table = TableBuilder::with_properties(&json!({}), 1).await?;
    let held = table.open().await?;
    for number in 0..3 {
        table.commit(vec![add(&format!("other{number}"), None)]).await?;
    }
    wait(Duration::from_secs(100)).await;
    table.scripted().forget();
    assert_eq!(
        append_to(&held, "late", PostCommitPolicy::none())
            .await?
            .version
            .as_i64(),
        5
    );
    assert_eq!(table.scripted().report().count(RequestKind::Put), 1);
    Ok(())
}

/// What a lost commit says of an application is not done.
#[tokio::test(start_paused = true)]
async fn an_application_is_not_done_by_a_commit_that_no_reader_sees() -> Result<()> {
    let properties = json!({"delta.logRetentionDuration": "interval 0 seconds"});
    for is_lost in [true, false] {
        let table = TableBuilder::with_properties(&properties, 1).await?;
        let (location, held) = (table.location(), table.open().await?);
        let commit = format!("{}\n", json!({"txn": {"appId": "nightly", "version": 7}}));
        let path = LogPath::commit(Version::try_new(2)?);
        if is_lost {
            others_commit_and_cut(&location, 2, Splitting::ByAnotherTool).await?;
        }
        table.put(&path, commit.into_bytes()).await?;
        let mut transaction = commit_to(&held)?;
        transaction.options.app_transaction = Some(("nightly".to_owned(), 7));
        transaction.proposal.adds = an_append("late").adds;
        let ended = transaction.commit().await;
        if is_lost {
            let error = ended.expect_err("no reader sees version 2");
            assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
        } else {
            assert!(ended?.skipped);
        }
    }
    Ok(())
}

/// Whether what a commit says of an application is seen by readers is not known if the log cannot be listed.
#[tokio::test(start_paused = true)]
async fn an_application_is_not_decided_from_a_log_that_cannot_be_listed() -> Result<()> {
    let table = TableBuilder::with_properties(&json!({}), 1).await?;
    let held = table.open().await?;
    let commit = format!("{}\n", json!({"txn": {"appId": "nightly", "version": 7}}));
    table
        .put(&LogPath::commit(Version::try_new(2)?), commit.into_bytes())
        .await?;
    wait(Duration::from_secs(2)).await;
    let lists = [RequestKind::List, RequestKind::ListFrom, RequestKind::ListFolder];
    table.scripted().fail(Rule::new(Fault::RequestLost).of(&lists));
    let mut transaction = commit_to(&held)?;
    transaction.options.app_transaction = Some(("nightly".to_owned(), 7));
    let error = transaction.commit().await.expect_err("the store does not list");
    assert_eq!(error.kind(), ErrorKind::StorageError, "{error}");
    Ok(())
}
