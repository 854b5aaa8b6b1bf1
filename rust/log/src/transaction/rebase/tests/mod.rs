//! Tests of proposals after a rebase.

mod row_ids;
mod stamps;

use deltaic_protocol::{ErrorKind, Result};

use super::rebase;
use crate::transaction::samples::{add, base, domain, metadata, protocol, version, winning_commit};
use crate::transaction::{Operation, Proposal, WinningCommit};

fn proposing(operation: &str, paths: &[&str]) -> Proposal {
    Proposal {
        operation: Operation::parse(operation).expect("a known name"),
        adds: paths.iter().map(|path| add(path)).collect(),
        ..Proposal::default()
    }
}

fn marked(mark: i64) -> WinningCommit {
    winning_commit("WRITE", |w| {
        w.domains.push(domain("delta.rowTracking"));
        w.domains
            .iter_mut()
            .for_each(|domain| domain.configuration = format!(r#"{{"rowIdHighWaterMark":{mark}}}"#));
    })
}

#[test]
fn a_table_that_is_replaced_retains_no_domain_that_came_meanwhile() -> Result<()> {
    let theirs = winning_commit("SET", |w| {
        w.domains
            .extend([domain("mine"), domain("theirs"), domain("gone")]);
        w.domains
            .iter_mut()
            .filter(|d| d.domain == "gone")
            .for_each(|d| d.removed = true);
        w.domains.extend(marked(3).domains);
    });
    for (operation, expected) in [
        (
            "CREATE OR REPLACE TABLE",
            &[("mine", false), ("theirs", true)][..],
        ),
        ("WRITE", &[("mine", false)]),
    ] {
        let mut proposal = proposing(operation, &[]);
        proposal.domains.push(domain("mine"));
        rebase(
            &mut proposal,
            &mut base(protocol(&[]), metadata(&[], &[])),
            &theirs,
        )?;
        let found: Vec<_> = proposal
            .domains
            .iter()
            .map(|d| (d.domain.as_str(), d.removed))
            .collect();
        assert_eq!(found, expected, "{operation}");
    }
    Ok(())
}

#[test]
fn the_base_becomes_the_winning_commit() -> Result<()> {
    let mut base = base(protocol(&["a"]), metadata(&[], &[]));
    let theirs = winning_commit("SET TBLPROPERTIES", |w| {
        w.protocol = Some(protocol(&["a", "b"]));
        w.metadata = Some(metadata(&[], &[("a", "b")]));
    });
    rebase(&mut proposing("WRITE", &["a"]), &mut base, &theirs)?;
    let features = base.table.protocol().writer_features.as_ref();
    assert_eq!(features.map(Vec::len), Some(2));
    assert_eq!(base.table.metadata().property("a"), Some("b"));
    assert_eq!((base.version(), base.timestamp_ms), (Some(version(5)), 2_000));
    Ok(())
}

/// A rebased commit has at most one add per file.
///
/// protocol: add-file-and-remove-file.3
#[test]
fn duplicate_actions_are_refused_after_a_rebase() {
    let mut proposal = proposing("WRITE", &["a", "a"]);
    let found = rebase(
        &mut proposal,
        &mut base(protocol(&[]), metadata(&[], &[])),
        &winning_commit("WRITE", |_| ()),
    );
    assert!(found.is_err_and(|error| error.kind() == ErrorKind::InvalidArgument));
}
