//! One attempt to write a checkpoint: its files, in the order in which they are written.

use std::sync::Arc;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Error, Result};
use object_store::ObjectStoreExt;

use super::action_files::{ActionFiles, WrittenActions, sidecar_action};
use super::add_form::AddColumns;
use super::columns::FileSchemas;
use super::options::CheckpointOptions;
use super::parquet_out::{Finished, ParquetOut};
use super::reused::Reused;
use super::surviving_rows::{Retention, surviving_files};
use super::table_rows::{table_rows, top_level_rows};
use super::{from_checkpoint, from_lines};
use crate::reconcile::Survivors;
use crate::snapshot::Snapshot;
use deltaic_storage::clock::new_id;
use deltaic_storage::parquet_writer::Landed;
use deltaic_storage::store_error;

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

/// The files of the checkpoint that an attempt wrote.
pub(super) struct Made {
    pub(super) top: Finished,
    /// The sidecars; the first ones are those of an older checkpoint.
    pub(super) sidecars: Vec<Finished>,
    /// Number of sidecars of an older checkpoint.
    pub(super) reused: usize,
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
        let written = self.actions(out, &Reused::default()).await?;
        let file = written.flat.ok_or_else(|| nothing(&self.relative))?;
        Ok(Made {
            top: file.finish().await?,
            sidecars: Vec::new(),
            reused: 0,
            adds: written.adds,
        })
    }

    /// Writes the sidecars, then the top-level file. Sidecars of the snapshot's checkpoint are referenced again if all
    /// their actions survive; all actions are written if a cleanup may delete these sidecars.
    pub(super) async fn with_sidecars(&self) -> Result<Made> {
        let (schema, most) = (&self.schemas.sidecar, self.options.sidecar_actions);
        let location = self.snapshot.location();
        let reused = Reused::choose(self.snapshot, self.retention, schema, most).await?;
        if reused.is_empty() || !reused.exist(location).await {
            return self.sidecars(&Reused::default()).await;
        }
        let made = self.sidecars(&reused).await?;
        let is_ours = made.top.landed == Landed::Ours || made.top.relative != classic_named(self.snapshot);
        if !is_ours || reused.exist(location).await {
            return Ok(made);
        }
        // A cleanup may be about to delete the sidecars. The first checkpoint is deleted after a complete one exists,
        // since the cleanup may already have deleted the commits before it.
        let complete = Self {
            relative: uuid_named(self.snapshot),
            schemas: self.schemas.clone(),
            form: Arc::clone(&self.form),
            ..*self
        };
        let complete = complete.sidecars(&Reused::default()).await?;
        match location
            .store()
            .delete(&location.below(&made.top.relative)?)
            .await
        {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(complete),
            Err(error) => Err(store_error(&error, &made.top.relative)
                .or_hint("write a checkpoint again: this one may refer to files that a cleanup deletes")),
        }
    }

    async fn sidecars(&self, reused: &Reused) -> Result<Made> {
        let (most, held) = (self.options.sidecar_actions, self.options.held_bytes);
        let location = self.snapshot.location();
        let out = ActionFiles::sidecars(location, &self.form, &self.schemas, most, held);
        let written = self.actions(out, reused).await?;
        let new = written.sidecars.iter().map(sidecar_action);
        let actions: Vec<Sidecar> = reused.actions().chain(new).collect();
        let schema = &self.schemas.top_level;
        let rows = top_level_rows(self.snapshot, &actions, schema, self.retention.now_ms)?;
        let mut top = ParquetOut::begin(location, self.relative.clone(), schema, held)?;
        top.write(&rows).await?;
        Ok(Made {
            // From here on the sidecars must remain: the top-level file may exist even if the response was
            // lost.
            top: top.finish().await?,
            reused: reused.finished().count(),
            sidecars: reused.finished().chain(written.sidecars).collect(),
            adds: reused.adds() + written.adds,
        })
    }

    /// Writes the file actions; on failure, deletes the files written for them.
    async fn actions(&self, mut out: ActionFiles<'_>, reused: &Reused) -> Result<WrittenActions> {
        match self.write_actions(&mut out, reused).await {
            Ok(()) => Ok(out.into_written()),
            Err(error) => {
                out.abort().await;
                Err(error)
            }
        }
    }

    async fn write_actions(&self, out: &mut ActionFiles<'_>, reused: &Reused) -> Result<()> {
        let snapshot = self.snapshot;
        let keep = |tombstones: &Survivors| self.retention.keep(tombstones);
        let mut removes: Vec<Survivors> = snapshot.removes().iter().map(keep).collect();
        if let Some(checkpoint) = snapshot.checkpoint() {
            let newer = snapshot.newer_keys(checkpoint)?;
            let of_lines = checkpoint.tombstones_of_lines().iter();
            let survivors = of_lines.map(|files| newer.probe(&Survivors::all(Arc::clone(files))));
            removes.extend(survivors.map(|tombstones| keep(&tombstones)));
            let located = |error: Error| checkpoint.locate(error);
            let adds = reused.without(snapshot.adds());
            from_checkpoint::write_adds(&adds, out).await.map_err(located)?;
            let retention = self.retention;
            let tombstones = from_checkpoint::write_tombstones(checkpoint, &newer, retention, reused, out);
            tombstones.await.map_err(located)?;
        }
        let files = surviving_files(snapshot.adds(), &removes);
        from_lines::write_lines(snapshot.location(), files, snapshot.max_line_bytes(), out).await?;
        out.finish().await
    }
}

/// Path of a checkpoint of the snapshot's version with a classic name.
pub(super) fn classic_named(snapshot: &Snapshot) -> String {
    format!(
        "{LOG_FOLDER}/{}.checkpoint.parquet",
        snapshot.version().file_stem()
    )
}

/// A new path of a checkpoint of the snapshot's version with a unique name.
pub(super) fn uuid_named(snapshot: &Snapshot) -> String {
    format!(
        "{LOG_FOLDER}/{}.checkpoint.{}.parquet",
        snapshot.version().file_stem(),
        new_id()
    )
}

fn nothing(relative: &str) -> Error {
    Error::internal("the file of the checkpoint was not created").with("path", relative)
}
