//! What a transaction of the model does to rows: the truth.

use super::table::Row;
use crate::transaction::DecidedBy;

/// How an operation is done: which keys and partitions it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) verb: Verb,
    pub(super) partition: u8,
    pub(super) key: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// A row comes, whatever is there.
    Insert,
    /// A file that was written before comes, unless its row is there.
    Give,
    /// A row comes unless there is one of its key.
    InsertIfAbsent,
    /// The rows of a key go; their files are written anew.
    Delete,
    /// The rows of a key change; their files are written anew.
    Update,
    /// A partition is replaced by one row.
    Overwrite,
    /// The files of a partition become one, or, for the second key, one for each key.
    Optimise,
    /// The rows of a key go by vectors.
    DeleteByVector,
    /// The rows of a key change: by vectors they go, in a new file they come.
    UpdateByVector,
    /// The rows of a key and those of the third key change by vectors.
    UpdateTwoByVector,
    /// Where a key is there, a row of it comes to the other partition.
    CopyAcross,
    /// Where a key is not there, a row of it comes to the other partition.
    InsertAcross,
    /// Where a key is there, the rows of it in the other partition go.
    DeleteAcross,
    /// Where a key is there, the rows of the other key go by vectors.
    DeleteOtherByVector,
}

/// The key that no operation is about by itself.
pub(super) const THIRD_KEY: u8 = 2;

/// The value of a row that was written before any transaction began.
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

/// The operations without vectors, each of which stays in its partition.
pub(super) fn base_operations() -> Vec<Operation> {
    of(&[Insert, InsertIfAbsent, Delete, Update, Overwrite, Optimise])
}

/// With those that bring one file twice, those that delete by vectors, and those that look here and write there.
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

/// Rows that went and rows that came, each in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) gone: Vec<Row>,
    pub(super) come: Vec<Row>,
}

impl Effect {
    pub(super) fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.come.is_empty()
    }

    /// What it makes of rows that are in their order.
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
    /// What the operation does to rows, done by the transaction of a number.
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

    /// The partitions whose files it looks at.
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

    /// What its commits record.
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

/// A value that tells who changed it, and in which order.
pub(super) fn changed(row: Row, number: usize) -> Row {
    Row {
        value: row.value * 16 + 1 + number as u64,
        ..row
    }
}
