//! What the history records of staged changes: parameters and metrics, named as by Spark.

use deltaic_log::transaction::{Operation, OperationDetails};
use serde_json::Value;

use super::metrics::Count::{self, *};
use super::metrics::{Metric, Metrics};

/// What the history records of the staged changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Described {
    pub(crate) metrics: Metrics,
    /// The operations that were staged: a deletion for every verb that selects rows of the table by a condition.
    operations: Vec<Operation>,
    /// The predicates of deletions and updates, as SQL.
    pub(crate) predicates: Vec<String>,
    /// Set by an overwrite, with the text of its predicate if it has one.
    pub(crate) overwritten: Option<Option<String>>,
    /// The parameters of a merge, an optimization or computed statistics; of the first merge.
    pub(crate) parameters: Vec<(&'static str, String)>,
    /// What may take long.
    pub(crate) warnings: Vec<&'static str>,
}

/// The metrics of deletions and updates, without the numbers of rows.
const OF_ROWS: [Metric; 12] = [
    ("numRemovedFiles", &[RemovedFiles]),
    ("numRemovedBytes", &[RemovedBytes]),
    ("numAddedFiles", &[WrittenFiles]),
    ("numAddedBytes", &[WrittenBytes]),
    ("numCopiedRows", &[CopiedRows]),
    ("numAddedChangeFiles", &[ChangeFiles]),
    ("numDeletionVectorsAdded", &[VectorsAdded]),
    ("numDeletionVectorsRemoved", &[VectorsRemoved]),
    ("numDeletionVectorsUpdated", &[VectorsUpdated]),
    ("scanTimeMs", &[ScanTime]),
    ("rewriteTimeMs", &[RewriteTime]),
    ("executionTimeMs", &[ScanTime, RewriteTime]),
];

/// The metrics of merges, those of rows first.
const OF_MERGE: [Metric; 21] = [
    ("numSourceRows", &[SourceRows]),
    ("numTargetRowsInserted", &[NewRows]),
    (
        "numTargetRowsUpdated",
        &[MatchedUpdated, NotMatchedBySourceUpdated],
    ),
    (
        "numTargetRowsDeleted",
        &[MatchedDeleted, NotMatchedBySourceDeleted],
    ),
    ("numTargetRowsCopied", &[CopiedRows]),
    ("numTargetRowsMatchedUpdated", &[MatchedUpdated]),
    ("numTargetRowsMatchedDeleted", &[MatchedDeleted]),
    (
        "numTargetRowsNotMatchedBySourceUpdated",
        &[NotMatchedBySourceUpdated],
    ),
    (
        "numTargetRowsNotMatchedBySourceDeleted",
        &[NotMatchedBySourceDeleted],
    ),
    (
        "numOutputRows",
        &[NewRows, MatchedUpdated, NotMatchedBySourceUpdated, CopiedRows],
    ),
    ("numTargetFilesAdded", &[NewFiles, WrittenFiles]),
    ("numTargetFilesRemoved", &[RemovedFiles]),
    ("numTargetBytesAdded", &[NewBytes, WrittenBytes]),
    ("numTargetBytesRemoved", &[RemovedBytes]),
    ("numTargetChangeFilesAdded", &[ChangeFiles]),
    ("numTargetDeletionVectorsAdded", &[VectorsAdded]),
    ("numTargetDeletionVectorsRemoved", &[VectorsRemoved]),
    ("numTargetDeletionVectorsUpdated", &[VectorsUpdated]),
    ("scanTimeMs", &[ScanTime]),
    ("rewriteTimeMs", &[RewriteTime]),
    ("executionTimeMs", &[MergeTime]),
];

/// The metrics of optimizations.
const OF_OPTIMIZE: [Metric; 10] = [
    ("numAddedFiles", &[WrittenFiles]),
    ("numRemovedFiles", &[RemovedFiles]),
    ("numAddedBytes", &[WrittenBytes]),
    ("numRemovedBytes", &[RemovedBytes]),
    ("numDeletionVectorsRemoved", &[VectorsRemoved]),
    ("minFileSize", &[MinFileSize]),
    ("p25FileSize", &[P25FileSize]),
    ("p50FileSize", &[P50FileSize]),
    ("p75FileSize", &[P75FileSize]),
    ("maxFileSize", &[MaxFileSize]),
];

/// The metrics of computed statistics; delta-spark records none.
const OF_STATISTICS: [Metric; 2] = [
    ("numFilesRead", &[ReadFiles]),
    ("numFilesUpdated", &[DescribedFiles]),
];

impl Described {
    /// Records that an operation was staged.
    pub(crate) fn record(&mut self, operation: Operation) {
        if !self.has(operation) {
            self.operations.push(operation);
        }
    }

    /// Whether an operation was staged.
    pub(crate) fn has(&self, operation: Operation) -> bool {
        self.operations.contains(&operation)
    }

    /// The parameters and metrics of an operation if it was staged, and nothing that it cannot contain.
    pub(super) fn details(&self, operation: Operation) -> Option<OperationDetails> {
        let metrics = &self.metrics;
        let of_rows = |name, count: &'static [Count]| {
            let mut named = metrics.named(&OF_ROWS);
            named.extend(metrics.named(&[(name, count)]));
            let predicates = Value::from(self.predicates.clone()).to_string();
            (vec![("predicate", predicates)], named)
        };
        let (parameters, metrics) = match operation {
            _ if !self.has(operation) => return None,
            Operation::Delete if metrics.get(NewFiles) == 0 => of_rows("numDeletedRows", &[SelectedRows]),
            Operation::Update => of_rows("numUpdatedRows", &[UpdatedRows]),
            Operation::Merge => (self.parameters.clone(), metrics.named(&OF_MERGE)),
            Operation::Optimize | Operation::Reorg => (self.parameters.clone(), metrics.named(&OF_OPTIMIZE)),
            Operation::ComputeStatistics => (self.parameters.clone(), metrics.named(&OF_STATISTICS)),
            _ => return None,
        };
        Some(OperationDetails { parameters, metrics })
    }
}
