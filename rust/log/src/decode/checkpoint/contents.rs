//! The contents of a checkpoint.

use std::sync::Arc;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::log_path::{CheckpointFormat, LogFileKind};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::in_parallel;

use super::parquet::FileActions;
use super::row_groups::{ROW_GROUPS_IN_FLIGHT, allowance_of, groups_of};
use crate::decode::{ActionsFile, FileBatch, TableActions};
use crate::listing::LogFile;
use crate::segment::CheckpointFiles;

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
    pub(super) path_live_twice: Option<String>,
    /// Tombstones of a top-level file in JSON, which are read with the rest of it.
    pub(super) removes: Vec<Arc<FileBatch>>,
    /// Its Parquet files, which contain the tombstones.
    pub(super) parquet: Vec<Arc<ActionsFile>>,
}

impl Checkpoint {
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

pub(super) fn locate(error: Error, checkpoint: &CheckpointFiles) -> Error {
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

pub(super) fn is_json(file: &LogFile) -> bool {
    matches!(
        file.path.kind,
        LogFileKind::UuidCheckpoint {
            format: CheckpointFormat::Json,
            ..
        }
    )
}
