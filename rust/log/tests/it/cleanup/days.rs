//! When log files expire: by in-commit timestamps, by modification times, and never too early.

use std::collections::BTreeSet;
use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_log::cleanup::{RetentionReason, clean_up, clean_up_now};
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::log_path::{CheckpointFormat, LogPath};
use deltaic_protocol::{ErrorKind, Result};
use deltaic_storage::clock::now_ms;
use deltaic_testkit::checkpoint_writer::Layout;
use deltaic_testkit::facts::facts;
use deltaic_testkit::own_commits::{append_to, log_names, log_versions};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::TableBuilder;
use object_store::ObjectStoreExt;
use serde_json::json;

use super::observed::{DAY_MS, assert_readable_from, names, version};
use super::table::{LEFT_BEHIND, first_actions, table};

/// Within the retention, or within the day in which a checkpoint may still be in progress, nothing is deleted.
///
/// protocol: metadata-cleanup.1
#[tokio::test]
async fn no_file_is_deleted_before_its_retention() -> Result<()> {
    let table = table(Layout::V2(CheckpointFormat::Parquet, 2), &json!({})).await?;
    let before = names(&table).await?;
    let snapshot = table.open().await?;
    for now in [now_ms(), now_ms() + DAY_MS - 60_000] {
        let cleaned = clean_up(&snapshot, now).await?;
        assert_eq!(cleaned.plan.kept, Some(RetentionReason::NothingExpired));
        assert_eq!(names(&table).await?, before);
    }
    // After two days orphaned files are deleted; the log itself is retained for a month.
    let cleaned = clean_up(&snapshot, now_ms() + 2 * DAY_MS).await?;
    assert_eq!(cleaned.plan.kept, Some(RetentionReason::NothingExpired));
    let gone: BTreeSet<String> = before.difference(&names(&table).await?).cloned().collect();
    assert_eq!(gone, LEFT_BEHIND.map(str::to_owned).into());
    Ok(())
}

/// The in-commit timestamp is used if enabled, whatever the modification times are.
///
/// protocol: metadata-cleanup.1, recommendations-for-readers-of-tables-with-in-commit-timestamps.2
#[tokio::test]
async fn days_go_by_in_commit_timestamps() -> Result<()> {
    let enabled =
        json!({"delta.enableInCommitTimestamps": "true", "delta.logRetentionDuration": "interval 30 days"});
    // Version n was committed on day 10n; at midnight, everything older than 30 days has expired.
    for (day, kept) in [
        (50, Some(2)),
        (49, None),
        (79, Some(2)),
        (80, Some(5)),
        (500, Some(8)),
        (29, None),
    ] {
        for millisecond in [0, DAY_MS - 1] {
            let table = table(Layout::Classic, &enabled).await?;
            let cleaned = clean_up(&table.open().await?, day * DAY_MS + millisecond).await?;
            let expected = kept.map(version);
            assert_eq!(cleaned.plan.oldest_kept(), expected, "day {day} + {millisecond}");
            assert_readable_from(&table, kept.unwrap_or(0), &format!("day {day}")).await?;
        }
    }
    Ok(())
}

/// For commits before in-commit timestamps were enabled, modification times are used, capped by the enablement
/// timestamp.
///
/// protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.3,
/// recommendations-for-readers-of-tables-with-in-commit-timestamps.5
#[tokio::test]
async fn commits_from_before_in_commit_timestamps_go_by_their_files() -> Result<()> {
    let enabled = json!({
        "delta.enableInCommitTimestamps": "true",
        "delta.inCommitTimestampEnablementVersion": "6",
        "delta.inCommitTimestampEnablementTimestamp": (60 * DAY_MS).to_string(),
    });
    // The files are from today, long after the in-commit timestamps.
    for (day, kept) in [(85, None), (90, Some(5)), (109, Some(5)), (110, Some(8))] {
        let table = table(Layout::Classic, &enabled).await?;
        let cleaned = clean_up(&table.open().await?, day * DAY_MS).await?;
        assert_eq!(cleaned.plan.oldest_kept(), kept.map(version), "day {day}");
    }
    Ok(())
}

/// On a disk: modification times are used, and files outside the table are never deleted through symbolic links.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "what is tested goes by the times that files have on a disk"
)]
async fn days_go_by_the_times_of_files() -> Result<()> {
    let table = table(Layout::V2(CheckpointFormat::Parquet, 1), &json!({})).await?;
    let folder = tempfile::tempdir().expect("a folder");
    let location = table.copy_to(folder.path()).await?;
    // Version n and all its files were written at the start of day 1000 + n.
    for name in names(&table).await? {
        let digits = name.trim_start_matches("_sidecars/").trim_start_matches('.');
        let number: u64 = digits
            .get(..20)
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(3);
        let written = std::time::Duration::from_secs((1000 + number) * 86_400);
        let file = std::fs::File::options()
            .write(true)
            .open(folder.path().join("_delta_log").join(&name));
        file.and_then(|file| file.set_modified(std::time::UNIX_EPOCH + written))
            .expect("a time is set");
    }
    let opened = Snapshot::load(location, None, LoadOptions::default()).await?;
    let right = facts(&opened).await?;
    let on_day = |day: i64| clean_up(&opened, (1000 + 30 + day) * DAY_MS);
    for (day, kept) in [
        (1, None),
        (2, Some(2)),
        (4, None),
        (5, Some(5)),
        (7, None),
        (8, Some(8)),
        (100, None),
    ] {
        let cleaned = on_day(day).await?;
        assert_eq!(cleaned.plan.oldest_kept(), kept.map(version), "day {day}");
        assert!(cleaned.not_deleted.is_empty(), "{:?}", cleaned.not_deleted);
        assert_eq!(facts(&opened.refresh().await?).await?, right, "day {day}");
    }
    let left = std::fs::read_dir(folder.path().join("_delta_log"))
        .expect("the log")
        .count();
    // Two commits with their checksums, a checkpoint, and the folder of its sidecar.
    assert_eq!(left, 6);
    Ok(())
}

/// Expiry uses the store's clock, which stamps the files. A machine whose clock is far ahead of it deletes nothing that
/// other writers still need, and one whose clock lags far deletes what has expired.
///
/// protocol: metadata-cleanup.1
#[tokio::test]
async fn the_day_is_the_stores() -> Result<()> {
    let days = |days: u64| Duration::from_secs(days * 86_400);
    // The first commits expire only after the store's clock has advanced more than 30 days.
    for (written, cleaned, is_expired) in [
        (days(0), days(0), false),
        (days(40), days(40), false),
        (days(0), days(29), false),
        (days(0), days(40), true),
        (days(4000), days(4040), true),
    ] {
        for by_hand in [true, false] {
            let how = format!("{written:?}, {cleaned:?}, by hand: {by_hand}");
            let properties = json!({"delta.logRetentionDuration": "interval 30 days",
                "delta.checkpointInterval": "4"});
            let table = TableBuilder::with_properties(&properties, 0).await?;
            table.scripted().set_clock_ahead(written);
            // The first commit is as old as the others.
            let path = LogPath::commit(version(0));
            let first = table.read(&path).await?;
            let location = table.location();
            let put = location.store().put(&location.below(&path)?, first.into()).await;
            put.expect("the store is in memory");
            for number in 1..=4 {
                append_to(
                    &table.open().await?,
                    &number.to_string(),
                    PostCommitPolicy::none(),
                )
                .await?;
            }
            write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
            table.scripted().set_clock_ahead(cleaned);
            if by_hand {
                clean_up_now(&table.open().await?).await?;
            } else {
                for number in 5..=8 {
                    append_to(
                        &table.open().await?,
                        &number.to_string(),
                        PostCommitPolicy::default(),
                    )
                    .await?;
                }
            }
            let newest = if by_hand { 4 } else { 8 };
            let left = log_versions(&table, ".json").await?;
            let oldest = if is_expired { 4 } else { 0 };
            assert_eq!(left, (oldest..=newest).collect::<Vec<_>>(), "{how}");
            assert_eq!(
                log_names(&table, "")
                    .await?
                    .iter()
                    .filter(|name| name.contains("probe"))
                    .count(),
                0
            );
        }
    }
    Ok(())
}

/// The store's clock is 40 days ahead of the writers': their commits immediately expire by in-commit timestamp, but are
/// retained for an hour after the store wrote them.
///
/// protocol: metadata-cleanup.1
#[tokio::test]
async fn commits_just_written_are_retained_whatever_their_in_commit_timestamps() -> Result<()> {
    let properties = json!({"delta.enableInCommitTimestamps": "true",
        "delta.logRetentionDuration": "interval 30 days", "delta.checkpointInterval": "4"});
    let table = TableBuilder::of(&[first_actions(&properties)]).await?;
    let hours = |hours: u64| Duration::from_secs((40 * 24 + hours) * 3600);
    for (after, numbers, oldest) in [(hours(0), 1..=8, 0), (hours(2), 9..=12, 8)] {
        table.scripted().set_clock_ahead(after);
        let newest = *numbers.end();
        for number in numbers {
            append_to(
                &table.open().await?,
                &number.to_string(),
                PostCommitPolicy::default(),
            )
            .await?;
        }
        clean_up_now(&table.open().await?).await?;
        let left = log_versions(&table, ".json").await?;
        assert_eq!(left, (oldest..=newest).collect::<Vec<_>>(), "{after:?}");
    }
    Ok(())
}

/// A refused cleanup does not probe the store's time: nothing is written.
#[tokio::test]
async fn a_refused_cleanup_writes_nothing() -> Result<()> {
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7,
        "writerFeatures": ["fromTheFuture"]}});
    let table = TableBuilder::of(&[first]).await?;
    table.scripted().forget();
    let refused = clean_up_now(&table.open().await?)
        .await
        .expect_err("an unknown feature");
    assert_eq!(refused.kind(), ErrorKind::UnsupportedFeature);
    assert_eq!(table.scripted().report().count(RequestKind::Put), 0);
    Ok(())
}
