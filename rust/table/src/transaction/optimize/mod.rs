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
mod rewrite;
mod sample;
mod sorted_rows;
mod zcube;
mod zorder_columns;

pub use preview::preview_optimize;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, Output, Planned, PreviousAttempt, RunPolicy, TableOperation, run,
};
use deltaic_protocol::Result;
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::expr::Predicate;
use deltaic_storage::clock::now_ms;

pub(super) use self::files::of_partitions;
pub(super) use self::metrics::Optimized;
pub(super) use self::preview::rows_of;
use super::TableTransaction;

/// What an optimization rewrites.
#[derive(Clone, Debug, Default)]
pub struct Optimize {
    /// The partitions to optimize, by a predicate on partition columns; `None` for all.
    pub predicate: Option<Predicate>,
    /// Columns by whose values rows are sorted together, along a Z-order curve: then all files are rewritten.
    pub zorder_by: Vec<String>,
    /// Whether files of a clustered table are clustered again that are clustered by other columns or by another
    /// implementation.
    pub full: bool,
    /// The size of the new files in bytes: a size that no file need exceed. Default: the property
    /// `delta.targetFileSize`, and 1 GiB without it.
    pub target_bytes: Option<u64>,
    /// Whether exactly those files are rewritten that have deleted rows, or columns that the table does not have.
    pub purge: bool,
}

/// Rewrites the small files of a table, and those with many deleted rows, in one commit with `dataChange=false`; with a
/// Z-order all files. In a table with clustering columns, rows of files that are not clustered, or only with few others,
/// are clustered. Returns a skipped commit if there are none.
///
/// Conflicts only with commits that removed or changed one of the rewritten files. After a conflict the newest version is
/// planned; new files whose inputs are unchanged are added again.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// `InvalidPredicate` if the predicate uses other columns than partition columns, or the table is clustered; `ValueError`
/// for a column that cannot be ordered by, a Z-order of a clustered table, or `full` without clustering columns;
/// `UnsupportedFeature`; `CorruptData`;
/// `StorageError`; those of [`run`].
pub async fn optimize(snapshot: &Snapshot, request: Optimize, options: CommitOptions) -> Result<Committed> {
    let policy = RunPolicy::of_rows(&options);
    let mut operation = Optimization { request, options };
    run(snapshot.clone(), policy, &mut operation).await
}

struct Optimization {
    request: Optimize,
    options: CommitOptions,
}

impl TableOperation for Optimization {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        let options = self.options.clone();
        let operation = match self.request.purge {
            true => Operation::Reorg,
            false => Operation::Optimize,
        };
        let mut transaction = TableTransaction::try_new(snapshot.clone(), operation, options)?;
        let reusable: Vec<Output> = previous
            .into_iter()
            .flat_map(PreviousAttempt::reusable)
            .cloned()
            .collect();
        let staged = transaction.optimize(&self.request, reusable).await;
        let planned = match staged {
            Ok(outputs) => transaction
                .plan_commit(snapshot)
                .await
                .map(|planned| planned.map(|planned| Planned { outputs, ..planned })),
            Err(error) => Err(error),
        };
        if planned.is_err() {
            transaction.abandon().await;
        }
        planned
    }
}

impl TableTransaction {
    /// Stages an optimization. Returns the new files, with the files whose rows they contain; those of `reusable` are
    /// staged again.
    async fn optimize(&mut self, request: &Optimize, reusable: Vec<Output>) -> Result<Vec<Output>> {
        let snapshot = self.snapshot.clone();
        if self.is_done() {
            return Ok(Vec::new());
        }
        let plan = purge::plan_of(&snapshot, request, &reusable).await;
        let plan = plan.map_err(|error| self.located(error))?;
        let mut outputs = reusable;
        let written = rewrite::write_bins(&plan, &self.files, &self.options).await?;
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
        self.optimized = Some(Optimized::new(request, &plan, &removed, &added));
        let now = now_ms();
        for add in removed {
            self.same_rows.record_removed(add);
            self.read.read_files([add.path.as_str()]);
            self.proposal.removes.push(Remove {
                data_change: false,
                ..Remove::of(add, now)
            });
        }
        for add in &added {
            self.same_rows.record_added(add);
        }
        self.proposal.adds.extend(added);
        self.proposal.keeps_row_ids = true;
        Ok(outputs)
    }
}
