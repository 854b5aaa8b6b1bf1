//! Writing a checkpoint: what a version is, without the commits that led to it.
//!
//! What stands is read again where it lies, with every field, a few thousand actions at a time, and written a row group
//! at a time; the statistics are never there all at once. A checkpoint is whole before it has its name.
//!
//! Protocol: *Checkpoints*, *Checkpoint Specs*, *Checkpoint Naming Scheme*, *Checkpoint Schema*, *Action Reconciliation*.

mod action_files;
mod add_form;
mod attempt;
mod columns;
mod from_checkpoint;
mod from_lines;
mod hint;
mod parquet_out;
mod policy;
mod standing_checkpoint;
mod standing_rows;
mod table_rows;
mod take_actions;
mod upload;
mod whole_adds;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::features::ensure_checkpointable;
use deltaic_protocol::log_path::{LOG_FOLDER, LogFileKind};
use deltaic_protocol::properties::tombstone_retention_ms;
use deltaic_protocol::{Result, Version};

pub use self::hint::HintOutcome;
pub use self::policy::{CheckpointSpec, checkpoint_is_due, checkpoint_spec};
pub use self::whole_adds::whole_adds;

use self::add_form::AddForm;
use self::attempt::Attempt;
use self::columns::FileSchemas;
use self::hint::{Hinted, TopLevel, write_hint};
use self::parquet_out::Finished;
use self::standing_checkpoint::{Standing, look};
use self::standing_rows::Retention;
use self::upload::Landed;
use crate::clock::{new_id, now_ms};
use crate::decode::checkpoint::{Checkpoint, SIDECARS};
use crate::snapshot::Snapshot;

/// How many actions a sidecar holds at most: enough that a checkpoint of a million files has twenty, which the machines
/// of a cluster read side by side, and few enough that each is a matter of a second.
pub const SIDECAR_ACTIONS: usize = 50_000;

/// How many bytes of a file are held at most, so that it is put under the condition that none is there. One that is larger
/// goes in parts.
pub const HELD_BYTES: usize = 64 << 20;

/// How a checkpoint is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckpointName {
    /// As its spec has it: `n.checkpoint.parquet` by V1, `n.checkpoint.<uuid>.parquet` by V2.
    #[default]
    BySpec,
    /// `n.checkpoint.parquet` also by V2: clients that do not know the feature find it, and the protocol in it, which
    /// tells them that the table is not theirs.
    Classic,
}

/// How a checkpoint is written.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointOptions {
    /// Its name.
    pub name: CheckpointName,
    /// How many actions a sidecar holds at most.
    pub sidecar_actions: usize,
    /// How many bytes of a file are held at most.
    pub held_bytes: usize,
    /// When it is, in milliseconds since the epoch, for what expires; now where it is not given.
    pub now_ms: Option<i64>,
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        Self {
            name: CheckpointName::default(),
            sidecar_actions: SIDECAR_ACTIONS,
            held_bytes: HELD_BYTES,
            now_ms: None,
        }
    }
}

/// A checkpoint that stands.
#[derive(Clone, Debug)]
pub struct CheckpointWritten {
    /// The version that it holds.
    pub version: Version,
    /// Its file, or its top level, below the table's root.
    pub path: String,
    /// How many actions it holds, of every kind and in all its files; none where one that was there before does not say.
    pub actions: Option<u64>,
    /// How many of them are adds.
    pub adds: u64,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Its sidecars, below the table's root.
    pub sidecars: Vec<String>,
    /// Whether it was written now; else it was there.
    pub is_new: bool,
    /// What became of `_last_checkpoint`.
    pub hint: HintOutcome,
}

/// Writes a checkpoint of a snapshot's version, and lets `_last_checkpoint` name it. One that is there already and can be
/// read is left as it is, and is what is given back. Must be called inside a runtime.
///
/// Which actions stand in it: the protocol, the metadata, domains that are there, transaction identifiers and tombstones
/// that have not expired, and the files with all that the log says of them.
///
/// # Errors
///
/// `UnsupportedFeature` where the table asks for something that is not known; `VersionNotFound` where the version's commit
/// is not in `_delta_log`; `CorruptLog` for a table property that cannot be read, and where the log is not what it was
/// when the table was opened; the store's. After an error no checkpoint stands that did not stand before, unless the store
/// did not say what became of the last request.
pub async fn write_checkpoint(snapshot: &Snapshot, options: &CheckpointOptions) -> Result<CheckpointWritten> {
    let written = write(snapshot, options).await;
    written.map_err(|error| {
        let located = error.with("table", snapshot.location().uri());
        located.with("version", snapshot.version())
    })
}

async fn write(snapshot: &Snapshot, options: &CheckpointOptions) -> Result<CheckpointWritten> {
    let (protocol, metadata) = (snapshot.protocol(), snapshot.metadata());
    ensure_checkpointable(protocol, metadata, snapshot.schema())?;
    let spec = checkpoint_spec(protocol, metadata)?;
    let is_classic = spec == CheckpointSpec::V1 || options.name == CheckpointName::Classic;
    let retention = Retention {
        tombstone_ms: tombstone_retention_ms(metadata)?,
        now_ms: options.now_ms.unwrap_or_else(now_ms),
    };
    let form = AddForm::of(snapshot)?;
    if let Standing::Checkpoint(standing) = look(snapshot, options.name, is_classic).await? {
        return describe(snapshot, &standing).await;
    }
    let stem = format!("{LOG_FOLDER}/{}.checkpoint", snapshot.version().file_stem());
    let attempt = Attempt {
        snapshot,
        options,
        retention,
        schemas: FileSchemas::of(form.fields()),
        form,
        relative: match is_classic {
            true => format!("{stem}.parquet"),
            false => format!("{stem}.{}.parquet", new_id()),
        },
    };
    let made = match spec {
        CheckpointSpec::V1 => attempt.flat().await?,
        CheckpointSpec::V2 => attempt.with_sidecars().await?,
    };
    if made.top.landed == Landed::Another
        && is_classic
        && let Standing::Checkpoint(standing) = look(snapshot, options.name, is_classic).await?
    {
        return describe(snapshot, &standing).await;
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
        is_new: true,
        hint: write_hint(snapshot.location(), &hinted, true).await,
    })
}

/// Tells of a checkpoint that was there before, and lets the hint name it where it names an older one.
async fn describe(snapshot: &Snapshot, standing: &Checkpoint) -> Result<CheckpointWritten> {
    let location = snapshot.location();
    let sidecars: Vec<String> = standing
        .sidecars
        .iter()
        .map(|sidecar| Ok(format!("{LOG_FOLDER}/{SIDECARS}/{}", sidecar.name()?)))
        .collect::<Result<_>>()?;
    let named = &standing.files.files;
    let top_bytes = named.iter().map(|file| file.size).sum::<u64>();
    let of_sidecar = |sidecar: &Sidecar| u64::try_from(sidecar.size_in_bytes).unwrap_or(0);
    let bytes = top_bytes + standing.sidecars.iter().map(of_sidecar).sum::<u64>();
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let adds = standing.adds.iter().map(|batch| count(batch.len())).sum();
    let actions = standing.rows().map(count);
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
                version: standing.files.version,
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
        version: standing.files.version,
        path: named.first().map(|file| file.relative()).unwrap_or_default(),
        actions,
        adds,
        bytes,
        sidecars,
        is_new: false,
        hint,
    })
}
