//! The parameters and metrics of a merge, named as by Spark.

use std::collections::BTreeMap;

use deltaic_log::transaction::OperationDetails;
use deltaic_protocol::actions::Add;
use serde_json::{Map, Value, json};

use super::bound_merge::{BoundAction, BoundMerge};
use super::clauses::{ClauseKind, Merge};
use super::matching::Matching;
use crate::transaction::delete::Deletion;

/// The metrics of every merge, those of its rows first.
const NAMES: [&str; 21] = [
    "numSourceRows",
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsCopied",
    "numTargetRowsMatchedUpdated",
    "numTargetRowsMatchedDeleted",
    "numTargetRowsNotMatchedBySourceUpdated",
    "numTargetRowsNotMatchedBySourceDeleted",
    "numOutputRows",
    "numTargetFilesAdded",
    "numTargetFilesRemoved",
    "numTargetBytesAdded",
    "numTargetBytesRemoved",
    "numTargetChangeFilesAdded",
    "numTargetDeletionVectorsAdded",
    "numTargetDeletionVectorsRemoved",
    "numTargetDeletionVectorsUpdated",
    "scanTimeMs",
    "rewriteTimeMs",
    "executionTimeMs",
];

/// What a transaction merged, for the metrics of its commit.
#[derive(Clone, Debug, Default)]
pub(in crate::transaction) struct Merged {
    parameters: Vec<(&'static str, String)>,
    metrics: BTreeMap<&'static str, i64>,
    /// The number of files that contain only inserted rows.
    pub(in crate::transaction) inserted_files: usize,
    /// Whether each row of a source is compared with each row of the table, because there are no keys.
    pub(in crate::transaction) compares_all: bool,
}

impl Merged {
    /// Starts the metrics of a merge.
    pub(super) fn new(merge: &Merge, bound: &BoundMerge, source_rows: usize) -> Self {
        let clauses = |kind| {
            let clauses = merge.clauses.iter().filter(|clause| clause.kind == kind);
            let clauses = clauses.map(|clause| {
                let condition = clause.condition.as_ref();
                let condition = condition.map(|text| ("predicate".to_owned(), json!(text.to_string())));
                let action = ("actionType".to_owned(), json!(clause.action.name()));
                Value::Object(condition.into_iter().chain([action]).collect::<Map<_, _>>())
            });
            Value::Array(clauses.collect()).to_string()
        };
        let mut merged = Self {
            parameters: vec![
                ("predicate", json!([merge.on.to_string()]).to_string()),
                ("matchedPredicates", clauses(ClauseKind::Matched)),
                ("notMatchedPredicates", clauses(ClauseKind::NotMatched)),
                (
                    "notMatchedBySourcePredicates",
                    clauses(ClauseKind::NotMatchedBySource),
                ),
            ],
            compares_all: bound.on.keys.is_empty(),
            ..Self::default()
        };
        merged.count("numSourceRows", source_rows);
        merged
    }

    /// The number of rows that are inserted.
    pub(super) fn inserted_rows(&self) -> u64 {
        let rows = self.metrics.get("numTargetRowsInserted").copied();
        rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0)
    }

    /// Adds to a metric.
    pub(super) fn count(&mut self, name: &'static str, number: usize) {
        self.add(name, i64::try_from(number).unwrap_or(i64::MAX));
    }

    /// Adds to a metric.
    pub(super) fn add(&mut self, name: &'static str, number: i64) {
        let metric = self.metrics.entry(name).or_default();
        *metric = metric.saturating_add(number);
    }

    /// The number of rows that are updated, deleted or inserted.
    pub(super) fn changed_rows(&self) -> u64 {
        let names = [
            "numTargetRowsUpdated",
            "numTargetRowsDeleted",
            "numTargetRowsInserted",
        ];
        let counts = names.iter().filter_map(|name| self.metrics.get(name));
        counts.filter_map(|count| u64::try_from(*count).ok()).sum()
    }

    /// Adds the rows that change.
    pub(super) fn count_rows(&mut self, merge: &BoundMerge, matching: &Matching<'_>, inserted: &[Vec<u32>]) {
        let mut of_clauses = vec![0; merge.matched.len() + merge.not_matched_by_source.len()];
        for decision in matching.decisions.values().flatten() {
            if let Some(count) = of_clauses.get_mut(decision.clause) {
                *count += 1;
            }
        }
        self.count_clauses(merge, &of_clauses, inserted.iter().map(Vec::len).sum());
    }

    /// The same for the numbers of rows of each clause.
    pub(super) fn count_clauses(&mut self, merge: &BoundMerge, of_clauses: &[usize], inserted: usize) {
        self.count("numTargetRowsInserted", inserted);
        self.count("numOutputRows", inserted);
        for (clause, rows) in of_clauses.iter().enumerate() {
            let is_update = matches!(merge.action(clause), Some(BoundAction::Update(_)));
            let is_matched = clause < merge.matched.len();
            self.count(
                match (is_update, is_matched) {
                    (true, true) => "numTargetRowsMatchedUpdated",
                    (false, true) => "numTargetRowsMatchedDeleted",
                    (true, false) => "numTargetRowsNotMatchedBySourceUpdated",
                    (false, false) => "numTargetRowsNotMatchedBySourceDeleted",
                },
                *rows,
            );
            match is_update {
                true => {
                    self.count("numTargetRowsUpdated", *rows);
                    self.count("numOutputRows", *rows);
                }
                false => self.count("numTargetRowsDeleted", *rows),
            }
        }
    }

    /// Adds files with rows.
    pub(super) fn count_files(&mut self, files: &[Add]) {
        self.count("numTargetFilesAdded", files.len());
        for add in files {
            self.add("numTargetBytesAdded", add.size);
        }
    }

    /// Adds what was removed between two states of the transaction.
    pub(super) fn count_removed(&mut self, before: &Deletion, after: &Deletion) {
        let long = |after: u64, before: u64| i64::try_from(after - before).unwrap_or(i64::MAX);
        self.count(
            "numTargetFilesRemoved",
            after.removed_files - before.removed_files,
        );
        self.add(
            "numTargetBytesRemoved",
            after.removed_bytes - before.removed_bytes,
        );
        for (name, after, before) in [
            (
                "numTargetDeletionVectorsAdded",
                after.vectors_added,
                before.vectors_added,
            ),
            (
                "numTargetDeletionVectorsRemoved",
                after.vectors_removed,
                before.vectors_removed,
            ),
            (
                "numTargetDeletionVectorsUpdated",
                after.vectors_updated,
                before.vectors_updated,
            ),
        ] {
            self.add(name, long(after, before));
        }
    }

    /// Adds another merge of the transaction.
    pub(super) fn followed_by(mut self, other: Self) -> Self {
        for (name, number) in other.metrics {
            self.add(name, number);
        }
        self.inserted_files += other.inserted_files;
        self.compares_all |= other.compares_all;
        if self.parameters.is_empty() {
            self.parameters = other.parameters;
        }
        self
    }

    /// The parameters and metrics of the commit.
    pub(in crate::transaction) fn details(&self) -> OperationDetails {
        let metrics = NAMES
            .iter()
            .map(|name| (*name, self.metrics.get(name).copied().unwrap_or(0)));
        OperationDetails {
            parameters: self.parameters.clone(),
            metrics: metrics.collect(),
        }
    }
}
