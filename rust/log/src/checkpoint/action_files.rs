//! The files that contain the file actions of a checkpoint: one flat file, or sidecars of bounded size.
//!
//! Protocol: *V1 Spec*, *V2 Spec*, *Sidecar Files*.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, BooleanArray, RecordBatch, StructArray};
use arrow_buffer::BooleanBuffer;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::log_path::LOG_FOLDER;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::ObjectStoreExt;

use super::add_form::AddColumns;
use super::columns::{FileSchemas, failed, rows_of};
use super::parquet_out::{Finished, ParquetOut};
use super::take_actions::TakeActions;
use crate::decode::checkpoint::SIDECARS;
use deltaic_storage::clock::{new_id, now_ms};
use deltaic_storage::location::TableLocation;
use deltaic_storage::start;

/// Number of buffered tombstones. They form separate row groups or sidecars, which readers that need only adds skip.
const TOMBSTONES_TOGETHER: usize = 1 << 16;

/// Number of tombstones written at once: few, since each row also has all columns of the adds.
const ROWS_TOGETHER: usize = 4096;

/// Number of batches of adds that are converted while earlier ones are encoded.
const CONVERTED_AHEAD: usize = 1;

/// Writer of the file actions.
pub(super) struct ActionFiles<'a> {
    location: &'a Arc<TableLocation>,
    form: &'a Arc<AddColumns>,
    schemas: &'a FileSchemas,
    target: Target,
    most_held: usize,
    /// Adds that are being converted, in order.
    converting: VecDeque<BoxFuture<'static, Result<StructArray>>>,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    adds: u64,
}

/// The target of the actions.
enum Target {
    Flat(ParquetOut),
    /// Tombstones have sidecars of their own, since they expire.
    Sidecars {
        /// Maximum number of actions in a sidecar.
        most: u64,
        adds: Option<Box<ParquetOut>>,
        removes: Option<Box<ParquetOut>>,
        done: Vec<Finished>,
    },
}

/// The files that were written.
pub(super) struct WrittenActions {
    /// The flat file, which is not complete yet; `None` with sidecars.
    pub(super) flat: Option<ParquetOut>,
    /// The sidecars.
    pub(super) sidecars: Vec<Finished>,
    /// Number of adds.
    pub(super) adds: u64,
}

impl<'a> ActionFiles<'a> {
    /// Creates a writer that appends to a flat file.
    pub(super) fn flat(
        location: &'a Arc<TableLocation>,
        form: &'a Arc<AddColumns>,
        schemas: &'a FileSchemas,
        file: ParquetOut,
    ) -> Self {
        Self::into_target(location, form, schemas, Target::Flat(file), 0)
    }

    /// Creates a writer of sidecars with at most `most` actions each; it buffers up to `most_held` bytes.
    pub(super) fn sidecars(
        location: &'a Arc<TableLocation>,
        form: &'a Arc<AddColumns>,
        schemas: &'a FileSchemas,
        most: usize,
        most_held: usize,
    ) -> Self {
        let target = Target::Sidecars {
            most: u64::try_from(most.max(1)).unwrap_or(u64::MAX),
            adds: None,
            removes: None,
            done: Vec::new(),
        };
        Self::into_target(location, form, schemas, target, most_held)
    }

    fn into_target(
        location: &'a Arc<TableLocation>,
        form: &'a Arc<AddColumns>,
        schemas: &'a FileSchemas,
        target: Target,
        most_held: usize,
    ) -> Self {
        Self {
            location,
            form,
            schemas,
            target,
            most_held,
            converting: VecDeque::new(),
            waiting: Vec::new(),
            waiting_rows: 0,
            adds: 0,
        }
    }

    /// Writes buffered tombstones and completes the last sidecars.
    pub(super) async fn finish(&mut self) -> Result<()> {
        self.write_converted(0).await?;
        self.write_waiting().await?;
        if let Target::Sidecars {
            adds, removes, done, ..
        } = &mut self.target
        {
            for open in [adds, removes] {
                if let Some(last) = open.take() {
                    done.push(last.finish().await?);
                }
            }
        }
        Ok(())
    }

    /// Returns the files after [`finish`](Self::finish).
    pub(super) fn into_written(self) -> WrittenActions {
        let (flat, sidecars) = match self.target {
            Target::Flat(file) => (Some(file), Vec::new()),
            Target::Sidecars { done, .. } => (None, done),
        };
        WrittenActions {
            flat,
            sidecars,
            adds: self.adds,
        }
    }

    /// Aborts: deletes the written files on a best-effort basis.
    pub(super) async fn abort(self) {
        match self.target {
            Target::Flat(file) => file.abort().await,
            Target::Sidecars {
                adds, removes, done, ..
            } => {
                for open in [adds, removes].into_iter().flatten() {
                    open.abort().await;
                }
                for sidecar in done {
                    if let Ok(path) = self.location.below(&sidecar.relative) {
                        let _ = self.location.store().delete(&path).await;
                    }
                }
            }
        }
    }

    /// Writes converted adds until at most `left` batches are left.
    async fn write_converted(&mut self, left: usize) -> Result<()> {
        while self.converting.len() > left
            && let Some(converted) = self.converting.pop_front()
        {
            self.write("add", converted.await?).await?;
        }
        Ok(())
    }

    async fn write_waiting(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.waiting_rows = 0;
        self.write_converted(0).await?;
        self.end_group().await?;
        for removes in std::mem::take(&mut self.waiting) {
            let mut first = 0usize;
            while first < removes.num_rows() {
                let rows = ROWS_TOGETHER.min(removes.num_rows() - first);
                let removes = unchanging(StructArray::from(removes.slice(first, rows)))?;
                self.write("remove", removes).await?;
                first += rows;
            }
        }
        self.end_group().await
    }

    async fn end_group(&mut self) -> Result<()> {
        match &mut self.target {
            Target::Flat(file) => file.end_group().await,
            Target::Sidecars { .. } => Ok(()),
        }
    }

    async fn write(&mut self, action: &str, actions: StructArray) -> Result<()> {
        let (most, open, done) = match &mut self.target {
            Target::Flat(file) => return file.write(&rows_of(&self.schemas.flat, action, actions)?).await,
            Target::Sidecars {
                most,
                adds,
                removes,
                done,
            } => (*most, if action == "add" { adds } else { removes }, done),
        };
        let mut first = 0usize;
        while first < actions.len() {
            let mut file = match open.take() {
                Some(file) => file,
                None => {
                    let relative = format!("{LOG_FOLDER}/{SIDECARS}/{}.parquet", new_id());
                    let schema = &self.schemas.sidecar;
                    Box::new(ParquetOut::begin(
                        self.location,
                        relative,
                        schema,
                        self.most_held,
                    )?)
                }
            };
            let room = usize::try_from(most.saturating_sub(file.rows())).unwrap_or(usize::MAX);
            let rows = room.min(actions.len() - first);
            let part = rows_of(&self.schemas.sidecar, action, actions.slice(first, rows))?;
            let written = file.write(&part).await;
            first += rows;
            if written.is_ok() && file.rows() >= most {
                done.push(file.finish().await?);
            } else {
                *open = Some(file);
            }
            written?;
        }
        Ok(())
    }
}

impl TakeActions for ActionFiles<'_> {
    async fn adds(&mut self, adds: &RecordBatch, parsed: Option<&StructArray>) -> Result<()> {
        let together = self.form.rows_together();
        let mut first = 0usize;
        while first < adds.num_rows() {
            let rows = together.min(adds.num_rows() - first);
            let parsed = parsed.map(|parsed| parsed.slice(first, rows));
            let (form, adds) = (Arc::clone(self.form), adds.slice(first, rows));
            let converting = start(async move { form.finish(&adds, parsed.as_ref()) });
            self.converting.push_back(converting.boxed());
            self.write_converted(CONVERTED_AHEAD).await?;
            first += rows;
        }
        self.adds += u64::try_from(adds.num_rows()).unwrap_or(0);
        Ok(())
    }

    async fn removes(&mut self, removes: RecordBatch) -> Result<()> {
        self.waiting_rows += removes.num_rows();
        self.waiting.push(removes);
        if self.waiting_rows >= TOMBSTONES_TOGETHER {
            self.write_waiting().await?;
        }
        Ok(())
    }
}

/// Sets `dataChange` of tombstones to false, as in every checkpoint.
fn unchanging(removes: StructArray) -> Result<StructArray> {
    let rows = removes.len();
    let (fields, mut columns, nulls) = removes.into_parts();
    let place = fields.iter().position(|field| field.name() == "dataChange");
    if let Some(column) = place.and_then(|place| columns.get_mut(place)) {
        *column = Arc::new(BooleanArray::new(BooleanBuffer::new_unset(rows), None));
    }
    StructArray::try_new(fields, columns, nulls).map_err(failed)
}

/// Returns the action for a sidecar.
pub(super) fn sidecar_action(sidecar: &Finished) -> Sidecar {
    let name = sidecar.relative.rsplit('/').next().unwrap_or_default();
    Sidecar {
        path: name.to_owned(),
        size_in_bytes: i64::try_from(sidecar.bytes).unwrap_or(i64::MAX),
        modification_time: now_ms(),
    }
}
