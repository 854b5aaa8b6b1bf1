//! When nothing is deleted: protected checkpoints, damage, disabled cleanup, unsupported features.

use deltaic_log::Snapshot;
use deltaic_log::cleanup::{RetentionReason, clean_up};
use deltaic_log::log_tail::LogTail;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::maintenance::MaintenanceStep;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::json;

use super::observed::{long_after, names, version};
use super::table::{LAYOUTS, LEFT_BEHIND, first_actions, table, table_of};

/// Protected checkpoints are deleted together with everything before them, or if every protocol of the deleted versions
/// is supported.
///
/// protocol: beyond:checkpoint-protection.1
#[tokio::test]
async fn protected_checkpoints_go_in_one_go_or_when_they_are_understood() -> Result<()> {
    let known = json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["checkpointProtection", "rowTracking", "domainMetadata"]});
    let unknown = json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["checkpointProtection", "fromTheFuture"]});
    for (protected, protocol, is_cut) in [
        ("8", &unknown, true),
        ("1", &unknown, true),
        ("9", &unknown, false),
        ("500", &unknown, false),
        ("9", &known, true),
    ] {
        for layout in [Layout::Classic, Layout::V2(CheckpointFormat::Json, 1)] {
            for is_in_commit in [true, false] {
                let how = format!("{protected}, {protocol}, {layout:?}, {is_in_commit}");
                let properties = json!({"delta.requireCheckpointProtectionBeforeVersion": protected});
                let mut table = table_of(layout, &properties, Some(protocol)).await?;
                if !is_in_commit {
                    // Only a checkpoint contains the protocol, since the log begins there.
                    for number in 0..3 {
                        table.delete(&format!("_delta_log/{number:020}.json")).await?;
                    }
                }
                let before = names(&table).await?;
                let cleaned = clean_up(&table.open().await?, long_after()).await?;
                assert_eq!(cleaned.plan.oldest_kept().is_some(), is_cut, "{how}");
                let gone = before.difference(&names(&table).await?).count();
                assert_eq!(gone == LEFT_BEHIND.len(), !is_cut, "{how}");
                table.commit(vec![add("later", None)]).await?;
                assert_eq!(table.open().await?.num_files(), 2, "{how}");
            }
        }
    }
    // If a commit among them is damaged, the protocols are unknown.
    let table = table(
        Layout::Classic,
        &json!({"delta.requireCheckpointProtectionBeforeVersion": "9"}),
    )
    .await?;
    table
        .put(
            "_delta_log/00000000000000000004.json",
            b"a protocol, or none\n".to_vec(),
        )
        .await?;
    let cleaned = clean_up(&table.open().await?, long_after()).await?;
    assert_eq!(cleaned.plan.kept, Some(RetentionReason::Protected(version(9))));
    Ok(())
}

/// Damage is not cleaned up: if the retained log is incomplete, no file is deleted.
#[tokio::test]
async fn no_file_of_a_damaged_log_is_deleted() -> Result<()> {
    for damage in ["00000000000000000009.json", "00000000000000000008.json"] {
        let table = table(Layout::Classic, &json!({})).await?;
        let snapshot = table.open().await?;
        table.delete(&format!("_delta_log/{damage}")).await?;
        // A commit that the next one requires is missing; the checkpoint of version 8 is damaged as well.
        table
            .put(
                "_delta_log/00000000000000000010.json",
                b"{\"commitInfo\":{}}\n".to_vec(),
            )
            .await?;
        table
            .put(
                "_delta_log/00000000000000000008.checkpoint.parquet",
                b"spoilt".to_vec(),
            )
            .await?;
        let before = names(&table).await?;
        let refused = clean_up(&snapshot, long_after()).await.expect_err(damage);
        assert_eq!(refused.kind(), ErrorKind::CorruptLog, "{damage}: {refused}");
        assert!(refused.hint_text().is_some(), "{damage}: no hint");
        assert_eq!(names(&table).await?, before, "{damage}");
    }
    Ok(())
}

#[tokio::test]
async fn a_table_that_retains_its_log_retains_all_of_it() -> Result<()> {
    let table = table(
        Layout::Classic,
        &json!({"delta.enableExpiredLogCleanup": "false"}),
    )
    .await?;
    let before = names(&table).await?;
    let cleaned = clean_up(&table.open().await?, long_after()).await?;
    assert_eq!(cleaned.plan.kept, Some(RetentionReason::Disabled));
    assert_eq!(names(&table).await?, before);
    Ok(())
}

/// Changes by another writer after the snapshot are respected.
#[tokio::test]
async fn the_newest_versions_rules_count() -> Result<()> {
    let mut table = table(Layout::Classic, &json!({})).await?;
    let stale = table.open().await?;
    table
        .commit(first_actions(&json!({"delta.enableExpiredLogCleanup": "false"})))
        .await?;
    let cleaned = clean_up(&stale, long_after()).await?;
    assert_eq!(cleaned.plan.kept, Some(RetentionReason::Disabled));
    Ok(())
}

#[tokio::test]
async fn cleanup_of_an_unsupported_table_deletes_nothing() -> Result<()> {
    let strange = json!({"delta.logRetentionDuration": "for a while"});
    let table = table(Layout::Classic, &strange).await?;
    let before = names(&table).await?;
    let refused = clean_up(&table.open().await?, long_after())
        .await
        .expect_err("refused");
    assert_eq!(refused.kind(), ErrorKind::CorruptLog);
    assert!(
        refused
            .context()
            .contains(&("field", "delta.logRetentionDuration".into())),
        "{refused}"
    );
    assert_eq!(names(&table).await?, before);

    let mut table = self::table(Layout::Classic, &json!({})).await?;
    let mut unknown = first_actions(&json!({}));
    unknown[1] = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["fromTheFuture"]}});
    table.commit(unknown).await?;
    let before = names(&table).await?;
    let refused = clean_up(&table.open().await?, long_after())
        .await
        .expect_err("refused");
    assert_eq!(refused.kind(), ErrorKind::UnsupportedFeature);
    assert!(refused.to_string().contains("fromTheFuture"), "{refused}");
    assert_eq!(names(&table).await?, before);
    Ok(())
}

/// protocol: catalog:maintenance-operations-on-catalog-managed-tables.2
#[tokio::test]
async fn a_table_with_a_catalog_is_left_to_it() -> Result<()> {
    let mut table = TableBuilder::new();
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["catalogManaged", "vacuumProtocolCheck"],
        "writerFeatures": ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"]}});
    table.commit(first).await?;
    table.commit(vec![add("a", None)]).await?;
    table
        .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(Layout::Classic)))
        .await?;
    table
        .put(&format!("_delta_log/{}", LEFT_BEHIND[0]), Vec::new())
        .await?;
    let before = names(&table).await?;
    let tail = LogTail {
        commits: Vec::new(),
        max_version: Some(version(1)),
    };
    let snapshot = Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
    let refused = clean_up(&snapshot, long_after()).await.expect_err("refused");
    assert_eq!(refused.kind(), ErrorKind::UnsupportedFeature);
    assert!(refused.hint_text().is_some_and(|hint| hint.contains("catalog")));
    assert_eq!(names(&table).await?, before);
    Ok(())
}

/// The hint is read first: if it is unreadable, cleanup could delete the checkpoint that it names.
#[tokio::test]
async fn nothing_is_deleted_while_the_hint_is_unreadable() -> Result<()> {
    let table = table(Layout::Classic, &json!({})).await?;
    let snapshot = table.open().await?;
    let before = names(&table).await?;
    table
        .scripted()
        .fail(Rule::new(Fault::ServerError).at("_last_checkpoint"));
    let error = clean_up(&snapshot, long_after())
        .await
        .expect_err("it is not told");
    assert_eq!(error.kind(), ErrorKind::StorageError, "{error}");
    table.scripted().heal();
    assert_eq!(names(&table).await?, before);
    Ok(())
}

/// An unavailable checkpoint is not skipped like a damaged one.
#[tokio::test]
async fn nothing_is_deleted_while_a_checkpoint_is_unreadable() -> Result<()> {
    for layout in LAYOUTS {
        let table = table(layout, &json!({})).await?;
        let snapshot = table.open().await?;
        let before = names(&table).await?;
        let rule = Rule::new(Fault::ServerError).at("00000000000000000008.checkpoint");
        table.scripted().fail(rule.of(&[RequestKind::Get]));
        let error = clean_up(&snapshot, long_after()).await.expect_err("not told");
        assert_eq!(error.kind(), ErrorKind::StorageError, "{layout:?}: {error}");
        table.scripted().heal();
        assert_eq!(names(&table).await?, before, "{layout:?}");
    }
    Ok(())
}

/// A folder that cannot be listed is not treated as empty: the cleanup fails, or reports that it skipped the folder.
#[tokio::test]
async fn a_folder_that_cannot_be_listed_is_reported() -> Result<()> {
    const LISTINGS: [RequestKind; 3] = [RequestKind::List, RequestKind::ListFrom, RequestKind::ListFolder];
    for layout in LAYOUTS {
        let made = table(layout, &json!({})).await?;
        let snapshot = made.open().await?;
        made.scripted().forget();
        clean_up(&snapshot, long_after()).await?;
        let report = made.scripted().report();
        let listings: usize = LISTINGS.iter().map(|kind| report.count(*kind)).sum();
        assert!(
            report.at(RequestKind::ListFolder, "_sidecars").next().is_some(),
            "{layout:?}"
        );
        for number in 0..listings {
            let table = table(layout, &json!({})).await?;
            let snapshot = table.open().await?;
            let rule = Rule::new(Fault::ServerError).of(&LISTINGS);
            table.scripted().fail(rule.requests(number..number + 1));
            let cleaned = clean_up(&snapshot, long_after()).await;
            table.scripted().heal();
            match cleaned {
                Ok(cleaned) => assert!(!cleaned.not_deleted.is_empty(), "{layout:?}, listing {number}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::StorageError, "{layout:?}: {error}"),
            }
        }
    }
    Ok(())
}
