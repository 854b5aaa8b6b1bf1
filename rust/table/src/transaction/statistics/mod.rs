//! Computes the statistics of live files again, and adds the files with them.
//!
//! Protocol: *Per-file Statistics*, *Add File and Remove File* (`dataChange`), *Deletion Vectors*.

mod columns;
mod files;

use std::collections::HashMap;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, OperationDetails, Planned, PreviousAttempt, RunPolicy,
    TableOperation, Transaction, already_done, run,
};
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::ensure_appendable;
use serde_json::Value;

use self::files::{Described, Known, describe_files};
use super::DryRun;
use super::optimize::rows_of;

/// Which statistics are computed.
#[derive(Clone, Debug, Default)]
pub struct ComputedStatistics {
    /// The names of columns, possibly of structs and their fields; the other columns that have statistics keep theirs.
    /// `None` for exactly the columns that the table's properties select.
    pub columns: Option<Vec<String>>,
    /// The partitions, by a predicate on partition columns; `None` for all.
    pub predicate: Option<Predicate>,
}

/// Reads the live files of a table and adds those whose statistics differ again, with the statistics of their rows that
/// are not deleted, in one commit with `dataChange=false`. Returns a skipped commit if none differ.
///
/// Conflicts only with commits that removed or changed one of these files. After a conflict the newest version is
/// planned; unchanged files are not read again.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// `InvalidPredicate` if the predicate uses other columns than partition columns; `ValueError` for a column that cannot
/// have statistics; `UnsupportedFeature`; `CorruptData`; `StorageError`; those of [`run`].
pub async fn compute_statistics(
    snapshot: &Snapshot,
    request: ComputedStatistics,
    options: CommitOptions,
) -> Result<Committed> {
    if let Some(app) = &options.app_transaction
        && let Some(done) = already_done(snapshot, app)
    {
        return Ok(done);
    }
    let policy = RunPolicy::of_rows(&options);
    let mut operation = Computation {
        request,
        options,
        known: HashMap::new(),
    };
    run(snapshot.clone(), policy, &mut operation).await
}

/// What [`compute_statistics`] would do: `rows` is the number of rows in the files that differ. The files are read;
/// nothing is written.
///
/// # Errors
///
/// Those of [`compute_statistics`], except for those of its commit.
pub async fn preview_statistics(
    snapshot: &Snapshot,
    request: &ComputedStatistics,
    options: &CommitOptions,
) -> Result<DryRun> {
    ensure_appendable(snapshot.configuration()).map_err(|error| snapshot.located(error))?;
    let described = describe_files(snapshot, request, options, &mut HashMap::new()).await;
    let described = described.map_err(|error| snapshot.located(error))?;
    Ok(DryRun {
        rows: rows_of(described.changed.iter()),
        described_files: described.changed.len(),
        ..DryRun::default()
    })
}

struct Computation {
    request: ComputedStatistics,
    options: CommitOptions,
    /// The statistics that earlier attempts computed.
    known: Known,
}

impl TableOperation for Computation {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        if previous.is_some_and(|previous| !previous.is_same_configuration()) {
            self.known.clear();
        }
        let mut transaction =
            Transaction::try_new(snapshot, Operation::ComputeStatistics, ensure_appendable)?;
        let request = &self.request;
        let described = describe_files(snapshot, request, &self.options, &mut self.known).await;
        let described = described.map_err(|error| snapshot.located(error))?;
        if described.changed.is_empty() && self.options.app_transaction.is_none() {
            return Ok(None);
        }
        transaction.details = self.details(&described);
        transaction.options = self.options.clone();
        let paths = described.changed.iter().map(|add| add.path.as_str());
        transaction.read.read_files(paths);
        transaction.proposal.adds = described.changed;
        transaction.proposal.keeps_row_ids = true;
        Ok(Some(Planned::without_files(transaction)))
    }
}

impl Computation {
    /// The parameters, named as in delta-spark, which records no metrics.
    fn details(&self, described: &Described) -> OperationDetails {
        let predicate = self.request.predicate.iter().map(ToString::to_string);
        let predicate: Vec<String> = predicate.collect();
        let count = |files: usize| i64::try_from(files).unwrap_or(i64::MAX);
        OperationDetails {
            parameters: vec![("predicate", Value::from(predicate).to_string())],
            metrics: vec![
                ("numFilesRead", count(described.read)),
                ("numFilesUpdated", count(described.changed.len())),
            ],
        }
    }
}

/// A file with its deletion vector, whose rows are always the same.
fn key_of(add: &Add) -> String {
    let vector = add.deletion_vector.as_ref();
    let vector = vector.map(|vector| (&vector.storage_type, &vector.path_or_inline_dv, vector.offset));
    format!("{}\n{vector:?}", add.path)
}
