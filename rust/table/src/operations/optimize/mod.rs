//! Rewrites small files as fewer large ones, or sorts and clusters rows, without changing them.
//!
//! Protocol: *Add File and Remove File* (`dataChange`), *Row Tracking*, *Deletion Vectors*, *Clustered Table*.

mod bins;
mod clustering;
mod cubes;
mod curve;
mod files;
mod metrics;
mod preview;
mod purge;
mod ranks;
mod request;
mod rewrite;
mod sample;
mod sorted_rows;
mod zcube;
mod zorder_columns;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Operation, Output};
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::clock::now_ms;

pub(crate) use self::files::of_partitions;
pub(crate) use self::preview::rows_of;
pub use self::request::Optimize;
use super::verb::Verb;
use crate::transaction::metrics::Count;
use crate::transaction::requirement::Requirement;
use crate::transaction::{DryRun, TableTransaction};

impl Verb for Optimize {
    type Staged = ();

    fn operation(&self) -> Operation {
        match self.purge {
            true => Operation::Reorg,
            false => Operation::Optimize,
        }
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        ensure_appendable(table)
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<()> {
        let snapshot = transaction.snapshot.clone();
        let earlier = transaction.attempts.earlier.as_ref();
        let reusable: Vec<Output> = earlier
            .map(|earlier| earlier.reusable.clone())
            .unwrap_or_default();
        let plan = purge::plan_of(&snapshot, self, &reusable).await;
        let plan = plan.map_err(|error| snapshot.located(error))?;
        let mut outputs = reusable;
        let written = rewrite::write_bins(&plan, &transaction.files, &transaction.options).await?;
        for (bin, mut adds) in plan.bins.iter().zip(written) {
            for add in &mut adds {
                bin.clustering.set(add);
            }
            outputs.push(Output {
                inputs: bin.files.iter().map(|add| add.path.clone()).collect(),
                adds,
            });
        }
        let removed: Vec<&Add> = plan.reused.iter().chain(plan.files()).collect();
        let added = outputs.iter().flat_map(|output| &output.adds);
        let added: Vec<Add> = added
            .map(|add| Add {
                data_change: false,
                ..add.clone()
            })
            .collect();
        transaction.attempts.now.outputs = outputs;
        transaction.require(Requirement::ADDS);
        let staged = &mut transaction.staged;
        staged.described.record(self.operation());
        staged.described.parameters = metrics::parameters(self, &plan);
        let counts = &mut staged.described.metrics;
        counts.add_files(Count::WrittenFiles, Count::WrittenBytes, &added);
        metrics::add_sizes(counts, &added);
        let now = now_ms();
        for add in removed {
            counts.add_files(
                Count::RemovedFiles,
                Count::RemovedBytes,
                std::slice::from_ref(add),
            );
            counts.add(Count::VectorsRemoved, i64::from(add.deletion_vector.is_some()));
            staged.same_rows.record_removed(add);
            staged.read.read_files([add.path.as_str()]);
            staged.proposal.removes.push(Remove {
                data_change: false,
                ..Remove::of(add, now)
            });
        }
        for add in &added {
            staged.same_rows.record_added(add);
        }
        staged.proposal.adds.extend(added);
        staged.proposal.keeps_row_ids = true;
        Ok(())
    }

    /// Reads no data file; for a purge, their footers.
    async fn preview(&self, snapshot: &Snapshot, _options: CommitOptions) -> Result<DryRun> {
        preview::preview(snapshot, self).await
    }
}
