//! Model-based test of conflict detection: small histories of concurrent transactions run on files with the real
//! checks, and accepted transactions must have a serial order of row-level operations with the same effect.
//!
//! `MODEL=all` runs every history of three transactions, which takes minutes; otherwise a fixed sample runs.

mod actions;
mod engine;
mod file_changes;
mod operations;
mod table;
mod truth;
mod whole;
mod world;

use self::engine::{Engine, History, Rules, TransactionOutcome};
use self::operations::{Operation, Verb};
use self::table::start_state;
use self::truth::is_serial;
use self::world::{Share, Tally, World};
use super::conflict::{Granularity, Rule};
use super::isolation::IsolationLevel::{self, Serializable, WriteSerializable};

/// Possible read versions of three transactions: each reads a version that exists when it begins.
const READS_OF_THREE: [[usize; 3]; 6] = [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 0], [0, 1, 1], [0, 1, 2]];

fn rules(level: IsolationLevel, granularity: Granularity) -> Rules {
    Rules {
        level,
        granularity,
        without: Vec::new(),
        proves_rows: true,
        decided_by_row: false,
    }
}

/// Asserts that accepted histories are serializable, and that some transactions commit and some conflict.
fn assert_sound(tally: Tally, rules: &Rules) {
    assert_eq!(tally.unsound, 0, "{rules:?}: {tally:?}");
    assert!(
        tally.committed > tally.histories / 2 && tally.lost > 0,
        "{rules:?}: {tally:?}"
    );
}

#[test]
fn every_history_of_two_is_serial() {
    for level in [Serializable, WriteSerializable] {
        let by_files = rules(level, Granularity::Files);
        let tally = World::plain().every_two(&by_files);
        assert_eq!(tally.histories, 6_912);
        assert_sound(tally, &by_files);
    }
}

#[test]
fn every_history_of_two_with_deletion_vectors_is_serial() {
    let world = World::whole();
    for level in [Serializable, WriteSerializable] {
        let (by_files, by_rows) = (rules(level, Granularity::Files), rules(level, Granularity::Rows));
        let (files, rows) = (world.every_two(&by_files), world.every_two(&by_rows));
        assert_sound(files, &by_files);
        assert_sound(rows, &by_rows);
        assert!(
            rows.lost < files.lost,
            "row-level checks accept no more commits: {rows:?} {files:?}"
        );
    }
}

#[test]
fn histories_of_three_are_serial() {
    for level in [Serializable, WriteSerializable] {
        let by_files = rules(level, Granularity::Files);
        let tally = World::plain().three(&READS_OF_THREE[..1], &by_files, Share::of(4_000));
        assert_sound(tally, &by_files);
    }
}

/// Deletion vectors, operations that read one partition and write the other, and transactions with a late start.
#[test]
fn histories_of_three_of_every_kind_are_serial() {
    for level in [WriteSerializable, Serializable] {
        let by_rows = rules(level, Granularity::Rows);
        let mut reads = READS_OF_THREE.to_vec();
        if level == WriteSerializable {
            reads.retain(|reads| *reads != LATE_AND_EARLY);
        }
        let tally = World::whole().three(&reads, &by_rows, Share::of(8_000));
        assert_sound(tally, &by_rows);
    }
}

/// The second transaction read the commit of the first, the third did not.
const LATE_AND_EARLY: [usize; 3] = [0, 1, 0];

/// `WriteSerializable` ignores a blind append as if it committed later. A transaction that read the append and
/// committed cannot be reordered, and its read set is unknown: neither deltaic nor delta-spark guarantees a serial
/// order here.
#[test]
fn only_serializable_knows_who_has_read_a_blind_append() {
    let operation = |verb: Verb| Operation {
        verb,
        partition: 1,
        key: 0,
    };
    let history = [Verb::Insert, Verb::DeleteAcross, Verb::InsertAcross].map(operation);
    let start = start_state([&[&[0]], &[]]);
    let run = |level: IsolationLevel| {
        let by_files = rules(level, Granularity::Files);
        match Engine::new().run(&start, &history, &LATE_AND_EARLY, &by_files) {
            History::Ended(end) => (
                is_serial(&start, &history, &end, level),
                end.fates.last().cloned(),
            ),
            History::Torn => panic!("the log is invalid"),
        }
    };
    let (serial, fate) = run(WriteSerializable);
    assert!(!serial && matches!(fate, Some(TransactionOutcome::Committed(_))));
    assert_eq!(run(Serializable), (true, Some(TransactionOutcome::Lost)));
}

fn without(level: IsolationLevel, left_out: &[Rule]) -> Rules {
    Rules {
        without: left_out.to_vec(),
        ..rules(level, Granularity::Files)
    }
}

/// Every rule is necessary: without it, some history that is not serializable is accepted.
#[test]
fn without_a_rule_there_is_a_hole() {
    use Rule::{AddedFiles, AddedTwice, RemovedAndRead, RemovedTwice};
    for level in [Serializable, WriteSerializable] {
        for left_out in [
            &[AddedFiles][..],
            &[RemovedAndRead, RemovedTwice],
            &[AddedFiles, RemovedAndRead, RemovedTwice],
        ] {
            let plain = World::plain();
            assert!(
                plain.has_hole(&without(level, left_out)),
                "{level} without {left_out:?}"
            );
        }
        assert!(World::whole().has_hole(&without(level, &[AddedTwice])), "{level}");
        // This rule is redundant for operations that remove all files they read, but not for those that remove others.
        let left_out = without(level, &[RemovedAndRead]);
        assert!(!World::plain().has_hole(&left_out), "{level}");
        assert!(World::whole().has_hole(&left_out), "{level}");
    }
}

/// At row granularity, rows must be verified to be disjoint, and only `DecidedBy::Row` operations may rely on them.
#[test]
fn without_verification_of_rows_there_is_a_hole() {
    for level in [Serializable, WriteSerializable] {
        let by_rows = || rules(level, Granularity::Rows);
        let unproved = Rules {
            proves_rows: false,
            ..by_rows()
        };
        assert!(World::whole().has_hole(&unproved), "{level}");
        let trusting = Rules {
            decided_by_row: true,
            ..by_rows()
        };
        assert!(World::whole().has_hole(&trusting), "{level}");
    }
}
