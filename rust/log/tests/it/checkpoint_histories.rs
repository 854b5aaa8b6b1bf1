//! Checkpoints of generated histories: each agrees with the oracle in every field of every action, and can replace the
//! commits before it.

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_log::check::{OlderNames, Progress, check_log};
use deltaic_log::checkpoint::{CheckpointName, CheckpointOptions, CheckpointWritten, write_checkpoint};
use deltaic_log::listing::Listing;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;
use deltaic_storage::store_error;
use deltaic_testkit::checkpoint_reader::actions_of;
use deltaic_testkit::facts::{facts, statistics_facts};
use deltaic_testkit::maintenance::{LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::property::holds;
use deltaic_testkit::strategies::{checkpoint_form, history, history_with_maintenance};
use deltaic_testkit::table_builder::TableBuilder;
use proptest::prelude::*;
use serde_json::{Value, json};

/// At time 0 nothing has expired, so that every action is expected.
fn options() -> CheckpointOptions {
    CheckpointOptions {
        now_ms: Some(0),
        ..CheckpointOptions::default()
    }
}

/// The action without parsed columns; `None` for actions that only the V2 spec has.
fn plain(mut action: Value) -> Option<Value> {
    if let Some(add) = action.get_mut("add").and_then(Value::as_object_mut) {
        add.retain(|name, _| !["stats_parsed", "partitionValues_parsed"].contains(&name.as_str()));
    }
    let is_of_v2 = action.get("sidecar").is_some() || action.get("checkpointMetadata").is_some();
    (!is_of_v2).then_some(action)
}

/// All actions in a checkpoint's files, sorted.
async fn rows_of(table: &TableBuilder, written: &CheckpointWritten) -> Result<Vec<Value>> {
    let mut actions = Vec::new();
    for relative in std::iter::once(&written.path).chain(&written.sidecars) {
        let bytes = table.location().read(relative).await;
        let bytes = bytes.map_err(|error| store_error(&error, relative))?;
        actions.extend(actions_of(&bytes)?.into_iter().filter_map(plain));
    }
    Ok(sorted(actions))
}

fn sorted(mut actions: Vec<Value>) -> Vec<Value> {
    actions.sort_by_key(ToString::to_string);
    actions
}

fn without_statistics(mut actions: Vec<Value>) -> Vec<Value> {
    for action in &mut actions {
        if let Some(add) = action.get_mut("add").and_then(Value::as_object_mut) {
            add.remove("stats");
        }
    }
    sorted(actions)
}

/// Codes that a check reports.
async fn codes(table: &TableBuilder) -> Result<BTreeSet<&'static str>> {
    let (location, progress) = (table.location(), Progress::default());
    let checked = check_log(&location, LoadOptions::default(), OlderNames::Dropped, &progress).await?;
    Ok(checked.findings.counts().keys().copied().collect())
}

/// Deletes the commits up to a version, so that only its checkpoint remains.
async fn delete_commits(table: &TableBuilder, up_to: usize) -> Result<()> {
    for version in 0..=up_to {
        table.delete(&format!("_delta_log/{version:020}.json")).await?;
    }
    Ok(())
}

/// The same history, of a table with the V2 checkpoint policy.
fn with_policy_v2(commits: &mut [Vec<Value>]) {
    for metadata in commits
        .iter_mut()
        .flatten()
        .filter_map(|action| action.get_mut("metaData"))
    {
        metadata["configuration"]["delta.checkpointPolicy"] = json!("v2");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    /// For any version, spec, sidecar size, and opened or refreshed snapshot: the checkpoint agrees with the oracle, a
    /// check reports nothing, and without the commits it gives the same table.
    ///
    /// protocol: checkpoints.3, checkpoints.5, checkpoints.7, checkpoints.10, checkpoints.12, checkpoints.17
    /// protocol: v2-spec.1, v2-spec.2, v2-spec.3, uuid-named-checkpoint.1, classic-checkpoint.2, checkpoint-metadata.2
    /// protocol: multi-part-checkpoint.1, problems-with-multi-part-checkpoints.4
    /// protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
    #[test]
    fn a_checkpoint_states_what_the_oracle_states(
        mut commits in history(), at in any::<prop::sample::Index>(), policy_is_v2 in any::<bool>(),
        sidecar_actions in 1usize..6, is_classic in any::<bool>(), is_refreshed in any::<bool>(),
    ) {
        if policy_is_v2 {
            with_policy_v2(&mut commits);
        }
        holds(async {
            let at = at.index(commits.len());
            let mut table = TableBuilder::new();
            let mut snapshot = None;
            for (version, actions) in commits.iter().enumerate() {
                table.commit(actions.clone()).await?;
                if version == at / 2 {
                    snapshot = Some(table.open().await?);
                }
                if version == at && let (Some(older), true) = (&snapshot, is_refreshed) {
                    snapshot = Some(older.refresh().await?);
                }
            }
            let snapshot = match snapshot.filter(|_| is_refreshed) {
                Some(refreshed) => refreshed,
                None => table.open_at(at).await?,
            };
            let options = CheckpointOptions {
                sidecar_actions,
                name: if is_classic { CheckpointName::Classic } else { CheckpointName::BySpec },
                ..options()
            };
            let known = codes(&table).await?;
            let written = write_checkpoint(&snapshot, &options).await?;
            let state = replay(&commits[..=at]);
            assert!(written.is_new);
            assert_eq!(rows_of(&table, &written).await?, sorted(state.checkpointed()), "{written:?}");
            let sidecars = [state.files.len(), state.tombstones.len()].map(|rows| rows.div_ceil(sidecar_actions));
            assert_eq!(written.adds, state.files.len() as u64);
            let follows_v2 = policy_is_v2 && snapshot.protocol().reader_features.iter().flatten()
                .any(|name| name == "v2Checkpoint");
            assert_eq!(written.sidecars.len(), if follows_v2 { sidecars.iter().sum() } else { 0 });
            assert_eq!(written.path.len() > "_delta_log/00000000000000000000.checkpoint.parquet".len(),
                follows_v2 && !is_classic, "{}", written.path);
            let found = codes(&table).await?;
            assert!(found.is_subset(&known), "{found:?}, and before {known:?}");
            let again = write_checkpoint(&snapshot, &options).await?;
            assert_eq!((again.is_new, &again.path), (false, &written.path));
            assert_eq!((again.adds, again.actions, again.bytes), (written.adds, written.actions, written.bytes));
            // Using only the checkpoint.
            delete_commits(&table, at).await?;
            let alone = table.open_at(at).await?;
            assert_eq!(facts(&alone).await?, state.facts(), "warnings: {:?}", alone.warnings());
            assert_eq!(statistics_facts(&alone).await?, state.statistics_facts());
            let newest = table.open().await?;
            assert_eq!(facts(&newest).await?, replay(&commits).facts());
            assert_eq!(newest.warnings(), [""; 0]);
            let found = codes(&table).await?;
            assert!(found.is_subset(&known), "{found:?}, and before {known:?}");
            Ok(())
        })?;
    }

    /// A checkpoint of a log that starts at a checkpoint of any form equals that checkpoint plus the commits after it.
    ///
    /// protocol: checkpoints.10, checkpoints.11
    #[test]
    fn a_checkpoint_follows_a_checkpoint_of_any_form(
        mut commits in history(), form in checkpoint_form(), at in any::<prop::sample::Index>(),
        are_deleted in any::<bool>(), policy_is_v2 in any::<bool>(), sidecar_actions in 1usize..6,
    ) {
        if policy_is_v2 {
            with_policy_v2(&mut commits);
        }
        holds(async {
            let at = at.index(commits.len());
            let newest = commits.len() - 1;
            let mut table = TableBuilder::new();
            for (version, actions) in commits.iter().enumerate() {
                table.commit(actions.clone()).await?;
                if version == at {
                    table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
                }
            }
            if are_deleted && at < newest {
                table.maintain(&MaintenanceStep::CleanUp(LastCommit::Deleted)).await?;
            }
            let snapshot = table.open().await?;
            let options = CheckpointOptions { sidecar_actions, ..options() };
            let written = write_checkpoint(&snapshot, &options).await?;
            assert_eq!(written.is_new, at < newest);
            let state = replay(&commits);
            if written.is_new {
                // Statistics that the older checkpoint has lost remain lost.
                let (is, should) = (rows_of(&table, &written).await?, state.checkpointed());
                assert_eq!(without_statistics(is), without_statistics(should), "{written:?}");
            }
            let before = statistics_facts(&snapshot).await?;
            delete_commits(&table, newest).await?;
            let alone = table.open().await?;
            assert_eq!(facts(&alone).await?, state.facts(), "warnings: {:?}", alone.warnings());
            assert_eq!(statistics_facts(&alone).await?, before);
            Ok(())
        })?;
    }

    /// Checkpoints that reference the sidecars of older ones: each contains what the oracle states, and alone gives the
    /// snapshot, whether the writer opens the table each time or refreshes one snapshot.
    ///
    /// protocol: checkpoints.10, v2-spec.2, v2-spec.3, sidecar-files.1
    #[test]
    fn each_checkpoint_of_a_sequence_gives_the_snapshot_alone(
        mut commits in history(), are_due in proptest::collection::vec(any::<bool>(), 13),
        sidecar_actions in 1usize..6, is_refreshed in any::<bool>(),
    ) {
        with_policy_v2(&mut commits);
        holds(async {
            let mut table = TableBuilder::new();
            let mut handle = None;
            let mut versions = Vec::new();
            for (version, actions) in commits.iter().enumerate() {
                table.commit(actions.clone()).await?;
                if are_due.get(version) != Some(&true) {
                    continue;
                }
                let snapshot = match handle.take().filter(|_| is_refreshed) {
                    None => table.open().await?,
                    Some(older) => Snapshot::refresh(&older).await?,
                };
                let options = CheckpointOptions { sidecar_actions, ..options() };
                let written = write_checkpoint(&snapshot, &options).await?;
                let state = replay(&commits[..=version]);
                assert_eq!(rows_of(&table, &written).await?, sorted(state.checkpointed()), "{written:?}");
                assert_eq!(written.adds, state.files.len() as u64);
                let unique: BTreeSet<&String> = written.sidecars.iter().collect();
                assert_eq!(unique.len(), written.sidecars.len());
                versions.push(version);
                handle = Some(snapshot);
            }
            delete_commits(&table, commits.len() - 1).await?;
            // Newest first, since a log with a gap before its end cannot be read.
            for version in versions.into_iter().rev() {
                let alone = table.open_at(version).await?;
                assert_eq!(facts(&alone).await?, replay(&commits[..=version]).facts());
                assert_eq!(alone.warnings(), [""; 0]);
                for file in Listing::whole(&table.location()).await?.files {
                    if file.path.version == alone.version() {
                        table.delete(&file.relative()).await?;
                    }
                }
            }
            Ok(())
        })?;
    }

    /// After any maintenance between the commits, a checkpoint can be written for each readable version.
    ///
    /// protocol: checkpoints.3, checkpoints.9
    #[test]
    fn a_checkpoint_may_be_written_of_every_version_that_the_log_reports(history in history_with_maintenance()) {
        holds(async {
            let mut table = TableBuilder::new();
            let mut commits = Vec::new();
            for (actions, maintenance) in &history {
                table.commit(actions.clone()).await?;
                commits.push(actions.clone());
                for step in maintenance {
                    table.maintain(step).await?;
                }
                let snapshot = table.open().await?;
                let written = write_checkpoint(&snapshot, &options()).await;
                if let Err(error) = written {
                    // A truncated checkpoint of the version is not overwritten.
                    assert!(error.to_string().contains("an unreadable checkpoint already exists"), "{error}");
                    continue;
                }
                let opened = table.open().await?;
                assert_eq!(facts(&opened).await?, replay(&commits).facts());
            }
            Ok(())
        })?;
    }
}
