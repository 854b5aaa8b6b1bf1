//! Reference implementation: whether some serial order of row-level operations explains the outcome of a history.

use super::engine::{End, TransactionOutcome};
use super::operations::{Effect, Operation};
use super::table::{Row, Table};
use crate::transaction::IsolationLevel;

/// Whether some serial order of the accepted transactions has the same effect per transaction and the same final table.
/// Under `Serializable` this must be the version order, except for transactions without effect.
pub(super) fn is_serial(start: &Table, operations: &[Operation], end: &End, level: IsolationLevel) -> bool {
    let let_through: Vec<usize> = (0..end.fates.len())
        .filter(|at| end.fates[*at] != TransactionOutcome::Lost)
        .collect();
    let search = Search {
        operations,
        end,
        wanted: end.table.rows(),
        keeps_order: level == IsolationLevel::Serializable,
    };
    search.completes(&start.rows(), &let_through)
}

struct Search<'a> {
    operations: &'a [Operation],
    end: &'a End,
    wanted: Vec<Row>,
    keeps_order: bool,
}

impl Search<'_> {
    /// Whether some order of the remaining transactions leads to the final table.
    fn completes(&self, rows: &[Row], left: &[usize]) -> bool {
        if left.is_empty() {
            return rows == self.wanted;
        }
        // In version order, a transaction with an effect must not precede an earlier one with an effect.
        let first = left
            .iter()
            .position(|at| self.did(*at).is_some())
            .unwrap_or(left.len());
        (0..left.len()).any(|place| {
            let at = left[place];
            if self.keeps_order && self.did(at).is_some() && place != first {
                return false;
            }
            let effect = self.operations[at].effect(at, rows);
            let nothing = Effect::default();
            if &effect != self.did(at).unwrap_or(&nothing) {
                return false;
            }
            let rest: Vec<usize> = left.iter().copied().filter(|other| *other != at).collect();
            self.completes(&effect.on(rows), &rest)
        })
    }

    /// Returns the effect of a transaction; `None` if it has none.
    fn did(&self, at: usize) -> Option<&Effect> {
        match &self.end.fates[at] {
            TransactionOutcome::Committed(effect) if !effect.is_empty() => Some(effect),
            _ => None,
        }
    }
}
