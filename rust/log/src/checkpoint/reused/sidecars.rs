//! The sidecars that a new checkpoint references again, with the checkpoint that references them now.

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::{Error, Result};
use deltaic_storage::in_parallel;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::{ObjectMeta, ObjectStoreExt};

use crate::checkpoint::parquet_out::Finished;
use crate::decode::ActionsFile;
use crate::decode::StatisticsSource;
use crate::reconcile::Survivors;
use crate::segment::CheckpointFiles;
use deltaic_storage::parquet_writer::Landed;

/// Maximum number of concurrent requests that verify that files exist.
const CHECKS_IN_FLIGHT: usize = 64;

/// A sidecar that the new checkpoint references again.
#[derive(Clone, Debug)]
pub(super) struct ReusedSidecar {
    pub(super) action: Sidecar,
    pub(super) file: Arc<ActionsFile>,
    pub(super) adds: u64,
    pub(super) rows: u64,
}

/// The sidecars that a new checkpoint references again, and the checkpoint that references them now.
#[derive(Clone, Debug, Default)]
pub(in crate::checkpoint) struct Reused {
    pub(super) base: Option<CheckpointFiles>,
    pub(super) sidecars: Vec<ReusedSidecar>,
}

impl Reused {
    /// Whether every action is written.
    pub(in crate::checkpoint) fn is_empty(&self) -> bool {
        self.sidecars.is_empty()
    }

    /// Whether the actions of a file are referenced again.
    pub(in crate::checkpoint) fn holds(&self, file: &Arc<ActionsFile>) -> bool {
        self.sidecars
            .iter()
            .any(|sidecar| Arc::ptr_eq(&sidecar.file, file))
    }

    /// Returns the adds to write: those that are not in a sidecar that is referenced again.
    pub(in crate::checkpoint) fn without(&self, adds: &[Survivors]) -> Vec<Survivors> {
        let address = |file: &Arc<ActionsFile>| Arc::as_ptr(file).addr();
        let files: HashSet<usize> = self
            .sidecars
            .iter()
            .map(|sidecar| address(&sidecar.file))
            .collect();
        let is_written = |survivors: &&Survivors| match &survivors.files.statistics {
            StatisticsSource::RowGroup(place) => !files.contains(&address(&place.file)),
            _ => true,
        };
        adds.iter().filter(is_written).cloned().collect()
    }

    /// Number of adds in the sidecars.
    pub(in crate::checkpoint) fn adds(&self) -> u64 {
        self.sidecars.iter().map(|sidecar| sidecar.adds).sum()
    }

    /// The sidecars as the older checkpoint references them.
    pub(in crate::checkpoint) fn actions(&self) -> impl Iterator<Item = Sidecar> + '_ {
        self.sidecars.iter().map(|sidecar| sidecar.action.clone())
    }

    /// The sidecars as complete files.
    pub(in crate::checkpoint) fn finished(&self) -> impl Iterator<Item = Finished> + '_ {
        self.sidecars.iter().map(|sidecar| Finished {
            relative: sidecar.file.relative().to_owned(),
            bytes: sidecar.file.size(),
            rows: sidecar.rows,
            landed: Landed::Another,
        })
    }

    /// Whether the older checkpoint and all the sidecars exist unchanged; false if the store does not respond.
    ///
    /// If both hold after the new checkpoint was written, the times in which the two checkpoints exist overlap. A
    /// cleanup lists the checkpoints before it deletes a sidecar, so it finds one of them and retains the sidecars.
    pub(in crate::checkpoint) async fn exist(&self, location: &Arc<TableLocation>) -> bool {
        let mut checks: Vec<BoxFuture<'static, Result<bool>>> = Vec::new();
        for file in self.base.iter().flat_map(|base| &base.files) {
            let (location, file) = (Arc::clone(location), Arc::clone(file));
            let check = async move { Ok(file.is_still(&head(&location, &file.relative()).await?)) };
            checks.push(check.boxed());
        }
        for sidecar in &self.sidecars {
            let (location, file) = (Arc::clone(location), Arc::clone(&sidecar.file));
            let check = async move { Ok(head(&location, file.relative()).await?.size == file.size()) };
            checks.push(check.boxed());
        }
        let checks = in_parallel(checks, location.at_once(CHECKS_IN_FLIGHT)).await;
        checks.is_ok_and(|found| found.into_iter().all(|exists| exists))
    }
}

async fn head(location: &TableLocation, relative: &str) -> Result<ObjectMeta> {
    let found = location.store().head(&location.below(relative)?).await;
    found.map_err(|error| -> Error { store_error(&error, relative) })
}
