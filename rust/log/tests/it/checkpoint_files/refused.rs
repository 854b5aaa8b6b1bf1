//! Versions of which no checkpoint is written.

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_log::log_tail::{LogTail, StagedCommit};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::json;

use super::actions::{field, first, one_column};

/// protocol: beyond:checkpoint-protection.1
#[tokio::test]
async fn unknown_options_are_refused_before_a_byte_is_written() -> Result<()> {
    let features = |names: &[&str]| {
        let mut actions = first(one_column(), &[], json!({}), &["vacuumProtocolCheck"]);
        actions[0]["protocol"]["writerFeatures"] = json!(names);
        actions
    };
    let wrong = |key: &str| first(one_column(), &[], json!({key: "never"}), &[]);
    for (actions, kind) in [
        (
            features(&["vacuumProtocolCheck", "fromTheFuture"]),
            ErrorKind::UnsupportedFeature,
        ),
        (
            features(&["vacuumProtocolCheck", "redirectWriterOnly-preview"]),
            ErrorKind::UnsupportedFeature,
        ),
        (
            first(json!([field("q", "quaternion")]), &[], json!({}), &[]),
            ErrorKind::UnsupportedFeature,
        ),
        (wrong("delta.checkpoint.writeStatsAsJson"), ErrorKind::CorruptLog),
        (
            wrong("delta.checkpoint.writeStatsAsStruct"),
            ErrorKind::CorruptLog,
        ),
        (wrong("delta.deletedFileRetentionDuration"), ErrorKind::CorruptLog),
        (wrong("delta.checkpointPolicy"), ErrorKind::CorruptLog),
    ] {
        let table = TableBuilder::of(std::slice::from_ref(&actions)).await?;
        let snapshot = table.open().await?;
        table.scripted().forget();
        let error = write_checkpoint(&snapshot, &CheckpointOptions::default())
            .await
            .err();
        assert_eq!(error.as_ref().map(Error::kind), Some(kind), "{actions:?}");
        assert!(error.is_some_and(|error| error.hint_text().is_some()));
        assert_eq!(table.scripted().report().count(RequestKind::Put), 0);
    }
    // Checkpoint protection requires nothing else.
    let protected = features(&["vacuumProtocolCheck", "checkpointProtection"]);
    let table = TableBuilder::of(&[protected]).await?;
    assert!(
        write_checkpoint(&table.open().await?, &CheckpointOptions::default())
            .await?
            .is_new
    );
    Ok(())
}

/// A commit that only its catalog has is not part of `_delta_log` yet.
///
/// protocol: checkpoints.9, catalog:maintenance-operations-on-catalog-managed-tables.1
#[tokio::test]
async fn only_a_published_version_has_a_checkpoint() -> Result<()> {
    let names = ["catalogManaged", "vacuumProtocolCheck"];
    let mut actions = first(
        one_column(),
        &[],
        json!({"delta.enableInCommitTimestamps": "true"}),
        &names,
    );
    let writers = ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"];
    actions[0]["protocol"]["writerFeatures"] = json!(writers);
    let info =
        |time: i64| json!({"commitInfo": {"inCommitTimestamp": time, "operation": "TEST", "timestamp": 1}});
    actions.insert(0, info(1));
    let table = TableBuilder::of(&[actions]).await?;
    let staged = "00000000000000000001.3a0d65cd-4056-49b8-937b-95f9e0ee90e5.json";
    let lines = format!("{}\n{}\n", info(2), add("f", None));
    table
        .put(
            &format!("_delta_log/_staged_commits/{staged}"),
            lines.clone().into_bytes(),
        )
        .await?;
    let ratified = StagedCommit {
        version: Version::try_new(1)?,
        name: staged.to_owned(),
        size: lines.len() as u64,
        modified_ms: 2,
    };
    let tail = LogTail {
        commits: vec![ratified],
        max_version: None,
    };
    let snapshot = Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
    assert_eq!(snapshot.version().as_i64(), 1);
    let error = write_checkpoint(&snapshot, &CheckpointOptions::default())
        .await
        .err();
    assert_eq!(error.as_ref().map(Error::kind), Some(ErrorKind::VersionNotFound));
    assert!(error.is_some_and(|error| error.hint_text().is_some_and(|hint| hint.contains("publish"))));
    table
        .put("_delta_log/00000000000000000001.json", lines.into_bytes())
        .await?;
    let written = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
    assert_eq!((written.is_new, written.adds), (true, 1));
    Ok(())
}
