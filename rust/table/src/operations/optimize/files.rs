//! Selects the files that an optimization rewrites.

use std::collections::HashSet;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::transaction::Output;
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::{BoundPredicate, Predicate};
use deltaic_protocol::properties::data_file_settings;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::bins::{Bin, by_partition, has_many_deleted_rows, is_candidate, new_files, pack};
use super::clustering::clustering_columns;
use super::curve::{Curve, SortOrder};
use super::zcube::names_in_spark;
use super::zorder_columns::zorder_columns;
use super::{Optimize, cubes};
use crate::rows::live_files::{key, paths_that_may_match};

/// The target size of files in bytes, unless the table or the caller has another: the default of delta-spark.
const TARGET_BYTES: u64 = 1 << 30;

/// The files that an optimization of a version rewrites.
pub(super) struct Plan {
    pub(super) bins: Vec<Bin>,
    /// Files whose rows an earlier attempt wrote.
    pub(super) reused: Vec<Add>,
    pub(super) target_bytes: u64,
    /// The order of the rows in sorted bins.
    pub(super) order: SortOrder,
    /// The names of the clustering columns; empty if the table is not clustered.
    pub(super) cluster_by: Vec<String>,
    pub(super) snapshot: Snapshot,
}

impl Plan {
    /// Selects the files of a version. The inputs of `reusable` are not in bins.
    pub(super) async fn try_new(
        snapshot: &Snapshot,
        request: &Optimize,
        reusable: &[Output],
    ) -> Result<Self> {
        let target_bytes = target_bytes(snapshot, request)?;
        let clustering = clustering_columns(snapshot, request)?;
        let zorder = zorder_columns(snapshot, &request.zorder_by)?;
        let predicate = request.predicate.as_ref();
        let predicate = predicate
            .map(|predicate| of_partitions(snapshot, predicate))
            .transpose()?;
        let paths = paths_that_may_match(snapshot, predicate.as_ref()).await?;
        let adds = whole_adds(snapshot, Some(&paths)).await?;
        let inputs = reusable.iter().flat_map(|output| &output.inputs);
        let inputs: HashSet<String> = inputs.map(|path| key(path)).collect();
        let (reused, files): (Vec<Add>, Vec<Add>) =
            adds.into_iter().partition(|add| inputs.contains(&key(&add.path)));
        let (bins, order) = match (clustering.is_empty(), zorder.is_empty()) {
            (true, true) => {
                let candidates = files.into_iter().filter(|add| is_candidate(add, target_bytes));
                let bins = pack(candidates.collect(), target_bytes);
                (
                    bins.into_iter().map(Bin::combined).collect(),
                    SortOrder::default(),
                )
            }
            (true, false) => {
                let bins = by_partition(files).into_iter().map(Bin::sorted).collect();
                (bins, SortOrder::of(zorder, Curve::ZOrder))
            }
            (false, _) => {
                let selected = cubes::select(files, &clustering, target_bytes, request.full);
                let new = selected.new.into_iter();
                let mut bins: Vec<Bin> = new.map(|files| Bin::new_cube(files, &clustering)).collect();
                // Combined with others, the rows of a clustered file would no longer be near each other.
                let purged = selected.untouched.into_iter().filter(has_many_deleted_rows);
                bins.extend(purged.map(Bin::purged));
                (bins, SortOrder::of(clustering.clone(), Curve::Hilbert))
            }
        };
        Ok(Self {
            bins,
            reused,
            target_bytes,
            order,
            cluster_by: names_in_spark(&clustering),
            snapshot: snapshot.clone(),
        })
    }

    /// The files that are rewritten.
    pub(super) fn files(&self) -> impl Iterator<Item = &Add> {
        self.bins.iter().flat_map(|bin| &bin.files)
    }

    /// The approximate number of new files of a bin.
    pub(super) fn new_files(&self, bin: &Bin) -> usize {
        match bin.is_sorted {
            true => new_files(&bin.files, self.target_bytes),
            false => 1,
        }
    }
}

/// The size of new files.
pub(super) fn target_bytes(snapshot: &Snapshot, request: &Optimize) -> Result<u64> {
    Ok(match request.target_bytes {
        Some(bytes) => bytes,
        None => data_file_settings(snapshot.metadata())?
            .target_bytes
            .unwrap_or(TARGET_BYTES),
    })
}

/// Verifies that a predicate uses only partition columns, so that it selects whole files.
pub(crate) fn of_partitions(snapshot: &Snapshot, predicate: &Predicate) -> Result<BoundPredicate> {
    let bound = predicate.bind(snapshot.schema())?;
    let partition_columns = &snapshot.metadata().partition_columns;
    let columns = bound.columns();
    let other = columns
        .iter()
        .find(|column| !partition_columns.iter().any(|name| name == *column));
    let Some(other) = other else {
        return Ok(bound);
    };
    let error = Error::new(
        ErrorKind::InvalidPredicate,
        format!("where must use partition columns only, and {other:?} is no partition column"),
    )
    .with("field", *other);
    Err(match partition_columns.as_slice() {
        [] => error.hint("the table has no partition columns: omit where"),
        names => error.hint(format!("the partition columns are {}", names.join(", "))),
    })
}
