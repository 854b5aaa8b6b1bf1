//! Generates histories and counts their outcomes.

use std::num::NonZero;
use std::thread;

use super::engine::{Engine, History, Rules, TransactionOutcome};
use super::operations::{Operation, all_operations, base_operations};
use super::table::{FURTHER_STATES, START_STATES, Table, start_state};
use super::truth::is_serial;

/// Counts over many histories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) histories: usize,
    /// Histories without an equivalent serial order.
    pub(super) unsound: usize,
    /// Transactions that committed a change.
    pub(super) committed: usize,
    /// Transactions rejected because of a conflict.
    pub(super) lost: usize,
}

impl Tally {
    fn add(self, other: Self) -> Self {
        Self {
            histories: self.histories + other.histories,
            unsound: self.unsound + other.unsound,
            committed: self.committed + other.committed,
            lost: self.lost + other.lost,
        }
    }
}

/// Runs a history and searches for an equivalent serial order.
fn check(engine: &Engine, start: &Table, operations: &[Operation], reads: &[usize], rules: &Rules) -> Tally {
    let history = engine.run(start, operations, reads, rules);
    let sound = matches!(&history, History::Ended(end) if is_serial(start, operations, end, rules.level));
    assert!(
        sound || rules.are_broken(),
        "{rules:?} accept a history that is not serializable: {operations:#?} read {reads:?} of {start:?}: {history:#?}"
    );
    let fates: &[TransactionOutcome] = match &history {
        History::Ended(end) => &end.fates,
        History::Torn => &[],
    };
    let count =
        |is_meant: fn(&TransactionOutcome) -> bool| fates.iter().filter(|fate| is_meant(fate)).count();
    Tally {
        histories: 1,
        unsound: usize::from(!sound),
        committed: count(|fate| matches!(fate, TransactionOutcome::Committed(effect) if !effect.is_empty())),
        lost: count(|fate| matches!(fate, TransactionOutcome::Lost)),
    }
}

/// Operations and start states that histories are made of.
pub(super) struct World {
    operations: Vec<Operation>,
    starts: Vec<Table>,
}

impl World {
    /// Operations without deletion vectors within one partition, from the twelve start states.
    pub(super) fn plain() -> Self {
        Self {
            operations: base_operations(),
            starts: START_STATES.map(start_state).into(),
        }
    }

    /// All operations, also from start states with larger files.
    pub(super) fn whole() -> Self {
        Self {
            operations: all_operations(),
            starts: START_STATES
                .into_iter()
                .chain(FURTHER_STATES)
                .map(start_state)
                .collect(),
        }
    }

    /// Yields the tally of every pair of operations for every start state, which both have read.
    fn pairs<'a>(&'a self, rules: &'a Rules) -> impl Iterator<Item = Tally> + 'a {
        let engine = Engine::new();
        let count = self.operations.len();
        (0..self.starts.len() * count * count).map(move |number| {
            let pair = [number % count, number / count % count].map(|at| self.operations[at]);
            let start = &self.starts[number / (count * count)];
            check(&engine, start, &pair, &[0, 0], rules)
        })
    }

    /// Returns the sum over all pairs.
    pub(super) fn every_two(&self, rules: &Rules) -> Tally {
        self.pairs(rules).fold(Tally::default(), Tally::add)
    }

    /// Whether some accepted pair is not serializable.
    pub(super) fn has_hole(&self, rules: &Rules) -> bool {
        self.pairs(rules).any(|tally| tally.unsound > 0)
    }

    /// Histories of three transactions: all of them, or a pseudo-random sample.
    pub(super) fn three(&self, reads: &[[usize; 3]], rules: &Rules, share: Share) -> Tally {
        let count = self.operations.len();
        let all = self.starts.len() * reads.len() * count.pow(3);
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let work = |core: usize| {
            let engine = Engine::new();
            let numbers = share.numbers(all).skip(core).step_by(cores);
            let histories = numbers.map(|mut at| {
                let mut pick = |of: usize| {
                    let picked = at % of;
                    at /= of;
                    picked
                };
                let three = [(); 3].map(|()| self.operations[pick(count)]);
                let reads = reads[pick(reads.len())];
                check(
                    &engine,
                    &self.starts[pick(self.starts.len())],
                    &three,
                    &reads,
                    rules,
                )
            });
            histories.fold(Tally::default(), Tally::add)
        };
        thread::scope(|scope| {
            let running: Vec<_> = (0..cores).map(|core| scope.spawn(move || work(core))).collect();
            let ended = running
                .into_iter()
                .map(|core| core.join().expect("the thread ends without a panic"));
            ended.fold(Tally::default(), Tally::add)
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Share {
    All,
    Of(usize),
}

impl Share {
    /// All histories if `MODEL=all` is set, otherwise a sample of `few`.
    pub(super) fn of(few: usize) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "test configuration comes from the environment"
        )]
        let asked = std::env::var("MODEL");
        if asked.as_deref() == Ok("all") {
            Self::All
        } else {
            Self::Of(few)
        }
    }

    /// Returns the indexes of the selected histories out of `all`.
    pub(super) fn numbers(self, all: usize) -> impl Iterator<Item = usize> {
        let count = match self {
            Self::All => all,
            Self::Of(few) => few,
        };
        (0..count).map(move |number| match self {
            Self::All => number,
            Self::Of(_) => drawn(number, all),
        })
    }
}

/// Returns a pseudo-random number below `bound`, the same in every run.
fn drawn(number: usize, bound: usize) -> usize {
    let mut mixed = (number as u64)
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)] {
        mixed = (mixed ^ (mixed >> shift)).wrapping_mul(factor);
    }
    usize::try_from((mixed ^ (mixed >> 31)) % (bound as u64)).expect("it is below a usize")
}
