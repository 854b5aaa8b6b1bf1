//! Writes checkpoints: the state of a version without the commits that led to it.
//!
//! Surviving actions are read again from the log with every field, a few thousand at a time, and written one
//! row group at a time; the statistics are never all in memory. A checkpoint is complete before it gets its
//! name. Sidecars of an older checkpoint are referenced again if all their actions survive.
//!
//! Protocol: *Checkpoints*, *Checkpoint Specs*, *Checkpoint Naming Scheme*, *Checkpoint Schema*, *Action
//! Reconciliation*.

mod action_files;
mod add_form;
mod attempt;
mod columns;
mod existing_checkpoint;
mod from_checkpoint;
mod from_lines;
mod hint;
mod options;
mod parquet_out;
mod policy;
mod reused;
mod surviving_rows;
mod table_rows;
mod take_actions;
mod whole_adds;

use std::sync::Arc;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::features::ensure_checkpointable;
use deltaic_protocol::log_path::{LOG_FOLDER, LogFileKind};
use deltaic_protocol::properties::tombstone_retention_ms;
use deltaic_protocol::{Result, Version};

pub use self::hint::HintOutcome;
pub use self::options::{CheckpointName, CheckpointOptions, HELD_BYTES, SIDECAR_ACTIONS};
pub use self::policy::{CheckpointSpec, checkpoint_is_due, checkpoint_spec};
pub use self::whole_adds::whole_adds;

use self::add_form::AddColumns;
use self::attempt::{Attempt, classic_named, uuid_named};
use self::columns::FileSchemas;
use self::existing_checkpoint::{Existing, find_existing};
use self::hint::{Hinted, TopLevel, write_hint};
use self::parquet_out::Finished;
use self::surviving_rows::Retention;
use crate::decode::checkpoint::{Checkpoint, SIDECARS};
use crate::snapshot::Snapshot;
use deltaic_storage::clock::now_ms;
use deltaic_storage::parquet_writer::Landed;
use deltaic_storage::unused_memory::UnusedMemory;

/// An existing checkpoint.
#[derive(Clone, Debug)]
pub struct CheckpointWritten {
    /// The version of the checkpoint.
    pub version: Version,
    /// Path of its file, or of its top-level file, relative to the table's root.
    pub path: String,
    /// Number of actions of all kinds in all its files; `None` if an existing checkpoint does not specify it.
    pub actions: Option<u64>,
    /// Number of adds.
    pub adds: u64,
    /// Size of all its files in bytes.
    pub bytes: u64,
    /// Paths of its sidecars, relative to the table's root.
    pub sidecars: Vec<String>,
    /// Number of sidecars, the first ones, that an older checkpoint references too; 0 if the checkpoint already existed.
    pub reused_sidecars: usize,
    /// True if this call wrote it; false if it already existed.
    pub is_new: bool,
    /// Result of updating `_last_checkpoint`.
    pub hint: HintOutcome,
}

/// Writes a checkpoint of a snapshot's version, and updates `_last_checkpoint`. An existing readable
/// checkpoint remains unchanged and is returned. Must be called inside a runtime.
///
/// The checkpoint contains the protocol, the metadata, metadata domains that are not removed, transaction
/// identifiers and tombstones that have not expired, and the live files with all their fields.
///
/// # Errors
///
/// `UnsupportedFeature` if the table has an unknown feature; `VersionNotFound` if the version's commit is not
/// in `_delta_log`; `CorruptLog` for an invalid table property, and if the log has changed since the table
/// was opened; errors of the store. After an error no new checkpoint exists, unless there was no definitive
/// response to the last request.
#[tracing::instrument(target = "deltaic::maintenance", name = "write checkpoint", level = "info", skip_all, fields(version = snapshot.version().as_i64()))]
pub async fn write_checkpoint(snapshot: &Snapshot, options: &CheckpointOptions) -> Result<CheckpointWritten> {
    let written = write(snapshot, options).await;
    written.map_err(|error| {
        let located = error.with("table", snapshot.location().uri());
        located.with("version", snapshot.version())
    })
}

async fn write(snapshot: &Snapshot, options: &CheckpointOptions) -> Result<CheckpointWritten> {
    ensure_checkpointable(snapshot.configuration())?;
    let spec = checkpoint_spec(snapshot.configuration())?;
    let is_classic = spec == CheckpointSpec::V1 || options.name == CheckpointName::Classic;
    let retention = Retention {
        tombstone_ms: tombstone_retention_ms(snapshot.metadata())?,
        now_ms: options.now_ms.unwrap_or_else(now_ms),
    };
    let form = AddColumns::of(snapshot)?;
    if let Existing::Checkpoint(existing) = find_existing(snapshot, options.name, is_classic).await? {
        return describe(snapshot, &existing).await;
    }
    // Without a newer checkpoint, or if it cannot be read, more is written.
    let newer = match spec {
        CheckpointSpec::V1 => None,
        CheckpointSpec::V2 => snapshot.reread_from_newer_checkpoint().await.unwrap_or(None),
    };
    let attempt = Attempt {
        snapshot: newer.as_ref().unwrap_or(snapshot),
        options,
        retention,
        schemas: FileSchemas::of(form.fields()),
        form: Arc::new(form),
        relative: match is_classic {
            true => classic_named(snapshot),
            false => uuid_named(snapshot),
        },
    };
    // Pages and batches are as large as those before them.
    let _kept = UnusedMemory::kept();
    let made = match spec {
        CheckpointSpec::V1 => attempt.flat().await?,
        CheckpointSpec::V2 => attempt.with_sidecars().await?,
    };
    let is_classic = made.top.relative == classic_named(snapshot);
    if made.top.landed == Landed::Another
        && is_classic
        && let Existing::Checkpoint(existing) = find_existing(snapshot, options.name, is_classic).await?
    {
        return describe(snapshot, &existing).await;
    }
    let top_level = (!is_classic).then(|| TopLevel {
        name: made
            .top
            .relative
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned(),
        bytes: made.top.bytes,
        modification_time: now_ms(),
    });
    let of_sidecars = |count: fn(&Finished) -> u64| made.sidecars.iter().map(count).sum::<u64>();
    let hinted = Hinted {
        version: snapshot.version(),
        actions: made.top.rows + of_sidecars(|sidecar| sidecar.rows),
        adds: made.adds,
        bytes: made.top.bytes + of_sidecars(|sidecar| sidecar.bytes),
        top_level,
    };
    Ok(CheckpointWritten {
        version: snapshot.version(),
        path: made.top.relative.clone(),
        actions: Some(hinted.actions),
        adds: hinted.adds,
        bytes: hinted.bytes,
        sidecars: made
            .sidecars
            .iter()
            .map(|sidecar| sidecar.relative.clone())
            .collect(),
        reused_sidecars: made.reused,
        is_new: true,
        hint: write_hint(snapshot.location(), &hinted, true).await,
    })
}

/// Describes an existing checkpoint, and updates the hint if it names an older one.
async fn describe(snapshot: &Snapshot, existing: &Checkpoint) -> Result<CheckpointWritten> {
    let location = snapshot.location();
    let sidecars: Vec<String> = existing
        .sidecars
        .iter()
        .map(|sidecar| Ok(format!("{LOG_FOLDER}/{SIDECARS}/{}", sidecar.name()?)))
        .collect::<Result<_>>()?;
    let named = &existing.files.files;
    let top_bytes = named.iter().map(|file| file.size).sum::<u64>();
    let of_sidecar = |sidecar: &Sidecar| u64::try_from(sidecar.size_in_bytes).unwrap_or(0);
    let bytes = top_bytes + existing.sidecars.iter().map(of_sidecar).sum::<u64>();
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let adds = existing.adds.iter().map(|batch| count(batch.len())).sum();
    let actions = existing.rows().map(count);
    let top_level = named
        .first()
        .filter(|file| matches!(file.path.kind, LogFileKind::UuidCheckpoint { .. }));
    let top_level = top_level.map(|file| TopLevel {
        name: file.name.clone(),
        bytes: file.size,
        modification_time: file.modified_ms,
    });
    let hint = match actions {
        Some(actions) if named.len() == 1 => {
            let hinted = Hinted {
                version: existing.files.version,
                actions,
                adds,
                bytes,
                top_level,
            };
            write_hint(location, &hinted, false).await
        }
        _ => HintOutcome::Left,
    };
    Ok(CheckpointWritten {
        version: existing.files.version,
        path: named.first().map(|file| file.relative()).unwrap_or_default(),
        actions,
        adds,
        bytes,
        sidecars,
        reused_sidecars: 0,
        is_new: false,
        hint,
    })
}
