//! Computes the statistics of live files again, and adds the files with them.
//!
//! Protocol: *Per-file Statistics*, *Add File and Remove File* (`dataChange`), *Deletion Vectors*.

mod columns;
mod files;
mod request;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Operation};
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::{Result, TableConfiguration};
use serde_json::Value;

use self::files::{Described, describe_files};
pub use self::request::ComputedStatistics;
use super::optimize::rows_of;
use super::verb::Verb;
use crate::transaction::attempts::KnownStatistics;
use crate::transaction::metrics::Count;
use crate::transaction::requirement::Requirement;
use crate::transaction::{DryRun, TableTransaction};

impl Verb for ComputedStatistics {
    type Staged = ();

    fn operation(&self) -> Operation {
        Operation::ComputeStatistics
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        ensure_appendable(table)
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<()> {
        let snapshot = transaction.snapshot.clone();
        let earlier = transaction.attempts.earlier.as_mut();
        let mut known = earlier
            .map(|earlier| std::mem::take(&mut earlier.statistics))
            .unwrap_or_default();
        let described = describe_files(&snapshot, self, &transaction.options, &mut known).await;
        let Described { read, changed } = described.map_err(|error| snapshot.located(error))?;
        transaction.attempts.now.statistics = known;
        transaction.require(Requirement::ADDS);
        let staged = &mut transaction.staged;
        let predicate: Vec<String> = self.predicate.iter().map(ToString::to_string).collect();
        staged.described.record(self.operation());
        staged.described.parameters = vec![("predicate", Value::from(predicate).to_string())];
        staged.described.metrics.add(Count::ReadFiles, read);
        staged.described.metrics.add(Count::DescribedFiles, changed.len());
        staged
            .read
            .read_files(changed.iter().map(|add| add.path.as_str()));
        staged.proposal.adds.extend(changed);
        staged.proposal.keeps_row_ids = true;
        Ok(())
    }

    /// Reads the files: `rows` is the number of rows in those that differ.
    async fn preview(&self, snapshot: &Snapshot, options: CommitOptions) -> Result<DryRun> {
        ensure_appendable(snapshot.configuration()).map_err(|error| snapshot.located(error))?;
        let described = describe_files(snapshot, self, &options, &mut KnownStatistics::new()).await;
        let described = described.map_err(|error| snapshot.located(error))?;
        Ok(DryRun {
            rows: rows_of(described.changed.iter()),
            described_files: described.changed.len(),
            ..DryRun::default()
        })
    }
}
