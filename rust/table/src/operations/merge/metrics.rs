//! The parameters of a merge, named as by Spark, and the rows that its clauses change.

use deltaic_log::transaction::Operation;
use deltaic_protocol::expr::Predicate;
use serde_json::{Map, Value, json};

use super::bound_merge::{BoundAction, BoundMerge};
use super::clauses::{ClauseKind, Merge};
use crate::transaction::TableTransaction;
use crate::transaction::metrics::Count;

/// What dry runs and users should know of a condition without equalities of both sides.
const COMPARES_ALL: &str = "the condition has no equality of both sides: each row of the source is compared with each \
     row of the table";

impl TableTransaction {
    /// Records the rows of the table that each clause changes. Returns their sum.
    pub(super) fn count_clauses(
        &mut self,
        (merge, bound): (&Merge, &BoundMerge),
        source_rows: usize,
        of_clauses: &[usize],
    ) -> u64 {
        let described = &mut self.staged.described;
        described.record(Operation::Merge);
        if described.parameters.is_empty() {
            described.parameters = parameters(merge);
        }
        if bound.on.keys.is_empty() && !described.warnings.contains(&COMPARES_ALL) {
            described.warnings.push(COMPARES_ALL);
        }
        described.metrics.add(Count::SourceRows, source_rows);
        for (clause, rows) in of_clauses.iter().enumerate() {
            let is_update = matches!(bound.action(clause), Some(BoundAction::Update(_)));
            let count = match (is_update, clause < bound.matched.len()) {
                (true, true) => Count::MatchedUpdated,
                (false, true) => Count::MatchedDeleted,
                (true, false) => Count::NotMatchedBySourceUpdated,
                (false, false) => Count::NotMatchedBySourceDeleted,
            };
            described.metrics.add(count, *rows);
        }
        of_clauses.iter().sum::<usize>() as u64
    }

    /// Adds to a count.
    pub(super) fn count(&mut self, count: Count, number: i64) {
        self.staged.described.metrics.add(count, number);
    }
}

/// The parameters of the commit.
fn parameters(merge: &Merge) -> Vec<(&'static str, String)> {
    let clauses = |kind| {
        let clauses = merge.clauses.iter().filter(|clause| clause.kind == kind);
        let clauses = clauses.map(|clause| {
            let text = clause.condition.as_ref().map(Predicate::to_string);
            let condition = text.map(|text| ("predicate".to_owned(), json!(text)));
            let action = ("actionType".to_owned(), json!(clause.action.name()));
            Value::Object(condition.into_iter().chain([action]).collect::<Map<_, _>>())
        });
        Value::Array(clauses.collect()).to_string()
    };
    vec![
        ("predicate", json!([merge.on.to_string()]).to_string()),
        ("matchedPredicates", clauses(ClauseKind::Matched)),
        ("notMatchedPredicates", clauses(ClauseKind::NotMatched)),
        (
            "notMatchedBySourcePredicates",
            clauses(ClauseKind::NotMatchedBySource),
        ),
    ]
}
