//! Checkpoints of tables written by other implementations: each contains every field of the log, and can replace its
//! commits.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_json::LineDelimitedWriter;
use deltaic_log::Snapshot;
use deltaic_log::check::{OlderNames, Progress, check_log};
use deltaic_log::checkpoint::{CheckpointName, CheckpointOptions, CheckpointWritten, write_checkpoint};
use deltaic_log::snapshot::{LoadOptions, Pruning, WithStatistics};
use deltaic_protocol::properties::boolean;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::store_error;
use deltaic_testkit::checkpoint_reader::actions_of;
use deltaic_testkit::oracle::replay;
use deltaic_testkit::reference_logs::reference_tables;
use object_store::ObjectStoreExt;
use serde_json::Value;

/// A copy of a table's log in memory that can be opened as a table.
async fn copied(table: &Path, number: usize) -> Result<Arc<TableLocation>> {
    let location = TableLocation::parse(&format!("memory://golden/checkpoint/{number}"), Vec::new())?;
    let mut folders = vec![table.join("_delta_log")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let relative = path
                .strip_prefix(table)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            let bytes = read(&path);
            let put = location
                .store()
                .put(&location.below(&relative)?, bytes.into())
                .await;
            put.map_err(|error| store_error(&error, &relative))?;
        }
    }
    Ok(Arc::new(location))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tables that others wrote lie beside the checkout"
)]
fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_default()
}

/// The contents of a snapshot, for comparison: the rows of each list, as sorted text.
async fn reported(snapshot: &Snapshot, statistics: WithStatistics) -> Result<[Vec<String>; 3]> {
    let pruning = Pruning {
        predicate: None,
        statistics,
    };
    let (files, _) = snapshot.prune(pruning).await?;
    let (_, tombstones) = snapshot.tombstones().await?;
    let spell = |value: serde_json::Result<String>| value.unwrap_or_default();
    let mut table = vec![
        spell(serde_json::to_string(snapshot.protocol())),
        spell(serde_json::to_string(snapshot.metadata())),
    ];
    table.extend(
        snapshot
            .txns()
            .values()
            .map(|txn| spell(serde_json::to_string(txn))),
    );
    table.extend(
        snapshot
            .domains()
            .values()
            .map(|domain| spell(serde_json::to_string(domain))),
    );
    Ok([table, texts(&files.to_batches()?)?, texts(&tombstones)?])
}

fn texts(batches: &[RecordBatch]) -> Result<Vec<String>> {
    let wrong = |error: &dyn std::fmt::Display| Error::new(ErrorKind::CorruptLog, error.to_string());
    let mut lines = Vec::new();
    for batch in batches {
        let mut text = Vec::new();
        let mut writer = LineDelimitedWriter::new(&mut text);
        writer.write(batch).map_err(|error| wrong(&error))?;
        writer.finish().map_err(|error| wrong(&error))?;
        let text = String::from_utf8(text).map_err(|error| wrong(&error))?;
        lines.extend(text.lines().map(str::to_owned));
    }
    lines.sort();
    Ok(lines)
}

/// The commits from version 0 on, if the log still contains all of them.
async fn commits_of(snapshot: &Snapshot) -> Option<Vec<Vec<Value>>> {
    let mut commits = Vec::new();
    for version in 0..=snapshot.version().as_i64() {
        let relative = format!("_delta_log/{version:020}.json");
        let bytes = snapshot.location().read(&relative).await.ok()?;
        let text = String::from_utf8(bytes.to_vec()).ok()?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        commits.push(lines.map(serde_json::from_str).collect::<Result<_, _>>().ok()?);
    }
    Some(commits)
}

/// All actions in a checkpoint's files without statistics and partition values as columns, sorted.
async fn message(location: &TableLocation, written: &CheckpointWritten) -> Result<Vec<String>> {
    let mut actions = Vec::new();
    for relative in std::iter::once(&written.path).chain(&written.sidecars) {
        let bytes = location.read(relative).await;
        for mut action in actions_of(&bytes.map_err(|error| store_error(&error, relative))?)? {
            if let Some(add) = action.get_mut("add").and_then(Value::as_object_mut) {
                add.retain(|name, _| !["stats_parsed", "partitionValues_parsed"].contains(&name.as_str()));
            }
            if action.get("sidecar").is_none() && action.get("checkpointMetadata").is_none() {
                actions.push(action.to_string());
            }
        }
    }
    actions.sort();
    Ok(actions)
}

/// Codes of the damage that a check reports.
async fn codes(location: &Arc<TableLocation>) -> Result<BTreeSet<&'static str>> {
    let progress = Progress::default();
    let checked = check_log(location, LoadOptions::default(), OlderNames::Dropped, &progress).await?;
    Ok(checked.findings.counts().keys().copied().collect())
}

/// The result for a table.
#[derive(Debug, PartialEq, Eq)]
enum Tried {
    NotOpened,
    Refused,
    Compared { by_oracle: bool },
}

fn ensure(holds: bool, message: impl Fn() -> String) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::internal(message())),
    }
}

fn ensure_same(message: &[String], expected: &[String]) -> Result<()> {
    let differ = message
        .iter()
        .zip(expected)
        .find(|(message, expected)| message != expected);
    ensure(differ.is_none(), || format!("{differ:#?}"))?;
    ensure(message.len() == expected.len(), || {
        format!("{} and not {}", message.len(), expected.len())
    })
}

async fn try_table(table: &Path, number: usize, options: &CheckpointOptions) -> Result<Tried> {
    let location = copied(table, number).await?;
    let Ok(snapshot) = Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await else {
        return Ok(Tried::NotOpened);
    };
    let commits = commits_of(&snapshot).await;
    // If the newest version already has a checkpoint and all commits exist, the checkpoint is deleted.
    let stem = snapshot.version().file_stem();
    let own = snapshot
        .segment()
        .checkpoint
        .as_ref()
        .filter(|held| held.version == snapshot.version());
    let snapshot = match (&commits, own) {
        (Some(_), Some(own)) => {
            for file in &own.files {
                let path = location.below(&file.relative())?;
                let _ = location.store().delete(&path).await;
            }
            Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await?
        }
        _ => snapshot,
    };
    let known = codes(&location).await?;
    let says = |name: &str| boolean(snapshot.metadata(), name);
    let has_text = says("delta.checkpoint.writeStatsAsJson")?;
    let statistics = match has_text || says("delta.checkpoint.writeStatsAsStruct")? {
        true => WithStatistics::All,
        false => WithStatistics::None,
    };
    let before = reported(&snapshot, statistics).await;
    let written = match write_checkpoint(&snapshot, options).await {
        Err(error) if error.kind() == ErrorKind::UnsupportedFeature => return Ok(Tried::Refused),
        // One of the tables has an intentionally damaged checkpoint.
        Err(error)
            if error
                .to_string()
                .contains("an unreadable checkpoint already exists") =>
        {
            return Ok(Tried::Refused);
        }
        written => written?,
    };
    let found = codes(&location).await?;
    let fresh: Vec<_> = found.difference(&known).collect();
    ensure(fresh.is_empty(), || {
        format!("a check finds {fresh:?}, before {known:?}")
    })?;
    if let Some(commits) = &commits {
        let mut expected = Vec::new();
        for mut action in replay(commits).checkpointed() {
            if let (Some(add), false) = (action.get_mut("add").and_then(Value::as_object_mut), has_text) {
                add.remove("stats");
            }
            expected.push(action.to_string());
        }
        expected.sort();
        let mut message = message(&location, &written).await?;
        if snapshot.segment().checkpoint.is_some() {
            // Its writer omitted tombstones that had expired by then.
            let is_remove = |action: &String| action.starts_with("{\"remove\":");
            message.retain(|action| !is_remove(action) || expected.contains(action));
            expected.retain(|action| !is_remove(action) || message.contains(action));
        }
        ensure_same(&message, &expected)?;
    }
    // Using only the checkpoint.
    for version in 0..=snapshot.version().as_i64() {
        let path = location.below(&format!("_delta_log/{version:020}.json"))?;
        let _ = location.store().delete(&path).await;
    }
    let alone = Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await?;
    let base = alone.segment().checkpoint.as_ref();
    ensure(base.map(|base| base.version.file_stem()) == Some(stem), || {
        "it is not read".to_owned()
    })?;
    // Not compared if the files could not be listed before.
    if let Ok(before) = before {
        let after = reported(&alone, statistics).await?;
        for (before, after) in before.iter().zip(&after) {
            ensure_same(after, before)?;
        }
    }
    Ok(Tried::Compared {
        by_oracle: commits.is_some(),
    })
}

/// Every table of every implementation at its newest version: no field of the log is lost, a check reports no new
/// findings, and the checkpoint alone gives the same table.
///
/// protocol: checkpoints.10, checkpoints.12, checkpoints.14, checkpoints.17
/// protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
#[tokio::test]
async fn a_checkpoint_of_any_table_states_what_its_log_states() -> Result<()> {
    let Some(tables) = reference_tables() else {
        return Ok(());
    };
    let (mut compared, mut by_oracle) = (0, 0);
    let mut wrong = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        // At time 0 nothing has expired, so that every action is expected.
        let options = CheckpointOptions {
            now_ms: Some(0),
            sidecar_actions: 3,
            name: match number % 2 {
                0 => CheckpointName::BySpec,
                _ => CheckpointName::Classic,
            },
            ..CheckpointOptions::default()
        };
        match try_table(table, number, &options).await {
            Ok(Tried::Compared { by_oracle: whole }) => {
                compared += 1;
                by_oracle += usize::from(whole);
            }
            Ok(Tried::NotOpened | Tried::Refused) => {}
            Err(error) => wrong.push(format!("{}: {error}", table.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        compared >= 100 && by_oracle >= 80,
        "of {} tables {compared} were compared, {by_oracle} of them by the oracle",
        tables.len()
    );
    Ok(())
}
