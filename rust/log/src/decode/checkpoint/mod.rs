//! A checkpoint: what a version is, without the commits that led to it.
//!
//! Protocol: *Checkpoints*, *V1 Spec*, *V2 Spec*, *Sidecar Files*. This room alone knows what a checkpoint is made of.

mod parquet;

use std::sync::Arc;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::actions::columns::Statistics;
use deltaic_protocol::log_path::{CheckpointFormat, LOG_FOLDER, LogFileKind};
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{StreamExt, TryStreamExt};

use self::parquet::{damaged, read_file};
use super::Actions;
use super::lines::decode_lines;
use crate::listing::LogFile;
use crate::location::TableLocation;
use crate::parquet_file::ParquetFile;
use crate::segment::CheckpointFiles;
use crate::store_error::store_error;

/// The folder of the sidecars, below the log's.
const SIDECARS: &str = "_sidecars";

/// How many sidecars are read at once.
const SIDECARS_IN_FLIGHT: usize = 4;

/// Reads a checkpoint and its sidecars, of the file actions only the columns that replay needs.
///
/// Whatever is missing, damaged or against the spec is an error, and the caller passes the checkpoint over.
pub async fn read_checkpoint(
    location: &TableLocation,
    checkpoint: &CheckpointFiles,
    statistics: Statistics,
    max_line_bytes: usize,
) -> Result<Actions> {
    let read = read_whole(location, checkpoint, statistics, max_line_bytes).await;
    read.map_err(|error| {
        error
            .with("path", path_of(checkpoint))
            .with("version", checkpoint.version)
            .or_hint(
                "the checkpoint is damaged: restore it, or the commits that it stands for, from a backup",
            )
    })
}

async fn read_whole(
    location: &TableLocation,
    checkpoint: &CheckpointFiles,
    statistics: Statistics,
    max_line_bytes: usize,
) -> Result<Actions> {
    let mut actions = Actions::default();
    for file in &checkpoint.files {
        read_top_level(location, file, statistics, max_line_bytes, &mut actions)
            .await
            .map_err(|error| error.with("path", file.relative()))?;
    }
    judge(&actions, checkpoint)?;
    let sidecars = std::mem::take(&mut actions.sidecars);
    for held in read_sidecars(location, sidecars, statistics).await? {
        actions.adds.extend(held.adds);
        actions.removes.extend(held.removes);
    }
    Ok(actions)
}

fn path_of(checkpoint: &CheckpointFiles) -> String {
    checkpoint
        .files
        .first()
        .map(LogFile::relative)
        .unwrap_or_default()
}

async fn read_top_level(
    location: &TableLocation,
    file: &LogFile,
    statistics: Statistics,
    max_line_bytes: usize,
    actions: &mut Actions,
) -> Result<()> {
    if matches!(
        file.path.kind,
        LogFileKind::UuidCheckpoint {
            format: CheckpointFormat::Json,
            ..
        }
    ) {
        let relative = file.relative();
        let bytes = location
            .read(&relative)
            .await
            .map_err(|error| store_error(&error, &relative))?;
        *actions = decode_lines(&bytes, statistics, max_line_bytes)?;
        return Ok(());
    }
    let path = location.below(&file.relative())?;
    read_file(
        ParquetFile::listed(Arc::clone(location.store()), path, file.size),
        statistics,
        actions,
    )
    .await
}

/// Proves that the top level says what a checkpoint of its name must say.
fn judge(actions: &Actions, checkpoint: &CheckpointFiles) -> Result<()> {
    if actions.protocol.is_none() || actions.metadata.is_none() {
        return Err(damaged("it holds no protocol or no metaData"));
    }
    let is_uuid_named = checkpoint
        .files
        .iter()
        .any(|file| matches!(file.path.kind, LogFileKind::UuidCheckpoint { .. }));
    match &actions.checkpoint_metadata {
        None if is_uuid_named || !actions.sidecars.is_empty() => {
            return Err(damaged(
                "it holds no checkpointMetadata, which the V2 spec asks for",
            ));
        }
        Some(metadata) if metadata.version != checkpoint.version.as_i64() => {
            return Err(damaged(format!(
                "it says that it is of version {}",
                metadata.version
            )));
        }
        _ => {}
    }
    let holds_files = !actions.adds.is_empty() || !actions.removes.is_empty();
    if holds_files && !actions.sidecars.is_empty() {
        return Err(damaged(
            "some of its file actions stand in sidecars and some do not",
        ));
    }
    Ok(())
}

async fn read_sidecars(
    location: &TableLocation,
    sidecars: Vec<Sidecar>,
    statistics: Statistics,
) -> Result<Vec<Actions>> {
    let reads: Vec<_> = sidecars
        .into_iter()
        .map(|sidecar| async move {
            let relative = format!("{LOG_FOLDER}/{SIDECARS}/{}", sidecar.name()?);
            let located = |error: Error| error.with("path", relative.as_str());
            let path = location.below(&relative)?;
            let file = ParquetFile::open(Arc::clone(location.store()), path).await.map_err(|error| match error {
                object_store::Error::NotFound { .. } => located(
                    Error::new(ErrorKind::CorruptLog, "a sidecar of the checkpoint is missing")
                        .hint("restore the sidecar, or the commits that the checkpoint stands for, from a backup"),
                ),
                other => located(store_error(&other, &relative)),
            })?;
            let mut held = Actions::default();
            read_file(file, statistics, &mut held).await.map_err(located)?;
            Ok(held)
        })
        .collect();
    futures::stream::iter(reads)
        .buffered(SIDECARS_IN_FLIGHT)
        .try_collect()
        .await
}
