//! The truth: whether some serial order of whole operations over plain rows explains what came of a history.

use super::engine::{End, Fate};
use super::operations::{Effect, Operation};
use super::table::{Row, Table};
use crate::transaction::IsolationLevel;

/// Whether a serial order of those that were let through does the same, each for itself and all together. Under
/// `Serializable` it is the order of versions, in which only those that did nothing may stand elsewhere.
pub(super) fn is_serial(start: &Table, operations: &[Operation], end: &End, level: IsolationLevel) -> bool {
    let let_through: Vec<usize> = (0..end.fates.len())
        .filter(|at| end.fates[*at] != Fate::Lost)
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
    /// Whether those that are left can follow in some order.
    fn completes(&self, rows: &[Row], left: &[usize]) -> bool {
        if left.is_empty() {
            return rows == self.wanted;
        }
        // In the order of versions, nobody who did something goes before an earlier one that did.
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

    /// What a transaction did, if anything.
    fn did(&self, at: usize) -> Option<&Effect> {
        match &self.end.fates[at] {
            Fate::Committed(effect) if !effect.is_empty() => Some(effect),
            _ => None,
        }
    }
}
