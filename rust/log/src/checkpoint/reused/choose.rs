//! Chooses the sidecars of the snapshot's checkpoint that a new checkpoint references again.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use deltaic_protocol::Result;
use parquet::arrow::ArrowSchemaConverter;
use parquet::schema::types::SchemaDescriptor;

use super::expiry::base_is_retained;
use super::merge::unmerged;
use super::sidecars::{Reused, ReusedSidecar};
use crate::checkpoint::surviving_rows::Retention;
use crate::decode::checkpoint::Checkpoint;
use crate::decode::{ActionsFile, FileBatch, StatisticsSource};
use crate::reconcile::Survivors;
use crate::snapshot::Snapshot;

impl Reused {
    /// Chooses the sidecars: all their actions survive, and their columns are those of `schema`, which the sidecars of
    /// the new checkpoint have. `most` is the maximum number of actions in a sidecar. None are chosen if a cleanup may
    /// delete the checkpoint that references them.
    ///
    /// Adds and tombstones are in separate sidecars, so that expiring tombstones do not cause adds to be written again.
    /// Reads the keys of tombstones, and no adds.
    pub(in crate::checkpoint) async fn choose(
        snapshot: &Snapshot,
        retention: Retention,
        schema: &SchemaRef,
        most: usize,
    ) -> Result<Self> {
        let Some(base) = snapshot.checkpoint() else {
            return Ok(Self::default());
        };
        let Ok(columns) = ArrowSchemaConverter::new().convert(schema) else {
            return Ok(Self::default());
        };
        if base.sidecars.is_empty() || !base_is_retained(snapshot, retention.now_ms) {
            return Ok(Self::default());
        }
        let counts = AddCounts::of(&base.adds, snapshot.adds());
        let (mut of_adds, mut of_tombstones) = (Vec::new(), Vec::new());
        for (sidecar, file) in base.sidecar_files() {
            let rows = file.rows();
            if rows == 0 || rows > most || !is_written_alike(file, &columns) {
                continue;
            }
            let adds = counts.of_file(file);
            let chosen = ReusedSidecar {
                action: sidecar.clone(),
                file: Arc::clone(file),
                adds: count(adds.all),
                rows: count(rows),
            };
            match adds {
                AddCount { all: 0, .. } => of_tombstones.push(chosen),
                AddCount { all, live } if all == rows && live == rows => of_adds.push(chosen),
                _ => {}
            }
        }
        let reused = |sidecars| Self {
            base: Some(base.files.clone()),
            sidecars,
        };
        let most = count(most);
        let written = reused(of_adds.clone()).without(snapshot.adds());
        let written = written.iter().map(live).sum();
        let mut sidecars = unmerged(of_adds, |sidecar| sidecar.rows, count(written), most);
        let tombstones = unexpired(snapshot, base, retention, of_tombstones, most).await;
        sidecars.extend(tombstones.map_err(|error| base.locate(error))?);
        Ok(reused(sidecars))
    }
}

/// The sidecars of tombstones that all survive, without those to merge.
async fn unexpired(
    snapshot: &Snapshot,
    base: &Checkpoint,
    retention: Retention,
    candidates: Vec<ReusedSidecar>,
    most: u64,
) -> Result<Vec<ReusedSidecar>> {
    if candidates.is_empty() {
        return Ok(candidates);
    }
    let newer = snapshot.newer_keys(base)?;
    let of_commits = snapshot.removes().iter();
    let mut written: usize = of_commits.map(|removes| live(&retention.keep(removes))).sum();
    let mut whole = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let mut survive = 0usize;
        for files in candidate.file.tombstones().await? {
            survive += live(&retention.keep(&newer.probe(&Survivors::all(files))));
        }
        if count(survive) == candidate.rows {
            whole.push(candidate);
        } else {
            written += survive;
        }
    }
    Ok(unmerged(whole, |sidecar| sidecar.rows, count(written), most))
}

/// Whether a file has the columns of the new sidecars, and deltaic wrote it. Files of other writers are written again:
/// their layout may serve readers less well.
fn is_written_alike(file: &ActionsFile, columns: &SchemaDescriptor) -> bool {
    let ours = file
        .created_by()
        .is_some_and(|writer| writer.starts_with("deltaic "));
    ours && file.columns().root_schema().get_fields() == columns.root_schema().get_fields()
}

/// Number of adds in a file, and how many of them are live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AddCount {
    all: usize,
    live: usize,
}

/// The numbers of adds in the files of a checkpoint, by the address of the file.
struct AddCounts(HashMap<usize, AddCount>);

impl AddCounts {
    fn of(held: &[Arc<FileBatch>], adds: &[Survivors]) -> Self {
        let mut counts: HashMap<usize, AddCount> = HashMap::new();
        for files in held {
            if let StatisticsSource::RowGroup(place) = &files.statistics {
                counts.entry(Arc::as_ptr(&place.file).addr()).or_default().all += files.len();
            }
        }
        // A refreshed snapshot has dropped batches without live adds.
        for survivors in adds {
            if let StatisticsSource::RowGroup(place) = &survivors.files.statistics {
                counts.entry(Arc::as_ptr(&place.file).addr()).or_default().live += live(survivors);
            }
        }
        Self(counts)
    }

    fn of_file(&self, file: &Arc<ActionsFile>) -> AddCount {
        self.0.get(&Arc::as_ptr(file).addr()).copied().unwrap_or_default()
    }
}

fn live(survivors: &Survivors) -> usize {
    survivors.live.count_set_bits()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
