//! Contents of a checkpoint: names, sidecars, columns, expired actions, and the hint.

mod actions;
mod columns;
mod in_the_way;
mod layout;
mod left_out;
mod refused;

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::{CheckpointName, CheckpointOptions, write_checkpoint};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Error, Result};
use deltaic_testkit::checkpoint_reader::{actions_of, columns_of};
use deltaic_testkit::table_builder::{TableBuilder, remove};
use serde_json::{Value, json};

use self::actions::{actions, first, named, names, one_column, v2};

/// protocol: checkpoints.5, checkpoints.7, multi-part-checkpoint.1
#[tokio::test]
async fn a_classic_checkpoint_is_one_file() -> Result<()> {
    let table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), named(3)]).await?;
    let written = write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    assert_eq!(written.path, "_delta_log/00000000000000000001.checkpoint.parquet");
    assert_eq!(
        (written.actions, written.adds, written.is_new),
        (Some(5), 3, true)
    );
    assert_eq!(written.sidecars, [""; 0]);
    let bytes = table.read(&written.path).await?;
    assert_eq!(written.bytes, bytes.len() as u64);
    let columns = columns_of(&bytes)?;
    assert!(columns.iter().any(|column| column == "add.path"));
    let of_v2 = |column: &&String| column.starts_with("sidecar") || column.starts_with("checkpointMetadata");
    assert_eq!(columns.iter().find(of_v2), None);
    Ok(())
}

/// With sidecars, a top level contains no adds or removes; each sidecar has a unique name and its size, and together
/// they contain each action once.
///
/// protocol: checkpoints.4, uuid-named-checkpoint.1, v2-spec.1, v2-spec.2, v2-spec.3, checkpoint-metadata.2
/// protocol: handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints.1
#[tokio::test]
async fn sidecars_hold_so_many_actions_and_no_more() -> Result<()> {
    let mut files = named(10);
    files.push(remove("gone", None));
    for (sidecar_actions, expected) in [(1, 11), (4, 4), (5, 3), (10, 2), (50_000, 2)] {
        let table = TableBuilder::of(&[v2(&json!({})), files.clone()]).await?;
        let options = CheckpointOptions {
            sidecar_actions,
            ..CheckpointOptions::default()
        };
        let written = write_checkpoint(&table.open().await?, &options).await?;
        assert!(written.path.ends_with(".parquet") && !written.path.contains("checkpoint.parquet"));
        let top = actions_of(&table.read(&written.path).await?)?;
        assert_eq!(
            top.iter()
                .filter(|action| action.get("checkpointMetadata").is_some())
                .count(),
            1
        );
        assert!(
            top.iter()
                .all(|action| action.get("add").is_none() && action.get("remove").is_none())
        );
        let sidecars: Vec<&Value> = top.iter().filter_map(|action| action.get("sidecar")).collect();
        assert_eq!(sidecars.len(), expected);
        // delta-spark reads adds and removes from the top level, and fails if these columns are missing.
        let columns = columns_of(&table.read(&written.path).await?)?;
        for column in ["add.path", "add.partitionValues.key_value.key", "remove.path"] {
            assert!(columns.iter().any(|found| found == column), "{columns:?}");
        }
        let mut bytes = table.read(&written.path).await?.len() as u64;
        let mut rows = top.len();
        for (sidecar, relative) in sidecars.iter().zip(&written.sidecars) {
            let name = sidecar["path"].as_str().unwrap_or_default();
            assert_eq!(*relative, format!("_delta_log/_sidecars/{name}"));
            let held = table.read(relative).await?;
            assert_eq!(sidecar["sizeInBytes"], json!(held.len()));
            let held_actions = actions_of(&held)?;
            assert!(held_actions.len() <= sidecar_actions);
            rows += held_actions.len();
            bytes += held.len() as u64;
        }
        assert_eq!((written.bytes, written.actions), (bytes, Some(rows as u64)));
        assert_eq!(names(&actions(&table, &written, "add").await?, "path").len(), 10);
        assert_eq!(
            names(&actions(&table, &written, "remove").await?, "path"),
            ["gone"]
        );
    }
    Ok(())
}

/// Clients without the feature find a classic name, and in it the protocol.
///
/// protocol: classic-checkpoint.2
#[tokio::test]
async fn a_classic_name_remains_beside_one_with_an_id() -> Result<()> {
    let table = TableBuilder::of(&[v2(&json!({})), named(2)]).await?;
    let snapshot = table.open().await?;
    let by_spec = write_checkpoint(&snapshot, &CheckpointOptions::default()).await?;
    let classic = CheckpointOptions {
        name: CheckpointName::Classic,
        ..CheckpointOptions::default()
    };
    let classic = write_checkpoint(&snapshot, &classic).await?;
    assert_eq!(classic.path, "_delta_log/00000000000000000001.checkpoint.parquet");
    assert!(by_spec.is_new && classic.is_new);
    for written in [by_spec, classic] {
        assert_eq!(
            actions(&table, &written, "checkpointMetadata").await?,
            [json!({"version": 1})]
        );
        assert_eq!(actions(&table, &written, "protocol").await?.len(), 1);
    }
    Ok(())
}

/// Files uploaded in parts equal those uploaded at once, on a store and on a disk, and an existing checkpoint is not
/// overwritten.
#[tokio::test]
async fn a_large_checkpoint_is_uploaded_in_parts() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
    let files = named(2_000);
    let table = TableBuilder::of(&[first(one_column(), &[], json!({}), &[]), files]).await?;
    let options = CheckpointOptions {
        held_bytes: 0,
        ..CheckpointOptions::default()
    };
    for location in [table.copy_to(folder.path()).await?, table.location()] {
        let snapshot = Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await?;
        let written = write_checkpoint(&snapshot, &options).await?;
        assert_eq!((written.is_new, written.adds), (true, 2_000));
        let opened = Snapshot::load(location, None, LoadOptions::default()).await?;
        assert!(opened.segment().checkpoint.is_some());
        assert_eq!(opened.num_files(), 2_000);
        assert_eq!(opened.warnings(), [""; 0]);
    }
    Ok(())
}
