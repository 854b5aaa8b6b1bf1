//! Checkpoints on a failing store: every request in turn, with every fault. The result is a complete checkpoint or
//! none; the table is unchanged.

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointOptions, CheckpointWritten, HintOutcome, write_checkpoint};
use deltaic_log::last_checkpoint::{Hint, read_last_checkpoint};
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout, StatisticsForm};
use deltaic_testkit::facts::facts;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::maintenance::{LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::{Value, json};

/// The source of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Commits only.
    Commits,
    /// A checkpoint, and commits after it.
    Checkpoint,
}

fn first(policy: &str) -> Vec<Value> {
    let mut actions = TableBuilder::first_actions();
    actions[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}});
    actions[1]["metaData"]["configuration"] = json!({"delta.checkpointPolicy": policy});
    actions
}

async fn build(policy: &str, start: Start) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    let mut actions = first(policy);
    actions.extend((0..4).map(|number| add(&format!("old{number}"), None)));
    actions.push(remove("gone", None));
    table.commit(actions).await?;
    if start == Start::Checkpoint {
        let form = CheckpointForm {
            statistics: StatisticsForm::Both,
            row_group_rows: 3,
            ..CheckpointForm::of(Layout::Classic)
        };
        table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
        table
            .maintain(&MaintenanceStep::CleanUp(LastCommit::Deleted))
            .await?;
    }
    table.commit(vec![add("new", None), remove("old1", None)]).await?;
    table.commit(vec![add("gone", None)]).await?;
    Ok(table)
}

async fn write(snapshot: &Snapshot, held_bytes: usize) -> Result<CheckpointWritten> {
    let options = CheckpointOptions {
        sidecar_actions: 3,
        held_bytes,
        ..CheckpointOptions::default()
    };
    write_checkpoint(snapshot, &options).await
}

/// The table is unchanged, an existing checkpoint is complete and sufficient without the commits, and the reported
/// result is correct.
async fn assert_sound(table: &TableBuilder, outcome: &Result<CheckpointWritten>, how: &str) -> Result<()> {
    let state = replay(table.commits()).facts();
    let newest = Version::try_new(2)?;
    let opened = table.open().await?;
    assert_eq!(facts(&opened).await?, state, "{how}");
    assert_eq!(opened.warnings(), [""; 0], "{how}");
    let base = opened.segment().checkpoint.as_ref().map(|base| base.version);
    let exists = base == Some(newest);
    match outcome {
        Ok(written) => {
            assert!(exists, "{how}: {written:?}");
            assert_eq!(written.version, newest, "{how}");
            if matches!(written.hint, HintOutcome::Written) {
                assert_eq!(
                    read_last_checkpoint(&table.location()).await,
                    Hint::Version(newest),
                    "{how}"
                );
            }
        }
        Err(error) => {
            let known = [
                ErrorKind::StorageError,
                ErrorKind::CorruptLog,
                ErrorKind::VersionNotFound,
            ];
            assert!(known.contains(&error.kind()), "{how}: {error}");
            assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
        }
    }
    // Another attempt succeeds.
    let again = write(&opened, 1 << 20).await?;
    assert_eq!(again.is_new, !exists, "{how}");
    assert!(!matches!(again.hint, HintOutcome::Failed(_)), "{how}: {again:?}");
    for version in 0..=2 {
        table.delete(&format!("_delta_log/{version:020}.json")).await?;
    }
    assert_eq!(facts(&table.open().await?).await?, state, "{how}");
    Ok(())
}

/// protocol: checkpoints.3, checkpoints.10
#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_meets_a_fault_is_whole_or_not_there() -> Result<()> {
    let faults = Fault::OF_READS.into_iter().chain([Fault::AnswerLost]);
    for fault in faults {
        for (policy, start, held_bytes) in [
            ("classic", Start::Commits, 1 << 20),
            ("classic", Start::Checkpoint, 0),
            ("v2", Start::Checkpoint, 1 << 20),
            ("v2", Start::Commits, 0),
        ] {
            for number in 0.. {
                let mut was_met = false;
                for until in [number + 1, usize::MAX] {
                    let how = format!(
                        "{fault:?} at the requests {number}..{until}, {policy}, {start:?}, {held_bytes}"
                    );
                    let table = build(policy, start).await?;
                    let snapshot = table.open().await?;
                    table.scripted().fail(Rule::new(fault).requests(number..until));
                    let outcome = write(&snapshot, held_bytes).await;
                    was_met |= table.scripted().faults_met() > 0;
                    table.scripted().heal();
                    assert!(fault != Fault::Slow || outcome.is_ok(), "{how}: {outcome:?}");
                    assert_sound(&table, &outcome, &how).await?;
                }
                if !was_met {
                    assert!(number > 3, "a checkpoint makes requests");
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Orphaned sidecars of a failed attempt are deleted if the store permits.
#[tokio::test]
async fn an_attempt_that_fails_leaves_no_sidecars() -> Result<()> {
    let table = build("v2", Start::Commits).await?;
    let snapshot = table.open().await?;
    // The third sidecar fails, and so does the attempt.
    let third = Rule::new(Fault::PermissionDenied)
        .of(&[RequestKind::Put])
        .requests(1..2);
    table.scripted().fail(third);
    assert!(write(&snapshot, 1 << 20).await.is_err());
    table.scripted().heal();
    let report = table.scripted().report();
    let paths = |kind| {
        report
            .at(kind, "_sidecars")
            .map(|request| request.path.clone())
            .collect::<Vec<_>>()
    };
    let (put, deleted) = (paths(RequestKind::Put), paths(RequestKind::Delete));
    assert_eq!((put.len(), deleted.as_slice()), (2, &put[..1]));
    Ok(())
}

/// An unreadable hint is not overwritten: it may name a newer checkpoint.
#[tokio::test]
async fn an_unreadable_hint_is_not_overwritten() -> Result<()> {
    let table = build("classic", Start::Commits).await?;
    let snapshot = table.open().await?;
    table
        .put("_delta_log/_last_checkpoint", b"{\"version\":9}".to_vec())
        .await?;
    table
        .scripted()
        .fail(Rule::new(Fault::ServerError).at("_last_checkpoint"));
    let written = write(&snapshot, 1 << 20).await?;
    assert!(written.is_new && matches!(written.hint, HintOutcome::Failed(_)));
    table.scripted().heal();
    assert_eq!(
        read_last_checkpoint(&table.location()).await,
        Hint::Version(Version::try_new(9)?)
    );
    Ok(())
}

/// Two concurrent writers: one checkpoint, and both succeed.
///
/// protocol: classic-checkpoint.1
#[tokio::test]
async fn two_writers_make_one_classic_checkpoint() -> Result<()> {
    for held_bytes in [0, 1 << 20] {
        let table = build("classic", Start::Commits).await?;
        let snapshot = table.open().await?;
        let (one, other) = futures::join!(write(&snapshot, held_bytes), write(&snapshot, held_bytes));
        let (one, other) = (one?, other?);
        assert!(one.is_new || other.is_new);
        assert!(held_bytes == 0 || !(one.is_new && other.is_new));
        assert_eq!(
            (one.adds, one.actions, one.path),
            (other.adds, other.actions, other.path)
        );
        assert_sound(&table, &write(&snapshot, held_bytes).await, "two writers").await?;
    }
    Ok(())
}

/// A log that was replaced since it was opened is detected; a checkpoint never mixes both.
#[tokio::test]
async fn a_commit_that_is_another_since_is_reported() -> Result<()> {
    for lines in [
        vec![add("another", None), remove("old1", None)],
        vec![add("new", None)],
        vec![remove("old1", None)],
        vec![json!({"commitInfo": {}})],
    ] {
        let table = build("classic", Start::Commits).await?;
        let snapshot = table.open().await?;
        let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
        table
            .put("_delta_log/00000000000000000001.json", text.into_bytes())
            .await?;
        let error = write(&snapshot, 1 << 20).await.err();
        assert_eq!(
            error.as_ref().map(|error| error.kind()),
            Some(ErrorKind::CorruptLog),
            "{lines:?}"
        );
        let opened = table.open().await?;
        assert!(opened.segment().checkpoint.is_none());
    }
    Ok(())
}
