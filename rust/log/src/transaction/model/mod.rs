//! A model that knows nothing of conflicts: small histories of concurrent transactions run file by file, with the checks
//! between them, and whoever is let through must fit into a serial order of whole operations over plain rows.
//!
//! `MODEL=all` runs every history of three transactions, which takes minutes; else a share that is the same in every run.

mod actions;
mod engine;
mod file_changes;
mod operations;
mod table;
mod truth;
mod whole;
mod world;

use self::engine::{Engine, Fate, History, Rules};
use self::operations::{Operation, Verb};
use self::table::start_state;
use self::truth::is_serial;
use self::world::{Share, Tally, World};
use super::conflict::{Granularity, Rule};
use super::isolation::IsolationLevel::{self, Serializable, WriteSerializable};

/// Which versions three transactions can have read, each of those that were there when it began.
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

/// What the checks let through is serial, and they let something through and something not.
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
fn every_history_of_two_with_vectors_is_serial() {
    let world = World::whole();
    for level in [Serializable, WriteSerializable] {
        let (by_files, by_rows) = (rules(level, Granularity::Files), rules(level, Granularity::Rows));
        let (files, rows) = (world.every_two(&by_files), world.every_two(&by_rows));
        assert_sound(files, &by_files);
        assert_sound(rows, &by_rows);
        assert!(rows.lost < files.lost, "rows are no use: {rows:?} {files:?}");
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

/// Vectors, operations that look into one partition and write into the other, and transactions that begin late.
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

/// The second has seen the first, and the third has not.
const LATE_AND_EARLY: [usize; 3] = [0, 1, 0];

/// Under `WriteSerializable` a blind append is passed over as if it came later. Whoever has read it and committed cannot
/// come later, too, and what they read is not known: this much the level does not promise, here as in delta-spark.
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
            History::Torn => panic!("it is not torn"),
        }
    };
    let (serial, fate) = run(WriteSerializable);
    assert!(!serial && matches!(fate, Some(Fate::Committed(_))));
    assert_eq!(run(Serializable), (true, Some(Fate::Lost)));
}

fn without(level: IsolationLevel, left_out: &[Rule]) -> Rules {
    Rules {
        without: left_out.to_vec(),
        ..rules(level, Granularity::Files)
    }
}

/// Each rule is there for something: without it, a history comes through that is not serial.
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
        // Whoever removes all that it reads loses nothing without this one; whoever reads here and removes there does.
        let left_out = without(level, &[RemovedAndRead]);
        assert!(!World::plain().has_hole(&left_out), "{level}");
        assert!(World::whole().has_hole(&left_out), "{level}");
    }
}

/// The same for rows: that they are disjoint must be proved, and only who looks at rows alone may go by them.
#[test]
fn without_proof_of_rows_there_is_a_hole() {
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
