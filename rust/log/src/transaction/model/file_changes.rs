//! File-level effects of operations in the model.

use super::operations::Verb::{
    CopyAcross, Delete, DeleteAcross, DeleteByVector, DeleteOtherByVector, Give, Insert, InsertAcross,
    InsertIfAbsent, Optimise, Overwrite, Update, UpdateByVector, UpdateTwoByVector,
};
use super::operations::{Operation, THIRD_KEY, changed};
use super::table::{File, Row, Table};

/// File changes of a transaction: removed files, added files, and files with a new deletion vector.
#[derive(Clone, Debug, Default)]
pub(super) struct FileChanges {
    pub(super) removed: Vec<File>,
    pub(super) added: Vec<File>,
    /// The file before the change, and its new deletion vector.
    pub(super) cut: Vec<(File, u64)>,
    /// Whether rows are only moved between files.
    pub(super) only_moves: bool,
}

impl Operation {
    /// Returns the file changes of the operation.
    pub(super) fn changes(self, number: usize, table: &Table) -> FileChanges {
        let mut changes = FileChanges::default();
        let rows = table.rows();
        let effect = self.effect(number, &rows);
        let new_file = |at: usize, rows: Vec<Row>| File {
            path: format!("t{number}-{at}"),
            partition: rows.first().map_or(0, |row| row.partition),
            rows,
            deleted: 0,
        };
        let own: Vec<&File> = table.of_partition(self.partition).collect();
        match self.verb {
            Optimise => {
                changes.only_moves = true;
                let keys = |file: &File| {
                    let mut keys: Vec<u8> = file.live().map(|(_, row)| row.key).collect();
                    keys.dedup();
                    keys.len()
                };
                let split = self.key == 1;
                let moved: Vec<&File> = own.into_iter().filter(|file| !split || keys(file) > 1).collect();
                if split || moved.len() > 1 || moved.iter().any(|file| file.deleted != 0) {
                    let rows: Vec<Row> = moved
                        .iter()
                        .flat_map(|file| file.live())
                        .map(|(_, row)| row)
                        .collect();
                    let parts: Vec<Vec<Row>> = if split {
                        (0..=THIRD_KEY)
                            .map(|key| rows.iter().filter(|row| row.key == key).copied().collect())
                            .collect()
                    } else {
                        vec![rows]
                    };
                    let parts = parts.into_iter().filter(|rows| !rows.is_empty()).enumerate();
                    changes.added = parts.map(|(at, rows)| new_file(at, rows)).collect();
                    changes.removed = moved.into_iter().cloned().collect();
                }
            }
            DeleteByVector | UpdateByVector | UpdateTwoByVector | DeleteOtherByVector => {
                for file in own {
                    let gone = file.live().filter(|(_, row)| effect.gone.contains(row));
                    let mask = gone.fold(file.deleted, |mask, (at, _)| mask | 1 << at);
                    if mask == file.deleted {
                        continue;
                    }
                    if mask.count_ones() as usize == file.rows.len() {
                        changes.removed.push(file.clone());
                    } else {
                        changes.cut.push((file.clone(), mask));
                    }
                }
                if !effect.come.is_empty() {
                    changes.added.push(new_file(0, effect.come));
                }
            }
            Delete | Update | DeleteAcross => {
                for file in &table.files {
                    if !file.live().any(|(_, row)| effect.gone.contains(&row)) {
                        continue;
                    }
                    let kept = file.live().map(|(_, row)| row);
                    let rows: Vec<Row> = kept
                        .filter_map(|row| match (effect.gone.contains(&row), self.verb) {
                            (false, _) => Some(row),
                            (true, Update) => Some(changed(row, number)),
                            (true, _) => None,
                        })
                        .collect();
                    if !rows.is_empty() {
                        changes.added.push(new_file(changes.added.len(), rows));
                    }
                    changes.removed.push(file.clone());
                }
            }
            Give => {
                let path = format!("given-{}-{}", self.partition, self.key);
                let given = |rows| File {
                    path,
                    ..new_file(0, rows)
                };
                changes.added = match effect.come.is_empty() {
                    true => Vec::new(),
                    false => vec![given(effect.come)],
                };
            }
            Insert | InsertIfAbsent | CopyAcross | InsertAcross | Overwrite => {
                if self.verb == Overwrite {
                    changes.removed = own.into_iter().cloned().collect();
                }
                if !effect.come.is_empty() {
                    changes.added.push(new_file(0, effect.come));
                }
            }
        }
        changes
    }
}
