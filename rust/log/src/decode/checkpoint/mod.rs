//! Reads checkpoints: the state of a version without the commits that led to it.
//!
//! Protocol: *Checkpoints*, *V1 Spec*, *V2 Spec*, *Sidecar Files*. The formats of checkpoints are known to
//! this module only.

mod action_rows;
mod allowance;
mod columns;
mod fetched_group;
mod levels;
mod one_action;
mod parquet;
mod retyped;
mod sidecar;

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::log_path::{CheckpointFormat, LOG_FOLDER, LogFileKind};
use deltaic_protocol::{Error, ErrorKind, Result};

pub(crate) use self::action_rows::{ActionRows, conformed};

use self::allowance::Allowance;
use self::columns::damaged;
use self::parquet::FileActions;
use super::TableActions;
use super::commits::decode_commit;
use super::distinct::ensure_distinct;
use super::file_batch::FileBatch;
use super::large_file::{LARGE_BYTES, read_large};
use crate::decode::ActionsFile;
use crate::listing::LogFile;
use crate::segment::CheckpointFiles;
use deltaic_storage::ParquetFile;
use deltaic_storage::Refused;
use deltaic_storage::in_parallel;
use deltaic_storage::location::{TableLocation, without_secrets};
use deltaic_storage::store_error;

/// The folder of the sidecars, relative to the log's folder.
pub(crate) const SIDECARS: &str = "_sidecars";

/// Maximum number of footers fetched concurrently.
const FOOTERS_IN_FLIGHT: usize = 64;

/// Maximum number of row groups fetched and decoded concurrently.
const ROW_GROUPS_IN_FLIGHT: usize = 16;

/// Number of bytes of a checkpoint's end that are fetched with its footer, which is large with many columns.
const FOOTER_BYTES: u64 = 256 << 10;

/// Up to this size the top-level file of a UUID-named checkpoint is fetched completely: it usually contains
/// little besides sidecars.
const TOP_LEVEL_BYTES: u64 = 8 << 20;

/// A checkpoint with its adds, reduced to the columns that replay needs, and without its tombstones.
#[derive(Debug)]
pub struct Checkpoint {
    /// Its files.
    pub files: CheckpointFiles,
    /// The adds.
    pub adds: Vec<Arc<FileBatch>>,
    /// Its actions other than file actions.
    pub table: TableActions,
    /// The sidecars that it refers to.
    pub sidecars: Vec<Sidecar>,
    /// A path that occurs with several deletion vectors.
    path_live_twice: Option<String>,
    /// Tombstones of a top-level file in JSON, which are read with the rest of it.
    removes: Vec<Arc<FileBatch>>,
    /// Its Parquet files, which contain the tombstones.
    parquet: Vec<Arc<ActionsFile>>,
}

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

    /// Verifies that no file occurs twice with two deletion vectors: its rows would be read twice.
    pub(crate) fn ensure_paths_once(&self) -> Result<()> {
        match &self.path_live_twice {
            None => Ok(()),
            Some(path) => {
                let listed_bytes =
                    format!("the checkpoint contains a file twice, with two deletion vectors: {path}");
                Err(locate(
                    Error::new(ErrorKind::CorruptLog, listed_bytes),
                    &self.files,
                ))
            }
        }
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

    /// Verifies that no row of its Parquet files contains two actions. Opening verifies this only for the actions
    /// that it reads.
    pub(crate) async fn ensure_one_action_a_row(&self) -> Result<()> {
        let allowance = allowance_of(&self.parquet);
        let tasks: Vec<_> = groups_of(&self.parquet)
            .map(|(file, group)| file.ensure_one_action(group, Arc::clone(&allowance)))
            .collect();
        let proved = in_parallel(tasks, ROW_GROUPS_IN_FLIGHT).await;
        proved.map(|_| ()).map_err(|error| locate(error, &self.files))
    }

    /// Number of rows in its Parquet files; `None` if its top-level file is JSON.
    pub(crate) fn rows(&self) -> Option<usize> {
        match self.files.files.as_slice() {
            [file] if is_json(file) => None,
            _ => Some(
                self.parquet
                    .iter()
                    .map(|file| file.rows())
                    .fold(0, usize::saturating_add),
            ),
        }
    }

    /// The row groups of its Parquet files: each file with the index of the row group.
    pub(crate) fn row_groups(&self) -> impl Iterator<Item = (Arc<ActionsFile>, usize)> + '_ {
        groups_of(&self.parquet)
    }

    /// The tombstones of a top-level file in JSON.
    pub(crate) fn tombstones_of_lines(&self) -> &[Arc<FileBatch>] {
        &self.removes
    }

    /// Adds the checkpoint's location to an error.
    pub(crate) fn locate(&self, error: Error) -> Error {
        locate(error, &self.files)
    }

    /// Reads the tombstones, which loading a snapshot does not need.
    pub async fn read_tombstones(&self) -> Result<Vec<Arc<FileBatch>>> {
        let allowance = allowance_of(&self.parquet);
        let tasks: Vec<_> = groups_of(&self.parquet)
            .map(|(file, group)| file.read_group(group, FileActions::Removes, Arc::clone(&allowance)))
            .collect();
        let read = in_parallel(tasks, ROW_GROUPS_IN_FLIGHT).await;
        let mut removes = self.removes.clone();
        for held in read.map_err(|error| locate(error, &self.files))? {
            removes.extend(held.files);
        }
        Ok(removes)
    }
}

fn locate(error: Error, checkpoint: &CheckpointFiles) -> Error {
    let path = checkpoint
        .files
        .first()
        .map(|file| file.relative())
        .unwrap_or_default();
    error
        .with("path", path)
        .with("version", checkpoint.version)
        .or_hint("the checkpoint is damaged: restore it, or the commits that it replaces, from a backup")
}

fn groups_of(files: &[Arc<ActionsFile>]) -> impl Iterator<Item = (Arc<ActionsFile>, usize)> + '_ {
    files
        .iter()
        .flat_map(|file| (0..file.row_groups()).map(move |group| (Arc::clone(file), group)))
}

/// Returns the common allowance for files.
fn allowance_of(files: &[Arc<ActionsFile>]) -> Arc<Allowance> {
    let bytes = files.iter().map(|file| file.size());
    Arc::new(Allowance::of(bytes.fold(0, u64::saturating_add)))
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

fn is_json(file: &LogFile) -> bool {
    matches!(
        file.path.kind,
        LogFileKind::UuidCheckpoint {
            format: CheckpointFormat::Json,
            ..
        }
    )
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

/// The path of a sidecar relative to the table's root.
fn sidecar_path(sidecar: &Sidecar) -> Result<String> {
    Ok(format!("{LOG_FOLDER}/{SIDECARS}/{}", sidecar.name()?))
}

/// Verifies before fetching that no sidecar is named twice: its files would be live twice.
fn ensure_sidecars_once(sidecars: &[Sidecar]) -> Result<()> {
    let mut seen = HashSet::with_capacity(sidecars.len());
    match sidecars
        .iter()
        .find(|sidecar| !seen.insert(sidecar.path.as_str()))
    {
        Some(sidecar) => Err(damaged("it refers to one sidecar twice")
            .with("field", "sidecar.path")
            .with("path", without_secrets(&sidecar.path))),
        None => Ok(()),
    }
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
