//! Runs a history of the model with conflict detection: each transaction plans on its read version, is checked against
//! and rebased over every later winning commit, and commits.

use std::collections::HashMap;

use deltaic_protocol::expr::BoundPredicate;

use super::actions::{add_of, bitmap, came, descriptor, mask, remove_of, went};
use super::operations::{Effect, Operation};
use super::table::{File, Table};
use crate::transaction::conflict::{Attempt, Granularity, Rule, check_without};
use crate::transaction::samples::{base, metadata, predicate, protocol, version};
use crate::transaction::{
    Base, DecidedBy, IsolationLevel, Proposal, ReadSet, SharedFile, UnitedVector, WinningCommit, follow,
    is_blind_append, rebase, unite,
};

/// Rules under which a history runs. All but the level and the granularity exist so that tests can disable them.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) level: IsolationLevel,
    pub(super) granularity: Granularity,
    pub(super) without: Vec<Rule>,
    /// Whether deleted rows are verified to be disjoint.
    pub(super) proves_rows: bool,
    /// Whether all operations claim [`DecidedBy::Row`].
    pub(super) decided_by_row: bool,
}

impl Rules {
    /// Whether some rule is disabled, so that unsound histories are expected.
    pub(super) fn are_broken(&self) -> bool {
        !self.without.is_empty() || !self.proves_rows || self.decided_by_row
    }
}

/// Outcome of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TransactionOutcome {
    Lost,
    /// There was nothing to commit.
    Empty,
    Committed(Effect),
}

/// Outcome of a history.
#[derive(Clone, Debug)]
pub(super) enum History {
    Ended(End),
    /// A commit removed a missing file, or one whose deletion vector had changed: the log is invalid.
    Torn,
}

#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) fates: Vec<TransactionOutcome>,
    pub(super) table: Table,
}

pub(super) struct Engine {
    base: Base,
    unread: ReadSet,
    of_partition: [BoundPredicate; 2],
}

impl Engine {
    pub(super) fn new() -> Self {
        let base = Base {
            next: version(1),
            ..base(protocol(&[]), metadata(&["p"], &[]))
        };
        let of_partition = ["p = 0", "p = 1"].map(|text| predicate(text, base.table.metadata()));
        let unread = ReadSet::try_new(&base.table).expect("they go together");
        Self {
            base,
            unread,
            of_partition,
        }
    }

    pub(super) fn run(
        &self,
        start: &Table,
        operations: &[Operation],
        reads: &[usize],
        rules: &Rules,
    ) -> History {
        // The table at each version, and the commit of each version after the first.
        let mut tables = vec![start.clone()];
        let mut winning_commits: Vec<WinningCommit> = Vec::new();
        let mut fates = Vec::new();
        for (number, (operation, read_at)) in operations.iter().zip(reads).enumerate() {
            // Transactions that did not commit created no version to read.
            let read_at = (*read_at).min(winning_commits.len());
            let seen = &tables[read_at];
            let effect = operation.effect(number, &seen.rows());
            let mut transaction = self.plan(*operation, number, seen, read_at, rules);
            let level = rules.level.of_commit(&transaction.proposal);
            if transaction.proposal.is_empty() && level == IsolationLevel::SnapshotIsolation {
                fates.push(TransactionOutcome::Empty);
                continue;
            }
            let since = winning_commits.iter().skip(read_at);
            if !since
                .into_iter()
                .all(|winning_commit| transaction.passes(winning_commit, level, rules))
            {
                fates.push(TransactionOutcome::Lost);
                continue;
            }
            let Some(table) = transaction.commit(tables.last().expect("there is a first")) else {
                return History::Torn;
            };
            tables.push(table);
            winning_commits.push(transaction.into_winning_commit(winning_commits.len() + 1));
            fates.push(TransactionOutcome::Committed(effect));
        }
        let table = tables.pop().expect("there is a first");
        History::Ended(End { fates, table })
    }

    fn plan(
        &self,
        operation: Operation,
        number: usize,
        seen: &Table,
        read_at: usize,
        rules: &Rules,
    ) -> Transaction {
        let changes = operation.changes(number, seen);
        let data_change = !changes.only_moves;
        let mut proposal = Proposal {
            operation: operation.kind(),
            decided_by: if rules.decided_by_row {
                DecidedBy::Row
            } else {
                operation.decided_by()
            },
            ..Proposal::default()
        };
        for file in &changes.removed {
            proposal.removes.push(remove_of(file, data_change));
        }
        for file in &changes.added {
            proposal.adds.push(add_of(file, data_change));
        }
        for (file, deleted) in &changes.cut {
            proposal.removes.push(remove_of(file, data_change));
            let mut add = add_of(file, data_change);
            add.deletion_vector = descriptor(*deleted);
            proposal.adds.push(add);
        }
        proposal.validate().expect("a plan has one action per file");
        let mut read = self.unread.clone();
        for partition in operation.reads() {
            read.read_where(Some(&self.of_partition[usize::from(partition)]));
            read.read_files(seen.of_partition(partition).map(|file| file.path.as_str()));
        }
        Transaction {
            is_blind: is_blind_append(&proposal, &read),
            proposal,
            read,
            base: Base {
                next: version(i64::try_from(read_at + 1).expect("it is small")),
                ..self.base.clone()
            },
            new_files: changes.added,
        }
    }
}

struct Transaction {
    proposal: Proposal,
    read: ReadSet,
    base: Base,
    is_blind: bool,
    new_files: Vec<File>,
}

impl Transaction {
    /// Checks the transaction against a winning commit and rebases it; false for a conflict.
    fn passes(&mut self, winning_commit: &WinningCommit, level: IsolationLevel, rules: &Rules) -> bool {
        let attempt = Attempt {
            proposal: &self.proposal,
            read: &self.read,
            base: &self.base,
            level,
            granularity: rules.granularity,
            support_check: |_| Ok(()),
        };
        let Ok(shared) = check_without(&rules.without, &attempt, winning_commit) else {
            return false;
        };
        let united: Option<Vec<_>> = shared.into_iter().map(|file| united(file, rules)).collect();
        let Some(united) = united else {
            return false;
        };
        follow(&mut self.proposal, &united).expect("it was checked");
        let rebased = rebase(&mut self.proposal, &mut self.base, winning_commit);
        // If rows are not verified, the merged deletion vector may equal the winner's, which changes nothing.
        assert!(rebased.is_ok() || !rules.proves_rows, "{rebased:?}");
        rebased.is_ok()
    }

    /// Returns the table after the commit; `None` if the commit references missing files.
    fn commit(&self, before: &Table) -> Option<Table> {
        let mut files: HashMap<String, File> = before
            .files
            .iter()
            .map(|file| (file.path.clone(), file.clone()))
            .collect();
        let mut removed: HashMap<&str, File> = HashMap::new();
        for remove in &self.proposal.removes {
            let gone = files.remove(&remove.path)?;
            if descriptor(gone.deleted) != remove.deletion_vector {
                return None;
            }
            removed.insert(&remove.path, gone);
        }
        for add in &self.proposal.adds {
            let known = removed.get(add.path.as_str());
            let mut file = known
                .or_else(|| self.new_files.iter().find(|file| file.path == add.path))?
                .clone();
            file.deleted = mask(add.deletion_vector.as_ref());
            files.insert(add.path.clone(), file);
        }
        let mut files: Vec<File> = files.into_values().collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Some(Table { files })
    }

    fn into_winning_commit(self, number: usize) -> WinningCommit {
        let mut winning_commit =
            WinningCommit::silent(version(i64::try_from(number).expect("it is small")), 0);
        winning_commit.is_blind_append = self.is_blind;
        winning_commit.operation = Some(self.proposal.operation.name().to_owned());
        winning_commit.adds = self.proposal.adds.into_iter().map(came).collect();
        winning_commit.removes = self.proposal.removes.into_iter().map(went).collect();
        winning_commit
    }
}

/// Returns a shared file with the merged deletion vector; `None` if the rows are not disjoint.
fn united(file: SharedFile, rules: &Rules) -> Option<(SharedFile, UnitedVector)> {
    let base = bitmap(file.base.as_ref());
    let proposed = file.proposed.as_ref().map(|proposed| bitmap(Some(proposed)));
    let winning = bitmap(Some(&file.winning));
    let united = if rules.proves_rows {
        unite(&base, proposed.as_ref(), &winning)?
    } else {
        winning.union(proposed.as_ref().unwrap_or(&base))
    };
    let mask = united.iter().fold(0, |mask, at| mask | 1 << at);
    let vector = match descriptor(mask) {
        Some(_) if file.is_emptied_by(&united) => UnitedVector::Emptied,
        Some(vector) => UnitedVector::Vector(vector),
        None => UnitedVector::Untouched,
    };
    Some((file, vector))
}
