//! One attempt to write a checkpoint: its files, in the order in which they are written.

use std::sync::Arc;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::{Error, Result};

use super::CheckpointOptions;
use super::action_files::{ActionFiles, WrittenActions, sidecar_action};
use super::add_form::AddColumns;
use super::columns::FileSchemas;
use super::parquet_out::{Finished, ParquetOut};
use super::surviving_rows::{Retention, surviving_files};
use super::table_rows::{table_rows, top_level_rows};
use super::{from_checkpoint, from_lines};
use crate::reconcile::Survivors;
use crate::snapshot::Snapshot;

/// An attempt to write a checkpoint.
pub(super) struct Attempt<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) options: &'a CheckpointOptions,
    pub(super) retention: Retention,
    pub(super) form: Arc<AddColumns>,
    pub(super) schemas: FileSchemas,
    /// Path of its file, or of its top-level file.
    pub(super) relative: String,
}

/// The files that an attempt wrote.
pub(super) struct Made {
    pub(super) top: Finished,
    pub(super) sidecars: Vec<Finished>,
    pub(super) adds: u64,
}

impl Attempt<'_> {
    /// Writes one file with all actions.
    pub(super) async fn flat(&self) -> Result<Made> {
        let (schema, held) = (&self.schemas.flat, self.options.held_bytes);
        let location = self.snapshot.location();
        let mut file = ParquetOut::begin(location, self.relative.clone(), schema, held)?;
        file.write(&table_rows(self.snapshot, schema, self.retention.now_ms)?)
            .await?;
        let out = ActionFiles::flat(location, &self.form, &self.schemas, file);
        let written = self.actions(out).await?;
        let file = written.flat.ok_or_else(|| nothing(&self.relative))?;
        Ok(Made {
            top: file.finish().await?,
            sidecars: Vec::new(),
            adds: written.adds,
        })
    }

    /// Writes the sidecars, then the top-level file.
    pub(super) async fn with_sidecars(&self) -> Result<Made> {
        let (most, held) = (self.options.sidecar_actions, self.options.held_bytes);
        let location = self.snapshot.location();
        let out = ActionFiles::sidecars(location, &self.form, &self.schemas, most, held);
        let written = self.actions(out).await?;
        let sidecars: Vec<Sidecar> = written.sidecars.iter().map(sidecar_action).collect();
        let schema = &self.schemas.top_level;
        let rows = top_level_rows(self.snapshot, &sidecars, schema, self.retention.now_ms)?;
        let mut top = ParquetOut::begin(location, self.relative.clone(), schema, held)?;
        top.write(&rows).await?;
        Ok(Made {
            // From here on the sidecars must remain: the top-level file may exist even if the response was
            // lost.
            top: top.finish().await?,
            sidecars: written.sidecars,
            adds: written.adds,
        })
    }

    /// Writes the file actions; on failure, deletes the files written for them.
    async fn actions(&self, mut out: ActionFiles<'_>) -> Result<WrittenActions> {
        match self.write_actions(&mut out).await {
            Ok(()) => Ok(out.into_written()),
            Err(error) => {
                out.abort().await;
                Err(error)
            }
        }
    }

    async fn write_actions(&self, out: &mut ActionFiles<'_>) -> Result<()> {
        let snapshot = self.snapshot;
        let keep = |tombstones: &Survivors| self.retention.keep(tombstones);
        let mut removes: Vec<Survivors> = snapshot.removes().iter().map(keep).collect();
        if let Some(checkpoint) = snapshot.checkpoint() {
            let newer = snapshot.newer_keys(checkpoint)?;
            let of_lines = checkpoint.tombstones_of_lines().iter();
            let survivors = of_lines.map(|files| newer.probe(&Survivors::all(Arc::clone(files))));
            removes.extend(survivors.map(|tombstones| keep(&tombstones)));
            let located = |error: Error| checkpoint.locate(error);
            from_checkpoint::write_adds(snapshot.adds(), out)
                .await
                .map_err(located)?;
            let tombstones = from_checkpoint::write_tombstones(checkpoint, &newer, self.retention, out);
            tombstones.await.map_err(located)?;
        }
        let files = surviving_files(snapshot.adds(), &removes);
        from_lines::write_lines(snapshot.location(), files, snapshot.max_line_bytes(), out).await?;
        out.finish().await
    }
}

fn nothing(relative: &str) -> Error {
    Error::internal("the file of the checkpoint was not created").with("path", relative)
}
