//! Reads a checkpoint and its sidecars.

use std::sync::Arc;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::log_path::LogFileKind;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::location::TableLocation;
use deltaic_storage::{ParquetFile, Refused, in_parallel, store_error};

use super::columns::damaged;
use super::contents::{Checkpoint, is_json, locate};
use super::parquet::FileActions;
use super::row_groups::{ROW_GROUPS_IN_FLIGHT, allowance_of, groups_of};
use super::sidecar_path::{ensure_sidecars_once, sidecar_path};
use crate::decode::commits::decode_commit;
use crate::decode::distinct::ensure_distinct;
use crate::decode::large_file::{LARGE_BYTES, read_large};
use crate::decode::{ActionsFile, TableActions};
use crate::listing::LogFile;
use crate::segment::CheckpointFiles;

/// Maximum number of footers fetched concurrently.
const FOOTERS_IN_FLIGHT: usize = 64;

/// Number of bytes of a checkpoint's end that are fetched with its footer, which is large with many columns.
const FOOTER_BYTES: u64 = 256 << 10;

/// Up to this size the top-level file of a UUID-named checkpoint is fetched completely: it usually contains
/// little besides sidecars.
const TOP_LEVEL_BYTES: u64 = 8 << 20;

impl Checkpoint {
    /// Reads a checkpoint and its sidecars.
    ///
    /// Raises an error if anything is missing, damaged or violates the spec; the caller then ignores the
    /// checkpoint.
    pub async fn read(
        location: &Arc<TableLocation>,
        files: &CheckpointFiles,
        max_line_bytes: usize,
    ) -> Result<Self> {
        let read = read_whole(location, files, FileActions::Adds, None, max_line_bytes).await;
        read.map_err(|error| locate(error, files))
    }

    /// Reads a checkpoint; the contents of sidecars that `known` references too are shared with it and not read again.
    pub(crate) async fn read_beside(
        location: &Arc<TableLocation>,
        files: &CheckpointFiles,
        known: Option<&Self>,
        max_line_bytes: usize,
    ) -> Result<Self> {
        let read = read_whole(location, files, FileActions::Adds, known, max_line_bytes).await;
        read.map_err(|error| locate(error, files))
    }

    /// Reads the table actions of a checkpoint without its file actions.
    pub(crate) async fn read_table(
        location: &Arc<TableLocation>,
        files: &CheckpointFiles,
        max_line_bytes: usize,
    ) -> Result<TableActions> {
        let read = read_whole(location, files, FileActions::Neither, None, max_line_bytes).await;
        Ok(read.map_err(|error| locate(error, files))?.table)
    }

    /// Reads the sidecar actions of a checkpoint without its file actions.
    pub(crate) async fn read_sidecars(
        location: &Arc<TableLocation>,
        files: &CheckpointFiles,
        max_line_bytes: usize,
    ) -> Result<Vec<Sidecar>> {
        let read = read_whole(location, files, FileActions::Neither, None, max_line_bytes).await;
        Ok(read.map_err(|error| locate(error, files))?.sidecars)
    }
}

async fn read_whole(
    location: &Arc<TableLocation>,
    files: &CheckpointFiles,
    actions: FileActions,
    known: Option<&Checkpoint>,
    max_line_bytes: usize,
) -> Result<Checkpoint> {
    let mut checkpoint = Checkpoint {
        files: files.clone(),
        adds: Vec::new(),
        table: TableActions::default(),
        sidecars: Vec::new(),
        path_live_twice: None,
        removes: Vec::new(),
        parquet: Vec::new(),
    };
    match files.files.as_slice() {
        [file] if is_json(file) => read_json(location, file, max_line_bytes, &mut checkpoint).await?,
        top => {
            let opened: Vec<_> = top
                .iter()
                .map(|file| open_listed(Arc::clone(location), Arc::clone(file)))
                .collect();
            let opened = in_parallel(opened, location.at_once(FOOTERS_IN_FLIGHT)).await?;
            read_groups(&opened, actions, &mut checkpoint).await?;
            checkpoint.parquet = opened;
        }
    }
    checkpoint.table.validate()?;
    let sidecars = std::mem::take(&mut checkpoint.table.sidecars);
    validate(&checkpoint, files, !sidecars.is_empty())?;
    ensure_sidecars_once(&sidecars)?;
    if actions == FileActions::Neither {
        checkpoint.sidecars = sidecars;
        return Ok(checkpoint);
    }
    let is_known = |sidecar: &&Sidecar| known.is_some_and(|known| known.opened(sidecar).is_some());
    let (shared, new): (Vec<_>, Vec<_>) = sidecars.iter().partition(is_known);
    let opened: Vec<_> = new
        .into_iter()
        .map(|sidecar| open_sidecar(Arc::clone(location), sidecar.clone()))
        .collect();
    let opened = in_parallel(opened, location.at_once(FOOTERS_IN_FLIGHT)).await?;
    let mut held = Checkpoint {
        table: TableActions::default(),
        ..checkpoint
    };
    // Table actions in a sidecar violate the spec and are ignored.
    read_groups(&opened, actions, &mut held).await?;
    if let Some(known) = known {
        held.share(known, &shared);
    }
    held.table = checkpoint.table;
    held.sidecars = sidecars;
    held.parquet.extend(opened);
    held.path_live_twice = ensure_distinct(&held.adds)?;
    Ok(held)
}

async fn read_json(
    location: &Arc<TableLocation>,
    file: &Arc<LogFile>,
    max_line_bytes: usize,
    checkpoint: &mut Checkpoint,
) -> Result<()> {
    if file.size > LARGE_BYTES {
        let (table, adds, removes) = read_large(location, file, max_line_bytes).await?;
        checkpoint.adds = adds.into_iter().map(Arc::new).collect();
        checkpoint.removes = removes.into_iter().map(Arc::new).collect();
        checkpoint.table = table;
        return Ok(());
    }
    let relative = file.relative();
    let bytes = location
        .read(&relative)
        .await
        .map_err(|error| store_error(&error, &relative))?;
    let mut held = decode_commit(&bytes, file, max_line_bytes)?;
    checkpoint.adds = std::mem::take(&mut held.adds);
    checkpoint.removes = std::mem::take(&mut held.removes);
    checkpoint.table = held.table;
    Ok(())
}

async fn read_groups(
    files: &[Arc<ActionsFile>],
    actions: FileActions,
    checkpoint: &mut Checkpoint,
) -> Result<()> {
    let allowance = allowance_of(files);
    let tasks: Vec<_> = groups_of(files)
        .map(|(file, group)| file.read_group(group, actions, Arc::clone(&allowance)))
        .collect();
    for held in in_parallel(tasks, ROW_GROUPS_IN_FLIGHT).await? {
        checkpoint.adds.extend(held.files);
        checkpoint.table.merge(held.table)?;
    }
    Ok(())
}

async fn open_listed(location: Arc<TableLocation>, file: Arc<LogFile>) -> Result<Arc<ActionsFile>> {
    let relative = file.relative();
    let located = |error: Error| error.with("path", relative.as_str());
    let path = location.below(&relative)?;
    let parquet = ParquetFile::listed(Arc::clone(location.store()), path, file.size);
    let is_top_level = matches!(file.path.kind, LogFileKind::UuidCheckpoint { .. });
    let parquet = if is_top_level && file.size <= TOP_LEVEL_BYTES {
        parquet.with_tail_guess(file.size)
    } else {
        parquet.with_tail_guess(FOOTER_BYTES)
    };
    ActionsFile::open(parquet, &relative).await.map_err(located)
}

async fn open_sidecar(location: Arc<TableLocation>, sidecar: Sidecar) -> Result<Arc<ActionsFile>> {
    let relative = sidecar_path(&sidecar)?;
    let located = |error: Error| error.with("path", relative.as_str());
    let path = location.below(&relative)?;
    let listed_bytes = u64::try_from(sidecar.size_in_bytes).unwrap_or(0);
    let store = Arc::clone(location.store());
    let mut file = ParquetFile::listed(store, path, listed_bytes).with_tail_guess(FOOTER_BYTES);
    file.fetch_tail().await.map_err(|error| match error {
        object_store::Error::NotFound { .. } => located(
            Error::new(ErrorKind::CorruptLog, "a sidecar of the checkpoint is missing")
                .hint("restore the sidecar, or the commits that the checkpoint replaces, from a backup"),
        ),
        other if Refused::of(&other) == Some(Refused::NoRegularFile) => {
            located(damaged("there is no regular file at the path of a sidecar"))
        }
        other => located(store_error(&other, &relative)),
    })?;
    ActionsFile::open(file, &relative).await.map_err(located)
}

/// Verifies that the top level contains the actions that a checkpoint of this name requires.
fn validate(checkpoint: &Checkpoint, files: &CheckpointFiles, has_sidecars: bool) -> Result<()> {
    let table = &checkpoint.table;
    if table.protocol.is_none() || table.metadata.is_none() {
        return Err(damaged("it contains no protocol or no metaData"));
    }
    let is_uuid_named = files
        .files
        .iter()
        .any(|file| matches!(file.path.kind, LogFileKind::UuidCheckpoint { .. }));
    match &table.checkpoint_metadata {
        None if is_uuid_named || has_sidecars => {
            return Err(damaged(
                "it has no checkpointMetadata, which V2 checkpoints require",
            ));
        }
        Some(metadata) if metadata.version != files.version.as_i64() => {
            return Err(damaged(format!(
                "its checkpointMetadata has version {}",
                metadata.version
            )));
        }
        _ => {}
    }
    let holds_files = !checkpoint.adds.is_empty()
        || !checkpoint.removes.is_empty()
        || checkpoint
            .parquet
            .iter()
            .any(|file| file.contains(FileActions::Removes));
    if holds_files && has_sidecars {
        return Err(damaged("only some of its file actions are in sidecars"));
    }
    Ok(())
}
