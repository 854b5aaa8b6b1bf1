//! Reference implementation: a table as plain values, effects of operations, and the search for a serial order.

use std::collections::BTreeMap;

use super::operations::Operation;
use crate::transaction::IsolationLevel;

/// A row: key, and a value that identifies its writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) key: u8,
    pub(super) value: u8,
}

/// State of a table besides its rows. Absent is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    /// A CHECK constraint: no row with key 1.
    Constraint,
    /// A property whose change conflicts with every concurrent commit.
    Note,
    /// A property whose change does not conflict with other commits.
    Vectors,
    /// A table feature that some writers do not support.
    Alien,
    /// Whether the table supports domain metadata.
    Domains,
    /// Row tracking: [`SUPPORTED`], [`ENABLED`] or [`SUSPENDED`].
    Ids,
    App(u8),
    Domain(u8),
}

pub(super) const SUPPORTED: u8 = 1;
pub(super) const ENABLED: u8 = 2;
pub(super) const SUSPENDED: u8 = 3;

/// A table as plain values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// The sorted rows, each with whether it has a row id.
    pub(super) rows: Vec<(Row, bool)>,
    pub(super) cells: BTreeMap<Cell, u8>,
}

/// The effect of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) gone: Vec<Row>,
    pub(super) come: Vec<Row>,
    pub(super) set: BTreeMap<Cell, u8>,
    /// Whether all rows get row ids (true) or lose them (false).
    pub(super) numbers: Option<bool>,
    /// Whether files are added again unchanged.
    pub(super) rewrites: bool,
}

impl Truth {
    pub(super) fn cell(&self, cell: Cell) -> u8 {
        self.cells.get(&cell).copied().unwrap_or(0)
    }

    pub(super) fn of_key(&self, key: u8) -> Vec<Row> {
        let rows = self.rows.iter().map(|(row, _)| *row);
        rows.filter(|row| row.key == key).collect()
    }

    pub(super) fn after(&self, effect: &Effect) -> Self {
        let mut after = self.clone();
        after.rows.retain(|(row, _)| !effect.gone.contains(row));
        for (cell, value) in &effect.set {
            match value {
                0 => after.cells.remove(cell),
                value => after.cells.insert(*cell, *value),
            };
        }
        // A commit that adds row tracking also assigns row ids to its own files.
        let is_numbered = [SUPPORTED, ENABLED].contains(&after.cell(Cell::Ids));
        after
            .rows
            .extend(effect.come.iter().map(|row| (*row, is_numbered)));
        for (_, has_id) in &mut after.rows {
            *has_id = effect.numbers.unwrap_or(*has_id);
        }
        after.rows.sort_unstable();
        after
    }
}

impl Effect {
    /// The part of the effect that depends on reads. Assigning row ids does not: another commit may have assigned them.
    fn observed(&self) -> (&[Row], &[Row], &BTreeMap<Cell, u8>) {
        (&self.gone, &self.come, &self.set)
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Outcome of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TransactionOutcome {
    /// The table that it read does not allow the operation.
    Refused,
    Lost,
    /// There was nothing to do.
    Empty,
    Committed(Effect),
}

/// Whether some serial order of the accepted transactions has the same effect per transaction and the same final table.
/// Under `Serializable` this must be the version order, except for transactions without effect.
pub(super) fn is_serial(
    start: &Truth,
    operations: &[Operation],
    fates: &[TransactionOutcome],
    end: &Truth,
    level: IsolationLevel,
) -> bool {
    let let_through: Vec<usize> = (0..fates.len())
        .filter(|at| {
            matches!(
                fates[*at],
                TransactionOutcome::Empty | TransactionOutcome::Committed(_)
            )
        })
        .collect();
    let search = Search {
        operations,
        fates,
        end,
        keeps_order: level == IsolationLevel::Serializable,
    };
    search.completes(start, &let_through)
}

struct Search<'a> {
    operations: &'a [Operation],
    fates: &'a [TransactionOutcome],
    end: &'a Truth,
    keeps_order: bool,
}

impl Search<'_> {
    /// Row ids are visible only if they are enabled, which gives every row one. Until then, a blind append that
    /// `WriteSerializable` orders later may have none.
    fn is_end(&self, truth: &Truth) -> bool {
        if self.keeps_order || self.end.cell(Cell::Ids) != SUPPORTED {
            return truth == self.end;
        }
        let rows = |truth: &Truth| -> Vec<Row> { truth.rows.iter().map(|(row, _)| *row).collect() };
        truth.cells == self.end.cells && rows(truth) == rows(self.end)
    }

    fn completes(&self, truth: &Truth, left: &[usize]) -> bool {
        if left.is_empty() {
            return self.is_end(truth);
        }
        let did = |at: usize| match &self.fates[at] {
            TransactionOutcome::Committed(effect) => effect.clone(),
            _ => Effect::default(),
        };
        let first = left.iter().position(|at| !did(*at).is_empty());
        (0..left.len()).any(|place| {
            let at = left[place];
            let effect = did(at);
            if self.keeps_order && !effect.is_empty() && Some(place) != first {
                return false;
            }
            let Some(now) = self.operations[at].effect(at, truth) else {
                return false;
            };
            if now.observed() != effect.observed() {
                return false;
            }
            let rest: Vec<usize> = left.iter().copied().filter(|other| *other != at).collect();
            self.completes(&truth.after(&now), &rest)
        })
    }
}
