//! What the history records of a commit: the operation with its parameters and metrics.

use deltaic_log::transaction::{Operation, OperationDetails, describe};
use serde_json::Value;

use super::TableTransaction;
use super::metrics::Count::{
    CopiedRows, NewBytes, NewFiles, NewRows, RemovedBytes, SelectedRows, VectorRows, Vectors, WrittenBytes,
    WrittenFiles,
};

impl TableTransaction {
    /// Returns the operation, its parameters and its metrics for `commitInfo`. A transaction that only alters the table
    /// records these changes.
    pub(crate) fn describe(&self) -> (Operation, OperationDetails) {
        let (staged, operation) = (&self.staged, self.staged.proposal.operation);
        if !staged.altered.is_empty() && !self.has_files() {
            return describe(&staged.altered);
        }
        if let Some(details) = staged.described.details(operation) {
            return (operation, details);
        }
        let overwritten = staged.described.overwritten.as_ref();
        let mut parameters = Vec::new();
        if operation == Operation::Write {
            if overwritten.is_some() {
                parameters.push(("mode", "Overwrite".to_owned()));
            } else if staged.proposal.removes.is_empty() {
                parameters.push(("mode", "Append".to_owned()));
            }
            let columns = self.configuration().metadata().partition_columns.clone();
            parameters.push(("partitionBy", Value::from(columns).to_string()));
        }
        let predicate = overwritten.and_then(Option::as_ref);
        parameters.extend(predicate.map(|predicate| ("predicate", predicate.clone())));
        let metrics = self.written_metrics();
        (operation, OperationDetails { parameters, metrics })
    }

    /// The metrics of written rows. Those of an overwrite count the rows that it copied, too.
    fn written_metrics(&self) -> Vec<(&'static str, i64)> {
        let (described, proposal) = (&self.staged.described, &self.staged.proposal);
        let counts = &described.metrics;
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let is_overwrite = described.overwritten.is_some();
        let mut metrics = match is_overwrite {
            true => counts.named(&[
                ("numFiles", &[NewFiles, WrittenFiles]),
                ("numOutputRows", &[NewRows, CopiedRows]),
                ("numOutputBytes", &[NewBytes, WrittenBytes]),
            ]),
            false => counts.named(&[
                ("numFiles", &[NewFiles]),
                ("numOutputRows", &[NewRows]),
                ("numOutputBytes", &[NewBytes]),
            ]),
        };
        let removes = count(proposal.removes.len());
        if removes > 0 || is_overwrite {
            metrics.push(("numRemovedFiles", removes.saturating_sub(counts.get(Vectors))));
        }
        if is_overwrite {
            let sizes = proposal.removes.iter().filter_map(|remove| remove.size);
            let bytes = match described.has(Operation::Delete) {
                true => counts.get(RemovedBytes),
                false => sizes.fold(0, i64::saturating_add),
            };
            metrics.push(("numRemovedBytes", bytes));
        }
        if matches!(described.overwritten, Some(Some(_))) && described.has(Operation::Delete) {
            metrics.extend(counts.named(&[("numCopiedRows", &[CopiedRows])]));
            metrics.push(("numAddedChangeFiles", count(proposal.cdc.len())));
            metrics.extend(counts.named(&[("numDeletedRows", &[SelectedRows])]));
        } else if counts.get(VectorRows) > 0 {
            metrics.extend(counts.named(&[("numDeletedRows", &[VectorRows])]));
        }
        if counts.get(Vectors) > 0 {
            metrics.extend(counts.named(&[("numDeletionVectorsAdded", &[Vectors])]));
        }
        metrics
    }
}
