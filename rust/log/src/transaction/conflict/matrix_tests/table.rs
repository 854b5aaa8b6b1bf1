//! Conflicts of row ids, domains, applications and the protocol.

use super::{APPEND, Loser, OK, PROTOCOL, READ, TXN, WRITE, losers, other, removing, support_check};
use crate::transaction::IsolationLevel::{Serializable, SnapshotIsolation};
use crate::transaction::conflict::cause::ConflictCause;
use crate::transaction::conflict::{Attempt, Granularity, Rule, check};
use crate::transaction::samples::{add, domain, file, protocol, txn, version, winning_commit};

/// Assigning and removing row ids is compatible with everything that does not change the same files.
#[test]
fn row_ids_come_and_go_beside_others() {
    let [_, delete, ..] = losers();
    let give = |path: &str| winning_commit("ROW TRACKING BACKFILL", |w| w.adds.push(file(path)));
    let take = |path: &str| winning_commit("ROW TRACKING UNBACKFILL", |w| w.adds.push(file(path)));
    let taking = Loser::of(&["p"], "ROW TRACKING UNBACKFILL")
        .reading("p = 1", &["1r"])
        .proposing(|proposal| proposal.adds.push(add("1r")));
    let mut with_ids = other("1a");
    with_ids
        .adds
        .iter_mut()
        .for_each(|file| file.base_row_id = Some(7));
    for (name, loser, winning_commit, outcome) in [
        ("a delete after a backfill", &delete, give("1r"), OK),
        ("a delete after an un-backfill", &delete, take("1r"), OK),
        ("an un-backfill after an append", &taking, other("1a"), OK),
        ("an un-backfill after a delete", &taking, removing("1r", true), OK),
        ("an un-backfill after a backfill", &taking, give("1r"), WRITE),
        (
            "an un-backfill after an append with ids",
            &taking,
            with_ids,
            WRITE,
        ),
    ] {
        assert_eq!(
            loser.meeting(Serializable, Granularity::Files, &winning_commit, &[]),
            outcome,
            "{name}"
        );
    }
}

/// Conflicts of domains and applications.
#[test]
fn domains_and_applications() {
    let setting = |names: &[&str]| {
        Loser::of(&[], "SET DOMAIN METADATA")
            .proposing(|proposal| proposal.domains.extend(names.iter().map(|name| domain(name))))
    };
    let mut reading = setting(&[]);
    reading.read.read_domain("d");
    let mut counting =
        Loser::of(&[], "STREAMING UPDATE").proposing(|proposal| proposal.txns.push(txn("app", 5)));
    counting.read.read_app_id("app");
    let writing = Loser::of(&[], "WRITE").proposing(|proposal| proposal.txns.push(txn("app", 5)));
    let moved = |name: &str| winning_commit("SET", |w| w.domains.push(domain(name)));
    let removed = |name: &str| {
        let mut winning_commit = moved(name);
        winning_commit
            .domains
            .iter_mut()
            .for_each(|domain| domain.removed = true);
        winning_commit
    };
    let reached =
        |app: &str, number: i64| winning_commit("STREAMING UPDATE", |w| w.txns.push(txn(app, number)));
    for (name, loser, winning_commit, outcome) in [
        ("the same domain", setting(&["c", "d"]), moved("d"), TXN),
        ("the same domain, removed", setting(&["d"]), removed("d"), TXN),
        ("a domain that was read", reading.clone(), moved("d"), TXN),
        ("other domains", setting(&["c"]), moved("d"), OK),
        ("other domains", reading, moved("c"), OK),
        (
            "row ids of both",
            setting(&["delta.rowTracking"]),
            moved("delta.rowTracking"),
            OK,
        ),
        (
            "an application at a later version",
            counting.clone(),
            reached("app", 6),
            TXN,
        ),
        (
            "an application at an earlier version",
            counting.clone(),
            reached("app", 4),
            TXN,
        ),
        ("another application", counting, reached("other", 6), OK),
        ("an application that was not read", writing, reached("app", 6), OK),
    ] {
        assert_eq!(
            loser.meeting(Serializable, Granularity::Files, &winning_commit, &[]),
            outcome,
            "{name}"
        );
    }
}

/// The conflict contains the application's version, so that a caller can see that its own batch was committed.
#[test]
fn a_conflict_reports_how_far_an_application_has_come() {
    let mut loser = Loser::of(&[], "WRITE");
    loser.read.read_app_id("app");
    let attempt = Attempt {
        proposal: &loser.proposal,
        read: &loser.read,
        base: &loser.base,
        level: Serializable,
        granularity: Granularity::Files,
        support_check,
    };
    let found = check(&attempt, &winning_commit("WRITE", |w| w.txns.push(txn("app", 6))));
    let expected = ConflictCause::Application {
        version: version(5),
        app_id: "app".to_owned(),
        reached: 6,
    };
    assert_eq!(found, Err(expected));
}

/// Conflicts of the protocol.
#[test]
fn protocols() {
    let having = |features: &[&str]| Loser::with_features(&[], features, "WRITE");
    let upgrading = |from: &[&str], to: &[&str]| {
        having(from).proposing(|proposal| proposal.protocol = Some(protocol(to)))
    };
    let proved =
        |loser: Loser, at: i64| loser.proposing(|proposal| proposal.drop_proved_at = Some(version(at)));
    let changing =
        |features: &[&str]| winning_commit("UPGRADE PROTOCOL", |w| w.protocol = Some(protocol(features)));
    for (name, loser, winning_commit, outcome) in [
        (
            "both change the protocol",
            upgrading(&["a"], &["a", "b"]),
            changing(&["a", "c"]),
            PROTOCOL,
        ),
        (
            "a feature is dropped",
            having(&["a", "b"]),
            changing(&["a"]),
            PROTOCOL,
        ),
        ("a feature is added", having(&["a"]), changing(&["a", "b"]), OK),
        (
            "an unsupported feature is added",
            having(&["a"]),
            changing(&["a", "unheard of"]),
            PROTOCOL,
        ),
        (
            "the current transaction upgrades",
            upgrading(&["a"], &["a", "b"]),
            other("a"),
            OK,
        ),
        (
            "a drop, verified at the read version",
            proved(upgrading(&["a", "b"], &["a"]), 4),
            other("a"),
            PROTOCOL,
        ),
        (
            "a drop without verification",
            upgrading(&["a", "b"], &["a"]),
            winning_commit("WRITE", |_| ()),
            PROTOCOL,
        ),
        (
            "a drop, verified at the winning commit",
            proved(upgrading(&["a", "b"], &["a"]), 5),
            other("a"),
            OK,
        ),
        (
            "both drop",
            proved(upgrading(&["a", "b"], &["a"]), 5),
            changing(&["b"]),
            PROTOCOL,
        ),
    ] {
        assert_eq!(
            loser.meeting(Serializable, Granularity::Files, &winning_commit, &[]),
            outcome,
            "{name}"
        );
    }
    let unproved = upgrading(&["a", "b"], &["a"]);
    let without = [Rule::FeatureDrop];
    assert_eq!(
        unproved.meeting(Serializable, Granularity::Files, &other("a"), &without),
        OK
    );
}

/// A commit that replaces the state of the table conflicts with every commit, with the most specific conflict.
#[test]
fn a_commit_that_requires_its_version_conflicts_with_every_commit() {
    let mut restore = Loser::of(&["p"], "RESTORE").proposing(|proposal| proposal.adds.push(add("1new")));
    let nothing = winning_commit("VACUUM START", |_| {});
    let application = winning_commit("WRITE", |w| w.txns.push(txn("app", 5)));
    let commits = [
        (nothing, WRITE),
        (application, WRITE),
        (other("2a"), APPEND),
        (removing("2d", false), READ),
    ];
    for (winning_commit, _) in &commits {
        let found = restore.meeting(SnapshotIsolation, Granularity::Rows, winning_commit, &[]);
        assert_eq!(found, OK, "{winning_commit:?}");
    }
    restore.read.require_version();
    for (winning_commit, outcome) in commits {
        let found = restore.meeting(SnapshotIsolation, Granularity::Rows, &winning_commit, &[]);
        assert_eq!(found, outcome, "{winning_commit:?}");
    }
}
