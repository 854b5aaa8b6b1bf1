//! The conflict matrix as a table: each row has this commit's actions, those of the winning commit, and the outcome.

mod files;
mod metadata;
mod rows;
mod table;

use deltaic_protocol::{Conflict as Kind, Error, ErrorKind, Result, TableConfiguration};

use super::{Attempt, Granularity, Rule, check, check_without};
use crate::transaction::samples::{add, base, file, metadata, predicate, protocol, remove, winning_commit};
use crate::transaction::{Base, IsolationLevel, Operation, Proposal, ReadSet, WinningCommit};

/// A proposal with its read set.
#[derive(Clone)]
struct Loser {
    proposal: Proposal,
    read: ReadSet,
    base: Base,
}

fn support_check(table: &TableConfiguration) -> Result<()> {
    let mut names = table.protocol().writer_features.iter().flatten();
    match names.find(|name| name.starts_with("unheard")) {
        Some(name) => Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("{name} is not implemented"),
        )),
        None => Ok(()),
    }
}

impl Loser {
    /// A table partitioned by `p`, or unpartitioned.
    fn of(partition_columns: &[&str], operation: &str) -> Self {
        Self::with_features(partition_columns, &[], operation)
    }

    fn with_features(partition_columns: &[&str], features: &[&str], operation: &str) -> Self {
        let base = base(protocol(features), metadata(partition_columns, &[]));
        Self {
            proposal: Proposal {
                operation: Operation::parse(operation).expect("a known name"),
                ..Proposal::default()
            },
            read: ReadSet::try_new(&base.table).expect("they go together"),
            base,
        }
    }

    fn proposing(mut self, change: impl FnOnce(&mut Proposal)) -> Self {
        change(&mut self.proposal);
        self
    }

    fn reading(mut self, text: &str, files: &[&str]) -> Self {
        let bound = predicate(text, self.base.table.metadata());
        self.read.read_where(Some(&bound));
        self.read.read_files(files.iter().copied());
        self
    }

    fn meeting(
        &self,
        level: IsolationLevel,
        granularity: Granularity,
        winning_commit: &WinningCommit,
        without: &[Rule],
    ) -> Outcome {
        let attempt = Attempt {
            proposal: &self.proposal,
            read: &self.read,
            base: &self.base,
            level,
            granularity,
            support_check,
        };
        let found = check_without(without, &attempt, winning_commit);
        if without.is_empty() {
            assert_eq!(found, check(&attempt, winning_commit));
        }
        match found {
            Ok(shared) if shared.is_empty() => Outcome::Fits,
            Ok(_) => Outcome::ByRows,
            Err(conflict) => {
                assert_eq!(conflict.version(), winning_commit.version);
                Outcome::Fails(conflict.kind())
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Fits,
    /// The rows determine the outcome.
    ByRows,
    Fails(Kind),
}

use Outcome::Fits as OK;

const ADDED: Outcome = Outcome::Fails(Kind::AddedTwice);
const APPEND: Outcome = Outcome::Fails(Kind::ConcurrentAppend);
const READ: Outcome = Outcome::Fails(Kind::ConcurrentDeleteRead);
const TWICE: Outcome = Outcome::Fails(Kind::ConcurrentDeleteDelete);
const TXN: Outcome = Outcome::Fails(Kind::ConcurrentTransaction);
const META: Outcome = Outcome::Fails(Kind::MetadataChanged);
const PROTOCOL: Outcome = Outcome::Fails(Kind::ProtocolChanged);
const WRITE: Outcome = Outcome::Fails(Kind::ConcurrentWrite);

fn blind(path: &str) -> WinningCommit {
    winning_commit("WRITE", |w| {
        w.adds.push(file(path));
        w.is_blind_append = true;
    })
}

fn other(path: &str) -> WinningCommit {
    winning_commit("WRITE", |w| w.adds.push(file(path)))
}

/// An add as written by OPTIMIZE: its rows existed before.
fn moved(path: &str) -> WinningCommit {
    let mut winning_commit = other(path);
    winning_commit
        .adds
        .iter_mut()
        .for_each(|file| file.data_change = false);
    winning_commit
}

fn removing(path: &str, data_change: bool) -> WinningCommit {
    winning_commit("DELETE", |w| {
        w.removes.push(file(path));
        w.removes
            .iter_mut()
            .for_each(|file| file.data_change = data_change);
    })
}

/// The commits that lose in the file matrix, all of the partition `p = 1`: a blind append; one that read `1r` and `1d`
/// and removed `1d`; the same with metadata; one that assigns row ids.
fn losers() -> [Loser; 4] {
    let partitioned = |operation| Loser::of(&["p"], operation);
    let delete = |loser: Loser| {
        loser.reading("p = 1", &["1r", "1d"]).proposing(|proposal| {
            proposal.removes.push(remove("1d"));
            proposal.adds.push(add("1new"));
        })
    };
    [
        partitioned("WRITE").proposing(|proposal| proposal.adds.push(add("1new"))),
        delete(partitioned("DELETE")),
        delete(partitioned("WRITE")).proposing(|proposal| proposal.metadata = Some(metadata(&["p"], &[]))),
        delete(partitioned("ROW TRACKING BACKFILL")).proposing(|proposal| proposal.removes.clear()),
    ]
}
