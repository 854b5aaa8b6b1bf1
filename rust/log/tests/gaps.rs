//! A writer that held a version until the commits behind it were cleaned up.

use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_log::cleanup::clean_up;
use deltaic_log::clock::now_ms;
use deltaic_log::upkeep::UpkeepPolicy;
use deltaic_protocol::{Conflict, ErrorKind, Result};
use deltaic_testkit::own_commits::{append_to, log_versions};
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::json;

const DAY_MS: i64 = 86_400_000;

/// A table whose commits expire at once, with a version that a writer holds and so many behind it.
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
        let ended = append_to(&held, "late", UpkeepPolicy::none()).await;
        if before.contains(&2) {
            // Only the commit of the checkpoint's own version is left, and the writer goes on behind it.
            assert_eq!(ended?.version.as_i64(), 3);
            continue;
        }
        let error = ended.expect_err("the name of version 2 looks free");
        assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
        assert!(error.context().contains(&("version", 2.into())), "{error}");
        assert!(error.hint_text().is_some());
        assert_eq!(log_versions(&table, ".json").await?, before);
        let again = append_to(&held.refresh().await?, "late", UpkeepPolicy::none()).await?;
        assert_eq!(again.version.as_i64(), newest.version().as_i64() + 1);
        let files = table.open().await?.num_files();
        assert_eq!(i64::try_from(files).ok(), Some(behind + 2));
    }
    Ok(())
}

/// A gap in the middle of what is left is one, too: another cleanup is at work.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_committed_into_the_middle_of_a_cleanup() -> Result<()> {
    let (table, held) = table(3).await?;
    write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    table.delete("_delta_log/00000000000000000003.json").await?;
    let error = append_to(&held, "late", UpkeepPolicy::none())
        .await
        .expect_err("the name of version 3 looks free");
    assert_eq!(error.kind(), ErrorKind::CommitConflict(Conflict::ConcurrentWrite));
    assert!(error.context().contains(&("version", 3.into())), "{error}");
    Ok(())
}

/// What a writer's upkeep stands on may be gone as well: it opens the table anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_is_written_by_who_stands_on_what_is_gone() -> Result<()> {
    let (table, _) = table(7).await?;
    let held = table.open().await?;
    write_checkpoint(&held, &CheckpointOptions::default()).await?;
    clean_up(&held, now_ms() + 3 * DAY_MS).await?;
    let ninth = append_to(&held, "9", UpkeepPolicy::default()).await?;
    let refreshed = held.refresh().await?;
    let tenth = append_to(&refreshed, "10", UpkeepPolicy::default()).await?;
    assert_eq!((ninth.version.as_i64(), tenth.version.as_i64()), (9, 10));
    assert_eq!(tenth.upkept.failures, Vec::<String>::new());
    assert!(tenth.upkept.checkpoint.is_some());
    assert_eq!(table.open().await?.num_files(), 10);
    Ok(())
}
