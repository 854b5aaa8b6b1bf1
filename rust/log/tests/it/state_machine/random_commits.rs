//! Random planned commits of writers.

use std::collections::BTreeSet;

use deltaic_log::transaction::IsolationLevel::{Serializable, SnapshotIsolation, WriteSerializable};

use super::change::Change;
use super::machine::Machine;
use super::model::{File, PlannedCommit, Selection, State};

/// With this number of files nothing is appended, so that tables remain small.
const MOST_FILES: usize = 10;

impl Machine {
    /// A planned commit of a writer that has read a version.
    pub(crate) fn planned(&mut self, read: &State, writer: usize) -> PlannedCommit {
        let kind = self.chance.below(25);
        let mut planned = match kind {
            0..=6 if read.files.len() < MOST_FILES => self.append(),
            7..=8 => self.overwrite(read),
            9..=13 if read.has("delta.enableDeletionVectors") => self.delete_rows(read),
            20..=24 => self.merge(read),
            14..=15 => self.optimize(read),
            16 => self.evolve(read),
            17 if self.form.has_domains => self.set_domain(read),
            _ => self.delete(read),
        };
        let is_empty = planned.is_blind()
            && planned.adds.is_empty()
            && planned.change.is_none()
            && planned.domain.is_none();
        if is_empty {
            planned = self.append();
        }
        if planned.change.is_none() && self.chance.below(5) == 0 {
            let id = format!("app{}", self.chance.below(3));
            let reached = read.apps.get(&id).copied().unwrap_or(0);
            let next = i64::try_from(self.chance.below(4)).unwrap_or(0);
            planned.app = Some((id, reached + next));
        }
        planned.removed_ms = self.clocks.writer_ms(writer);
        planned
    }

    fn append(&mut self) -> PlannedCommit {
        let count = 1 + self.chance.below(2);
        PlannedCommit {
            name: "WRITE",
            adds: self.new_files(count),
            changes_rows: true,
            ..PlannedCommit::default()
        }
    }

    /// Files with unused names.
    pub(crate) fn new_files(&mut self, count: usize) -> Vec<(String, File)> {
        let mut files = Vec::new();
        for _ in 0..count {
            self.names += 1;
            let partition = self.chance.below(3);
            let file = File {
                size: i64::try_from(1 + self.chance.below(1000)).unwrap_or(1),
                rows: u64::try_from(1 + self.chance.below(20)).ok(),
                partition: self.form.is_partitioned.then(|| format!("p{partition}")),
                ..File::default()
            };
            files.push((format!("f{}", self.names), file));
        }
        files
    }

    /// Some of the live files.
    fn some_files(&mut self, read: &State, most: usize) -> Vec<String> {
        let mut left: Vec<&String> = read.files.keys().collect();
        let mut some = Vec::new();
        for _ in 0..=self.chance.below(most) {
            if !left.is_empty() {
                some.push(left.remove(self.chance.below(left.len())).clone());
            }
        }
        some
    }

    fn overwrite(&mut self, read: &State) -> PlannedCommit {
        let count = self.chance.below(3);
        PlannedCommit {
            name: "WRITE",
            removes: read.files.keys().cloned().collect(),
            adds: self.new_files(count),
            reads_all: true,
            changes_rows: true,
            ..PlannedCommit::default()
        }
    }

    /// A MERGE: selects rows by a predicate, and changes them.
    fn merge(&mut self, read: &State) -> PlannedCommit {
        let selection = self.selection(read);
        let selected = read.files.iter().filter(|(_, file)| selection.has(file));
        let mut removes: Vec<String> = selected.map(|(path, _)| path.clone()).collect();
        removes.truncate(self.chance.below(2));
        let count = usize::from(removes.is_empty() || self.chance.below(2) == 0);
        PlannedCommit {
            name: "MERGE",
            removes,
            adds: self.new_files(if read.files.len() < MOST_FILES { count } else { 0 }),
            reads: Some(selection),
            isolation: [
                None,
                None,
                Some(Serializable),
                Some(WriteSerializable),
                Some(SnapshotIsolation),
            ][self.chance.below(5)],
            changes_rows: true,
            ..PlannedCommit::default()
        }
    }

    fn selection(&mut self, read: &State) -> Selection {
        let partition = self.chance.below(4);
        match partition {
            0..=2 if read.partition_column.is_some() => Selection::Partition(format!("p{partition}")),
            _ => Selection::Everything,
        }
    }

    fn delete(&mut self, read: &State) -> PlannedCommit {
        let count = self.chance.below(2);
        PlannedCommit {
            name: if count == 0 { "DELETE" } else { "UPDATE" },
            removes: self.some_files(read, 3),
            adds: self.new_files(count),
            changes_rows: true,
            ..PlannedCommit::default()
        }
    }

    fn delete_rows(&mut self, read: &State) -> PlannedCommit {
        let mut deletes = Vec::new();
        // Some select the rows by a predicate, others know their files.
        let selection = (self.chance.below(2) == 0).then(|| self.selection(read));
        for path in self.some_files(read, 2) {
            let file = &read.files[&path];
            if selection.as_ref().is_some_and(|selection| !selection.has(file)) {
                continue;
            }
            let mut left: Vec<u64> = (0..file.rows.unwrap_or(0))
                .filter(|row| !file.deleted.contains(row))
                .collect();
            let mut rows = BTreeSet::new();
            for _ in 0..=self.chance.below(3) {
                // One row is retained: a file without rows would be removed. The first rows are preferred, so that
                // writers collide.
                if left.len() > 1 {
                    rows.insert(left.remove(self.chance.below(left.len().min(4))));
                }
            }
            if !rows.is_empty() {
                deletes.push((path, rows));
            }
        }
        PlannedCommit {
            name: "DELETE",
            deletes,
            reads: selection,
            changes_rows: true,
            ..PlannedCommit::default()
        }
    }

    /// The same rows in fewer files.
    fn optimize(&mut self, read: &State) -> PlannedCommit {
        let removes = self.some_files(read, 4);
        let adds = if removes.is_empty() {
            Vec::new()
        } else {
            self.new_files(1)
        };
        PlannedCommit {
            name: "OPTIMIZE",
            removes,
            adds,
            ..PlannedCommit::default()
        }
    }

    /// A table change by an ordinary transaction.
    fn evolve(&mut self, read: &State) -> PlannedCommit {
        let (name, change) = if self.chance.below(2) == 0 {
            let name = format!("c{}", self.chance.below(6));
            ("ADD COLUMNS", Change::AddColumn(name))
        } else {
            let key = ["machine.0", "machine.1", "machine.2"][self.chance.below(3)];
            let value = self.chance.below(1000).to_string();
            ("SET TBLPROPERTIES", Change::Set(key, value))
        };
        // A change without effect is not committed.
        let is_change = |change: &Change| change.apply(read, 0, 0).is_some_and(|after| after != *read);
        PlannedCommit {
            name,
            change: Some(change).filter(is_change),
            ..PlannedCommit::default()
        }
    }

    fn set_domain(&mut self, read: &State) -> PlannedCommit {
        let name = format!("machine.{}", self.chance.below(3));
        let goes = read.domains.contains_key(&name) && self.chance.below(3) == 0;
        let configuration = (!goes).then(|| format!("{{\"n\":{}}}", self.chance.below(1000)));
        PlannedCommit {
            name: "SET DOMAIN METADATA",
            domain: Some((name, configuration)),
            ..PlannedCommit::default()
        }
    }
}
