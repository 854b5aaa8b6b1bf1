//! The post-commit maintenance of each policy: its requests, and what it leaves unchanged.

use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_log::log_tail::LogTail;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::maintenance::MaintenanceStep;
use deltaic_testkit::own_commits::{append_to, checksum_anew, checksum_beside, log_names, log_versions};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::json;

/// The checksum of a version equals a count of the version, opened again.
async fn assert_counted(table: &TableBuilder, version: i64) -> Result<()> {
    let anew = checksum_anew(table, version).await?;
    assert_eq!(
        checksum_beside(table, version).await?,
        Some(anew),
        "version {version}"
    );
    Ok(())
}

/// Each kind of maintenance is done if requested, and none otherwise.
#[tokio::test]
async fn a_policy_chooses() -> Result<()> {
    let none = PostCommitPolicy::none();
    for (policy, checksums, checkpoints, compactions) in [
        (none, 0, 0, 0),
        (
            PostCommitPolicy {
                clean_up: true,
                ..none
            },
            0,
            0,
            0,
        ),
        (
            PostCommitPolicy {
                checksum: true,
                ..none
            },
            6,
            0,
            0,
        ),
        (
            PostCommitPolicy {
                checkpoint: true,
                ..none
            },
            0,
            1,
            0,
        ),
        (
            PostCommitPolicy {
                compaction_interval: 3,
                ..none
            },
            0,
            0,
            2,
        ),
        (
            PostCommitPolicy {
                compaction_interval: 1,
                ..none
            },
            0,
            0,
            0,
        ),
        // The checkpoint of version 5 covers the range from 3 to 5 as well.
        (
            PostCommitPolicy {
                compaction_interval: 3,
                ..PostCommitPolicy::default()
            },
            6,
            1,
            1,
        ),
    ] {
        let table = TableBuilder::with_properties(&json!({"delta.checkpointInterval": "5"}), 0).await?;
        let mut snapshot = table.open().await?;
        for number in 1..=6 {
            let made = append_to(&snapshot, &format!("f{number}"), policy).await?;
            assert!(
                made.post_commit.failures.is_empty(),
                "{:?}",
                made.post_commit.failures
            );
            snapshot = snapshot.refresh().await?;
        }
        let found = (
            log_names(&table, ".crc").await?.len(),
            log_names(&table, ".checkpoint.parquet").await?.len(),
            log_names(&table, ".compacted.json").await?.len(),
        );
        assert_eq!(found, (checksums, checkpoints, compactions), "{policy:?}");
    }
    Ok(())
}

/// Requests of post-commit maintenance: one put, and after winning commits a listing. A checkpoint takes more.
#[tokio::test(start_paused = true)]
async fn an_append_requests_one_put_more() -> Result<()> {
    use RequestKind::{Get, Head, List, ListFolder, ListFrom, Put};
    for (winning_commits, puts, listings) in [(0, 1, 0), (2, 1, 1)] {
        let mut asked = Vec::new();
        for policy in [PostCommitPolicy::none(), PostCommitPolicy::default()] {
            let mut table = TableBuilder::with_properties(&json!({}), 3).await?;
            let snapshot = table.open().await?;
            for winning_commit in 0..winning_commits {
                table
                    .commit(vec![add(&format!("winner{winning_commit}"), None)])
                    .await?;
            }
            table.scripted().forget();
            append_to(&snapshot, "ours", policy).await?;
            let report = table.scripted().report();
            let count = |kinds: &[RequestKind]| kinds.iter().map(|kind| report.count(*kind)).sum::<usize>();
            asked.push([
                count(&[Put]),
                count(&[List, ListFolder, ListFrom]),
                count(&[Get, Head]),
            ]);
        }
        let [without, with] = [asked[0], asked[1]];
        assert_eq!(
            with[0] - without[0],
            puts,
            "puts behind {winning_commits} winners: {asked:?}"
        );
        assert_eq!(
            with[1] - without[1],
            listings,
            "listings behind {winning_commits} winners: {asked:?}"
        );
        // After winning commits: the commits that the snapshot does not contain, including ours.
        let reads = if winning_commits == 0 {
            0
        } else {
            winning_commits + 1
        };
        assert_eq!(
            with[2] - without[2],
            reads,
            "reads behind {winning_commits} winners: {asked:?}"
        );
    }
    Ok(())
}

/// A table with unsupported features is left to other writers, without a warning after each commit.
#[tokio::test]
async fn unrelated_files_are_not_deleted() -> Result<()> {
    for (features, left) in [
        (json!(["fromTheFuture"]), 2),
        (json!(["redirectWriterOnly-preview"]), 2),
    ] {
        let mut table = TableBuilder::new();
        let mut first = TableBuilder::first_actions();
        first[0] =
            json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": features}});
        first[1]["metaData"]["configuration"] = json!({"delta.checkpointInterval": "1"});
        table.commit(first).await?;
        let made = append_to(&table.open().await?, "ours", PostCommitPolicy::default()).await?;
        assert_eq!(made.version.as_i64(), 1);
        assert_eq!(made.post_commit.failures, [""; 0], "{features}");
        assert_eq!(
            made.post_commit.left_to_others.len(),
            left,
            "{:?}",
            made.post_commit.left_to_others
        );
        assert_eq!(
            log_names(&table, "").await?.len(),
            2,
            "{features}: two commits and nothing else"
        );
    }
    Ok(())
}

/// In a catalog-managed table, the catalog deletes expired files.
///
/// protocol: catalog:maintenance-operations-on-catalog-managed-tables.2
#[tokio::test]
async fn a_table_of_a_catalog_is_not_cleaned_up() -> Result<()> {
    let mut table = TableBuilder::new();
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["catalogManaged"], "writerFeatures": ["catalogManaged", "inCommitTimestamp"]}});
    first[1]["metaData"]["configuration"] = json!({"delta.checkpointInterval": "1"});
    table.commit(first).await?;
    let tail = LogTail::default();
    let snapshot = Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
    let post_commit = append_to(&snapshot, "ours", PostCommitPolicy::default())
        .await?
        .post_commit;
    assert_eq!(post_commit.failures, [""; 0]);
    assert_eq!(
        post_commit.left_to_others.len(),
        1,
        "{:?}",
        post_commit.left_to_others
    );
    assert!(
        post_commit.left_to_others[0].contains("catalog"),
        "{:?}",
        post_commit.left_to_others
    );
    assert!(
        post_commit.cleanup.is_none() && post_commit.checksum.is_some() && post_commit.checkpoint.is_some()
    );
    Ok(())
}

/// An invalid property is reported after each commit, since the table's owner can fix it; all other maintenance is
/// done.
#[tokio::test]
async fn a_property_that_cannot_be_read_is_reported() -> Result<()> {
    let table = TableBuilder::with_properties(&json!({"delta.checkpointInterval": "often"}), 0).await?;
    let made = append_to(&table.open().await?, "ours", PostCommitPolicy::default()).await?;
    assert_eq!(
        made.post_commit.failures.len(),
        1,
        "{:?}",
        made.post_commit.failures
    );
    assert!(
        made.post_commit.failures[0].contains("delta.checkpointInterval"),
        "{:?}",
        made.post_commit.failures
    );
    assert_counted(&table, 1).await
}

/// Expired files are deleted after a checkpoint, unless the table disables it.
///
/// protocol: metadata-cleanup.1
#[tokio::test]
async fn expired_files_are_deleted_after_a_checkpoint() -> Result<()> {
    for (is_enabled, checkpoint, oldest) in [(true, true, 2), (false, true, 0), (true, false, 0)] {
        let mut table = TableBuilder::new();
        let mut first = TableBuilder::first_actions();
        // By in-commit timestamp each commit is years old, and by the store's clock two hours.
        let info = |version: i64| json!({"commitInfo": {"operation": "WRITE", "txnId": format!("t{version}"), "inCommitTimestamp": 1_000 + version}});
        first.insert(0, info(0));
        first[1] = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["inCommitTimestamp"]}});
        first[2]["metaData"]["configuration"] = json!({"delta.enableInCommitTimestamps": "true",
            "delta.checkpointInterval": "4", "delta.enableExpiredLogCleanup": is_enabled.to_string()});
        table.commit(first).await?;
        for version in 1..4 {
            table
                .commit(vec![info(version), add(&format!("theirs{version}"), None)])
                .await?;
            if version == 2 {
                table
                    .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(Layout::Classic)))
                    .await?;
            }
        }
        table.scripted().set_clock_ahead(Duration::from_secs(2 * 3600));
        let policy = PostCommitPolicy {
            checkpoint,
            ..PostCommitPolicy::default()
        };
        let made = append_to(&table.open().await?, "ours", policy).await?;
        assert!(
            made.post_commit.failures.is_empty(),
            "{:?}",
            made.post_commit.failures
        );
        assert_eq!(
            log_versions(&table, ".json").await?,
            (oldest..5).collect::<Vec<_>>(),
            "{is_enabled} {checkpoint}"
        );
        let newest = table.open().await?;
        assert_eq!((newest.version().as_i64(), newest.num_files()), (4, 4));
        assert_counted(&table, 4).await?;
    }
    Ok(())
}
