//! The parameters and metrics of an optimization, named as in delta-spark.

use deltaic_log::transaction::OperationDetails;
use deltaic_protocol::actions::Add;
use serde_json::Value;

use super::Optimize;
use super::files::Plan;

/// What a transaction optimized, for its commit.
#[derive(Clone, Debug, Default)]
pub(in crate::transaction) struct Optimized {
    predicate: Option<String>,
    zorder_by: Vec<String>,
    purge: bool,
    cluster_by: Vec<String>,
    full: bool,
    /// The sizes of new files, in ascending order.
    added: Vec<i64>,
    removed_files: usize,
    removed_bytes: i64,
    vectors_removed: usize,
}

impl Optimized {
    pub(super) fn new(request: &Optimize, plan: &Plan, removed: &[&Add], added: &[Add]) -> Self {
        let mut sizes: Vec<i64> = added.iter().map(|add| add.size).collect();
        sizes.sort_unstable();
        Self {
            predicate: request.predicate.as_ref().map(ToString::to_string),
            zorder_by: request.zorder_by.clone(),
            purge: request.purge,
            cluster_by: plan.cluster_by.clone(),
            full: request.full,
            added: sizes,
            removed_files: removed.len(),
            removed_bytes: removed.iter().fold(0, |sum, add| sum.saturating_add(add.size)),
            vectors_removed: removed.iter().filter(|add| add.deletion_vector.is_some()).count(),
        }
    }

    /// The parameters and metrics of the commit.
    pub(in crate::transaction) fn details(&self) -> OperationDetails {
        let list = |texts: Vec<String>| Value::from(texts).to_string();
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let sizes = &self.added;
        let size = |at: usize| sizes.get(at).copied().unwrap_or_default();
        let mut parameters = vec![("predicate", list(self.predicate.iter().cloned().collect()))];
        if self.purge {
            parameters.push(("applyPurge", "true".to_owned()));
        } else {
            parameters.extend([
                ("zOrderBy", list(self.zorder_by.clone())),
                ("clusterBy", list(self.cluster_by.clone())),
                ("auto", "false".to_owned()),
            ]);
        }
        if !self.cluster_by.is_empty() {
            parameters.push(("isFull", self.full.to_string()));
        }
        OperationDetails {
            parameters,
            metrics: vec![
                ("numAddedFiles", count(sizes.len())),
                ("numRemovedFiles", count(self.removed_files)),
                (
                    "numAddedBytes",
                    sizes.iter().fold(0, |sum, size| sum.saturating_add(*size)),
                ),
                ("numRemovedBytes", self.removed_bytes),
                ("numDeletionVectorsRemoved", count(self.vectors_removed)),
                ("minFileSize", size(0)),
                ("p25FileSize", size(sizes.len() / 4)),
                ("p50FileSize", size(sizes.len() / 2)),
                ("p75FileSize", size(sizes.len() * 3 / 4)),
                ("maxFileSize", size(sizes.len().saturating_sub(1))),
            ],
        }
    }
}
