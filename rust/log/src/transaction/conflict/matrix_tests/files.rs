//! Conflicts of added and removed files, and the precedence of the checks.

use super::{
    ADDED, APPEND, Loser, META, OK, PROTOCOL, READ, TWICE, TXN, blind, losers, moved, other, removing,
};
use crate::transaction::IsolationLevel::{Serializable, SnapshotIsolation, WriteSerializable};
use crate::transaction::conflict::{Granularity, Rule};
use crate::transaction::samples::{
    add, domain, file, metadata, protocol, remove, txn, vector, winning_commit,
};

/// The matrix of file actions; the columns are isolation levels.
#[test]
fn files_at_every_level() {
    let [blind_append, delete, with_metadata, backfill] = losers();
    let mut proof = Loser::of(&["p"], "ADD CONSTRAINT");
    proof.read.require_exact_files();
    let columns = [Serializable, WriteSerializable, SnapshotIsolation];
    for (loser, winning_commit_did, winning_commit, outcomes) in [
        (&blind_append, "blind append", blind("1a"), [OK, OK, OK]),
        (&blind_append, "other add", other("1a"), [OK, OK, OK]),
        (&blind_append, "moved rows", moved("1a"), [OK, OK, OK]),
        (&blind_append, "a remove", removing("1r", true), [OK, OK, OK]),
        (
            &blind_append,
            "blind append of the same",
            blind("1new"),
            [ADDED; 3],
        ),
        (&blind_append, "the same moved", moved("1new"), [ADDED; 3]),
        (&delete, "blind append", blind("1a"), [APPEND, OK, OK]),
        (&delete, "other add", other("1a"), [APPEND, APPEND, OK]),
        (&delete, "moved rows", moved("1a"), [APPEND, APPEND, OK]),
        (&delete, "blind append elsewhere", blind("2a"), [OK, OK, OK]),
        (&delete, "other add elsewhere", other("2a"), [OK, OK, OK]),
        (
            &delete,
            "remove of what was read",
            removing("1r", true),
            [READ, READ, READ],
        ),
        (
            &delete,
            "remove by OPTIMIZE",
            removing("1r", false),
            [READ, READ, READ],
        ),
        (
            &delete,
            "remove of a file that is removed and was read",
            removing("1d", true),
            [READ, READ, READ],
        ),
        (
            &delete,
            "remove of another file",
            removing("1z", true),
            [OK, OK, OK],
        ),
        (&with_metadata, "blind append", blind("1a"), [APPEND, APPEND, OK]),
        (&with_metadata, "other add", other("1a"), [APPEND, APPEND, OK]),
        (
            &with_metadata,
            "blind append elsewhere",
            blind("2a"),
            [OK, OK, OK],
        ),
        (
            &with_metadata,
            "remove of what was read",
            removing("1r", true),
            [READ, READ, READ],
        ),
        (&proof, "blind append", blind("1a"), [APPEND; 3]),
        (&proof, "other add", other("1a"), [APPEND; 3]),
        (&proof, "moved rows", moved("1a"), [APPEND; 3]),
        (&proof, "a remove", removing("1r", false), [READ; 3]),
        (&backfill, "blind append", blind("1a"), [OK, OK, OK]),
        (&backfill, "other add", other("1a"), [OK, OK, OK]),
        (&backfill, "other add of the same", other("1new"), [OK, OK, OK]),
        (
            &blind_append,
            "row ids of the same",
            winning_commit("ROW TRACKING BACKFILL", |w| w.adds.push(file("1new"))),
            [OK, OK, OK],
        ),
        (
            &backfill,
            "remove of what was read",
            removing("1r", true),
            [OK, OK, OK],
        ),
    ] {
        let found = columns.map(|level| loser.meeting(level, Granularity::Files, &winning_commit, &[]));
        assert_eq!(
            found, outcomes,
            "{:?} after {winning_commit_did}",
            loser.proposal.operation
        );
    }
}

/// New statistics of a file that the winning commit changed could be those of other rows.
#[test]
fn files_whose_statistics_are_computed_must_be_unchanged() {
    let ours = |read: &[&str]| {
        Loser::of(&["p"], "COMPUTE STATS")
            .reading("p = 1", read)
            .proposing(|proposal| proposal.adds.extend(read.iter().map(|path| add(path))))
    };
    let level = SnapshotIsolation;
    for (removed, added, outcome) in [
        (&[][..], &["1new"][..], OK),
        (&["1b"], &[], OK),
        (&["1a"], &["1new"], READ),
        (&["1a"], &["1a"], READ),
        (&[], &["1a"], READ),
    ] {
        let winner = winning_commit("MERGE", |w| {
            w.adds.extend(added.iter().map(|path| file(path)));
            w.removes.extend(removed.iter().map(|path| file(path)));
        });
        for granularity in [Granularity::Files, Granularity::Rows] {
            let found = ours(&["1a"]).meeting(level, granularity, &winner, &[]);
            assert_eq!(found, outcome, "{removed:?} {added:?}");
        }
    }
}

/// The precedence of the checks, and the conflicts that each rule detects.
#[test]
fn each_rule_alone_finds_its_conflict_and_the_first_is_named() {
    let removal = |files: &[&str]| {
        Loser::of(&["p"], "DELETE")
            .reading("p = 1", files)
            .proposing(|proposal| proposal.removes.push(remove("1d")))
    };
    let unread = Loser::of(&["p"], "DELETE").proposing(|proposal| {
        proposal.removes.push(remove("1d"));
        proposal.adds.extend([add("1d"), add("2new")]);
    });
    let whole = {
        let mut whole = Loser::of(&["p"], "WRITE");
        whole.read.read_whole_table();
        whole.proposing(|proposal| proposal.removes.push(remove("1d")))
    };
    let everything = winning_commit("MERGE", |w| {
        w.protocol = Some(protocol(&["unheard"]));
        w.metadata = Some(metadata(&[], &[]));
        w.domains.push(domain("d"));
        w.txns.push(txn("app", 7));
        w.adds.extend([file("1a"), file("1new")]);
        w.removes.extend([file("1d"), file("1r")]);
    });
    let mut all = removal(&["1r"]).proposing(|proposal| {
        proposal.domains.push(domain("d"));
        proposal.adds.push(add("1new"));
    });
    all.read.read_app_id("app");
    // Without the first rule the next one applies, and so on to the last.
    let mut without = Vec::new();
    for (rule, outcome) in [
        (Rule::AddedTwice, ADDED),
        (Rule::Protocol, PROTOCOL),
        (Rule::Metadata, META),
        (Rule::Domains, TXN),
        (Rule::Applications, TXN),
        (Rule::AddedFiles, APPEND),
        (Rule::RemovedAndRead, READ),
        (Rule::RemovedTwice, TWICE),
    ] {
        let found = all.meeting(Serializable, Granularity::Files, &everything, &without);
        assert_eq!(found, outcome, "without {without:?}");
        without.push(rule);
    }
    assert_eq!(
        all.meeting(Serializable, Granularity::Files, &everything, &without),
        OK
    );

    let files = Granularity::Files;
    for (name, loser, winning_commit, outcome) in [
        ("removed twice and not read", &unread, removing("1d", true), TWICE),
        ("the whole table was read", &whole, removing("2z", false), READ),
        ("the whole table was read", &whole, other("2z"), APPEND),
        ("added twice and elsewhere", &unread, other("2new"), ADDED),
        ("added again and removed", &unread, other("1d"), OK),
        (
            "an empty winning commit",
            &whole,
            winning_commit("WRITE", |_| ()),
            OK,
        ),
    ] {
        assert_eq!(
            loser.meeting(Serializable, files, &winning_commit, &[]),
            outcome,
            "{name}"
        );
    }
    // Files are compared by path, regardless of deletion vectors.
    let mut cut = removing("1d", true);
    cut.removes
        .iter_mut()
        .for_each(|file| file.deletion_vector = Some(vector("a")));
    assert_eq!(unread.meeting(SnapshotIsolation, files, &cut, &[]), TWICE);
    // In an unpartitioned table any predicate would have read every file.
    let flat = Loser::of(&[], "DELETE").reading("x = 7", &["a"]);
    assert_eq!(flat.meeting(Serializable, files, &other("b"), &[]), APPEND);
    assert_eq!(flat.meeting(WriteSerializable, files, &blind("b"), &[]), OK);
    let optimise = flat
        .clone()
        .proposing(|proposal| proposal.removes.push(remove("a")));
    assert_eq!(
        optimise.meeting(SnapshotIsolation, files, &removing("a", true), &[]),
        READ
    );
}
