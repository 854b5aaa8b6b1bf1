//! Row-level effects of operations in the model: the reference implementation.

use super::table::Row;
use crate::transaction::DecidedBy;

/// An operation on a partition and a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) verb: Verb,
    pub(super) partition: u8,
    pub(super) key: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Inserts a row unconditionally.
    Insert,
    /// Adds a previously written file, unless its row exists.
    Give,
    /// Inserts a row unless its key exists.
    InsertIfAbsent,
    /// Deletes the rows of a key by rewriting files.
    Delete,
    /// Updates the rows of a key by rewriting files.
    Update,
    /// Replaces a partition by one row.
    Overwrite,
    /// Compacts a partition into one file or, for the second key, into one file per key.
    Optimise,
    /// Deletes the rows of a key by deletion vectors.
    DeleteByVector,
    /// Updates the rows of a key by deletion vectors and a new file.
    UpdateByVector,
    /// Updates the rows of a key and of the third key by deletion vectors and a new file.
    UpdateTwoByVector,
    /// If the key exists, inserts a row of it into the other partition.
    CopyAcross,
    /// If the key does not exist, inserts a row of it into the other partition.
    InsertAcross,
    /// If the key exists, deletes its rows from the other partition.
    DeleteAcross,
    /// If the key exists, deletes the rows of all other keys by deletion vectors.
    DeleteOtherByVector,
}

/// A key that no operation targets directly.
pub(super) const THIRD_KEY: u8 = 2;

/// Value of a row written before any transaction began.
const GIVEN: u64 = 9;

use Verb::{
    CopyAcross, Delete, DeleteAcross, DeleteByVector, DeleteOtherByVector, Give, Insert, InsertAcross,
    InsertIfAbsent, Optimise, Overwrite, Update, UpdateByVector, UpdateTwoByVector,
};

fn of(verbs: &[Verb]) -> Vec<Operation> {
    let mut operations = Vec::new();
    for verb in verbs {
        for (partition, key) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            operations.push(Operation {
                verb: *verb,
                partition,
                key,
            });
        }
    }
    operations
}

/// Operations without deletion vectors, each within one partition.
pub(super) fn base_operations() -> Vec<Operation> {
    of(&[Insert, InsertIfAbsent, Delete, Update, Overwrite, Optimise])
}

/// All operations, including those that add the same file twice, use deletion vectors, or read one partition and write
/// the other.
pub(super) fn all_operations() -> Vec<Operation> {
    let further = of(&[
        Give,
        DeleteByVector,
        UpdateByVector,
        UpdateTwoByVector,
        CopyAcross,
        InsertAcross,
        DeleteAcross,
        DeleteOtherByVector,
    ]);
    [base_operations(), further].concat()
}

/// Deleted and inserted rows, each sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) gone: Vec<Row>,
    pub(super) come: Vec<Row>,
}

impl Effect {
    pub(super) fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.come.is_empty()
    }

    /// Applies the effect to sorted rows.
    pub(super) fn on(&self, rows: &[Row]) -> Vec<Row> {
        let mut after = rows.to_vec();
        for row in &self.gone {
            if let Ok(at) = after.binary_search(row) {
                after.remove(at);
            }
        }
        after.extend(&self.come);
        after.sort_unstable();
        after
    }
}

impl Operation {
    /// Returns the effect on rows of the operation, run as transaction `number`.
    pub(super) fn effect(self, number: usize, rows: &[Row]) -> Effect {
        let is_there = rows
            .iter()
            .any(|row| row.partition == self.partition && row.key == self.key);
        let is_of_key = |row: &&Row| {
            let is_third = self.verb == UpdateTwoByVector && row.key == THIRD_KEY;
            row.partition == self.partition && (row.key == self.key || is_third)
        };
        let new = |partition: u8| Row {
            partition,
            key: self.key,
            value: written_by(number),
        };
        let given = Row {
            value: GIVEN,
            ..new(self.partition)
        };
        let gone = |is_meant: &dyn Fn(&&Row) -> bool| -> Vec<Row> {
            rows.iter().filter(is_meant).copied().collect()
        };
        let effect = |gone: Vec<Row>, mut come: Vec<Row>| {
            come.sort_unstable();
            Effect { gone, come }
        };
        let across = 1 - self.partition;
        match self.verb {
            Insert => effect(vec![], vec![new(self.partition)]),
            Give if !rows.contains(&given) => effect(vec![], vec![given]),
            InsertIfAbsent if !is_there => effect(vec![], vec![new(self.partition)]),
            CopyAcross if is_there => effect(vec![], vec![new(across)]),
            InsertAcross if !is_there => effect(vec![], vec![new(across)]),
            Delete | DeleteByVector => effect(gone(&is_of_key), vec![]),
            DeleteOtherByVector if is_there => effect(
                gone(&|row| row.partition == self.partition && row.key != self.key),
                vec![],
            ),
            DeleteAcross if is_there => effect(
                gone(&|row| row.partition == across && row.key == self.key),
                vec![],
            ),
            Update | UpdateByVector | UpdateTwoByVector => {
                let gone = gone(&is_of_key);
                let come = gone.iter().map(|row| changed(*row, number)).collect();
                effect(gone, come)
            }
            Overwrite => effect(
                gone(&|row| row.partition == self.partition),
                vec![new(self.partition)],
            ),
            Give | InsertIfAbsent | CopyAcross | InsertAcross | DeleteAcross | DeleteOtherByVector
            | Optimise => Effect::default(),
        }
    }

    /// The partitions that the operation reads.
    pub(super) fn reads(self) -> Vec<u8> {
        match self.verb {
            Insert | Give => vec![],
            DeleteAcross => vec![0, 1],
            _ => vec![self.partition],
        }
    }

    pub(super) fn decided_by(self) -> DecidedBy {
        match self.verb {
            Delete | Update | DeleteByVector | UpdateByVector | UpdateTwoByVector => DecidedBy::Row,
            _ => DecidedBy::Table,
        }
    }

    /// The operation that the commit records.
    pub(super) fn kind(self) -> crate::transaction::Operation {
        use crate::transaction::Operation as Kind;
        match self.verb {
            Optimise => Kind::Optimize,
            Delete | DeleteByVector => Kind::Delete,
            Update | UpdateByVector | UpdateTwoByVector => Kind::Update,
            Insert | Give | Overwrite => Kind::Write,
            InsertIfAbsent | CopyAcross | InsertAcross | DeleteAcross | DeleteOtherByVector => Kind::Merge,
        }
    }
}

fn written_by(number: usize) -> u64 {
    10 + number as u64
}

/// Returns the row with a value that encodes which transactions changed it, in order.
pub(super) fn changed(row: Row, number: usize) -> Row {
    Row {
        value: row.value * 16 + 1 + number as u64,
        ..row
    }
}
