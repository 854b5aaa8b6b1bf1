//! Tests of row ids and row commit versions after a rebase: they continue from the winning commit.

use deltaic_protocol::row_tracking::high_water_mark_domain;
use deltaic_protocol::{ErrorKind, Result};

use super::super::{Base, assign_row_ids, rebase};
use super::{marked, proposing};
use crate::transaction::samples::{base, domain, file, metadata, protocol, remove, version, winning_commit};
use crate::transaction::{Proposal, WinningCommit, WinningFile};

const TRACKED: [&str; 2] = ["rowTracking", "domainMetadata"];

fn tracked(mark: Option<i64>) -> Base {
    Base {
        high_water_mark: mark,
        ..base(protocol(&TRACKED), metadata(&[], &[]))
    }
}

fn ids(proposal: &Proposal) -> Vec<(Option<i64>, Option<i64>)> {
    let adds = proposal.adds.iter();
    adds.map(|add| (add.base_row_id, add.default_row_commit_version))
        .collect()
}

fn mark_of(proposal: &Proposal) -> Vec<&str> {
    let marks = proposal
        .domains
        .iter()
        .filter(|domain| domain.domain == "delta.rowTracking");
    marks.map(|domain| domain.configuration.as_str()).collect()
}

/// protocol: writer-requirements-for-row-tracking.1, writer-requirements-for-row-tracking.2,
/// writer-requirements-for-row-tracking.5, writer-requirements-for-row-tracking.7,
/// writer-requirements-for-row-tracking.8, writer-requirements-for-row-tracking.9,
/// writer-requirements-for-row-tracking.10, writer-requirements-for-row-tracking.11, row-tracking.1
#[test]
fn row_ids_continue_from_the_winning_commits_mark() -> Result<()> {
    let mut base = tracked(Some(9));
    let mut proposal = proposing("WRITE", &["a", "b"]);
    proposal.domains.push(domain("other"));
    assign_row_ids(&mut proposal, &base)?;
    assert_eq!(ids(&proposal), [(Some(10), Some(5)), (Some(13), Some(5))]);
    assert_eq!(
        mark_of(&proposal),
        [r#"{"rowIdHighWaterMark":15,"domainName":"delta.rowTracking"}"#]
    );
    rebase(&mut proposal, &mut base, &marked(99))?;
    assert_eq!(ids(&proposal), [(Some(100), Some(6)), (Some(103), Some(6))]);
    assert_eq!(
        mark_of(&proposal),
        [r#"{"rowIdHighWaterMark":105,"domainName":"delta.rowTracking"}"#]
    );
    assert_eq!(
        proposal.domains.first().map(|domain| domain.domain.as_str()),
        Some("delta.rowTracking")
    );
    assert_eq!(
        (base.version(), base.high_water_mark),
        (Some(version(5)), Some(99))
    );
    // A winning commit that assigns no row ids leaves the mark and the ids unchanged.
    let silent = WinningCommit {
        version: version(6),
        ..winning_commit("WRITE", |_| ())
    };
    rebase(&mut proposal, &mut base, &silent)?;
    assert_eq!(ids(&proposal), [(Some(100), Some(7)), (Some(103), Some(7))]);
    Ok(())
}

/// protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
#[test]
fn a_file_that_is_added_again_retains_its_ids() -> Result<()> {
    let mut base = tracked(Some(9));
    let mut proposal = proposing("DELETE", &["a", "b"]);
    for add in proposal.adds.iter_mut().take(1) {
        (add.base_row_id, add.default_row_commit_version) = (Some(9), Some(2));
    }
    assign_row_ids(&mut proposal, &base)?;
    rebase(&mut proposal, &mut base, &marked(19))?;
    assert_eq!(ids(&proposal), [(Some(9), Some(2)), (Some(20), Some(6))]);
    Ok(())
}

/// Both for a backfill of all files and for a DELETE on a file without ids.
///
/// protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
#[test]
fn row_ids_of_the_winning_commit_are_inherited() -> Result<()> {
    for operation in ["ROW TRACKING BACKFILL", "DELETE"] {
        let mut base = tracked(Some(9));
        let mut proposal = proposing("DELETE", &["a", "b"]);
        proposal.removes.push(remove("c"));
        assign_row_ids(&mut proposal, &base)?;
        let mut given = marked(29);
        given.operation = Some(operation.to_owned());
        for (path, id) in [("a", Some(20)), ("c", Some(23)), ("b", None)] {
            let mut file = file(path);
            (file.base_row_id, file.default_row_commit_version) = (id, id.map(|_| 5));
            given.adds.push(file);
        }
        rebase(&mut proposal, &mut base, &given)?;
        assert_eq!(
            ids(&proposal),
            [(Some(20), Some(5)), (Some(30), Some(6))],
            "{operation}"
        );
        let mut gone = proposal.removes.iter();
        let gone = gone
            .next()
            .map(|gone| (gone.base_row_id, gone.default_row_commit_version));
        assert_eq!(gone, Some((Some(23), Some(5))), "{operation}");
        // The ids remain after the next winning commit.
        let next = WinningCommit {
            version: version(6),
            ..marked(59)
        };
        rebase(&mut proposal, &mut base, &next)?;
        assert_eq!(
            ids(&proposal),
            [(Some(20), Some(5)), (Some(60), Some(7))],
            "{operation}"
        );
    }
    Ok(())
}

#[test]
fn a_table_without_row_tracking_gets_no_ids_until_a_winning_commit_adds_it() -> Result<()> {
    let mut base = base(protocol(&[]), metadata(&[], &[]));
    let mut proposal = proposing("WRITE", &["a"]);
    assign_row_ids(&mut proposal, &base)?;
    rebase(&mut proposal, &mut base, &winning_commit("WRITE", |_| ()))?;
    assert_eq!(
        (ids(&proposal), mark_of(&proposal).len()),
        (vec![(None, None)], 0)
    );
    let upgraded = winning_commit("UPGRADE PROTOCOL", |w| {
        w.version = version(6);
        w.protocol = Some(protocol(&TRACKED));
    });
    rebase(&mut proposal, &mut base, &upgraded)?;
    assert_eq!(
        (ids(&proposal), mark_of(&proposal).len()),
        (vec![(Some(0), Some(7))], 1)
    );
    assert!(!base.lost_row_ids);
    let enabled = winning_commit("SET TBLPROPERTIES", |w| {
        w.version = version(7);
        w.metadata = Some(metadata(
            &[],
            &[
                ("delta.enableRowTracking", "true"),
                ("delta.rowTracking.materializedRowIdColumnName", "_i"),
                ("delta.rowTracking.materializedRowCommitVersionColumnName", "_v"),
            ],
        ));
    });
    rebase(&mut proposal, &mut base, &enabled)?;
    assert!(base.lost_row_ids);
    assert_eq!(ids(&proposal), [(Some(0), Some(8))]);
    // If row tracking was already enabled, no ids are lost.
    let mut enabled_before = Base {
        lost_row_ids: false,
        ..base.clone()
    };
    rebase(&mut proposal, &mut enabled_before, &enabled)?;
    assert!(!enabled_before.lost_row_ids);
    let suspended = Base {
        table: tracked(Some(9)).table.after(
            None,
            Some(&metadata(&[], &[("delta.rowTrackingSuspended", "true")])),
            &[],
        ),
        ..tracked(Some(9))
    };
    let mut proposal = proposing("WRITE", &["a"]);
    assign_row_ids(&mut proposal, &suspended)?;
    assert_eq!(ids(&proposal), [(None, None)]);
    Ok(())
}

#[test]
fn row_ids_hang_on_numbers_of_records() {
    let mut proposal = proposing("WRITE", &["a"]);
    proposal.adds.iter_mut().for_each(|add| add.stats = None);
    let error = assign_row_ids(&mut proposal, &tracked(None)).err();
    assert!(error.is_some_and(|error| error.context().contains(&("path", "a".into()))));
    let full = tracked(Some(i64::MAX - 3));
    let error = assign_row_ids(&mut proposing("WRITE", &["a"]), &full).err();
    assert!(error.is_some_and(|error| error.kind() == ErrorKind::InvalidArgument));
    let nearly = tracked(Some(i64::MAX - 4));
    assert!(assign_row_ids(&mut proposing("WRITE", &["a"]), &nearly).is_ok());
}

#[test]
fn row_id_backfills_skip_files_of_the_winning_commit() -> Result<()> {
    for (operation, left) in [
        ("ROW TRACKING BACKFILL", &["a"][..]),
        ("ROW TRACKING UNBACKFILL", &["a"]),
        ("OPTIMIZE", &["a", "b", "c"]),
    ] {
        let mut proposal = proposing(operation, &["a", "b", "c"]);
        let touching = winning_commit("WRITE", |w| {
            w.adds.push(file("b"));
            w.removes.push(file("c"));
        });
        rebase(
            &mut proposal,
            &mut base(protocol(&[]), metadata(&[], &[])),
            &touching,
        )?;
        let paths: Vec<&str> = proposal.adds.iter().map(|add| add.path.as_str()).collect();
        assert_eq!(paths, left, "{operation}");
    }
    Ok(())
}

/// A file that is added again with its ids needs no mark; with ids from the winning commit, it needs the commit's mark.
#[test]
fn the_mark_is_reported_where_ids_are_given_and_only_there() -> Result<()> {
    let mut base = tracked(Some(9));
    let mut proposal = proposing("DELETE", &["a"]);
    for add in &mut proposal.adds {
        (add.base_row_id, add.default_row_commit_version) = (Some(3), Some(1));
    }
    assign_row_ids(&mut proposal, &base)?;
    assert_eq!(
        (ids(&proposal), mark_of(&proposal)),
        (vec![(Some(3), Some(1))], vec![])
    );
    rebase(&mut proposal, &mut base, &marked(99))?;
    assert_eq!(
        (ids(&proposal), mark_of(&proposal)),
        (vec![(Some(3), Some(1))], vec![])
    );

    let mut base = tracked(Some(9));
    let mut proposal = proposing("DELETE", &["a"]);
    assign_row_ids(&mut proposal, &base)?;
    assert_eq!(mark_of(&proposal).len(), 1);
    let theirs = WinningCommit {
        adds: vec![WinningFile {
            base_row_id: Some(20),
            default_row_commit_version: Some(5),
            ..file("a")
        }],
        ..marked(29)
    };
    rebase(&mut proposal, &mut base, &theirs)?;
    assert_eq!(ids(&proposal), [(Some(20), Some(5))]);
    assert_eq!(
        mark_of(&proposal),
        [r#"{"rowIdHighWaterMark":29,"domainName":"delta.rowTracking"}"#]
    );
    Ok(())
}

/// A row id without a row commit version, or the reverse, is not copied from the winning commit.
#[test]
fn half_of_a_row_id_is_not_taken_over() -> Result<()> {
    for (base_row_id, default_row_commit_version) in [(Some(20), None), (None, Some(5))] {
        let mut base = tracked(Some(9));
        let mut proposal = proposing("DELETE", &["a"]);
        assign_row_ids(&mut proposal, &base)?;
        let theirs = WinningCommit {
            adds: vec![WinningFile {
                base_row_id,
                default_row_commit_version,
                ..file("a")
            }],
            ..marked(29)
        };
        rebase(&mut proposal, &mut base, &theirs)?;
        assert_eq!(ids(&proposal), [(Some(30), Some(6))]);
    }
    Ok(())
}

/// If restored, ids that an un-backfill removed could be assigned twice after row tracking is enabled again.
///
/// protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
#[test]
fn ids_that_the_winning_commit_removed_are_not_restored() -> Result<()> {
    let suspended = base(
        protocol(&TRACKED),
        metadata(&[], &[("delta.rowTrackingSuspended", "true")]),
    );
    for mut base in [suspended, base(protocol(&[]), metadata(&[], &[]))] {
        let mut proposal = proposing("DELETE", &["a", "b"]);
        proposal.removes.push(remove("c"));
        for add in &mut proposal.adds {
            (add.base_row_id, add.default_row_commit_version) = (Some(4), Some(2));
        }
        for remove in &mut proposal.removes {
            (remove.base_row_id, remove.default_row_commit_version) = (Some(4), Some(2));
        }
        let theirs = winning_commit("ROW TRACKING UNBACKFILL", |w| {
            w.adds.extend([file("a"), file("c")])
        });
        rebase(&mut proposal, &mut base, &theirs)?;
        assert_eq!(ids(&proposal), [(None, None), (Some(4), Some(2))]);
        let removes = proposal.removes.iter();
        let removed: Vec<_> = removes
            .map(|remove| (remove.base_row_id, remove.default_row_commit_version))
            .collect();
        assert_eq!(removed, [(None, None)]);
    }
    Ok(())
}

/// protocol: writer-requirements-for-row-tracking.9
#[test]
fn row_ids_continue_from_a_mark_that_the_proposal_raises() -> Result<()> {
    for (read, staged, first) in [(None, 7, 8), (Some(3), 7, 8), (Some(9), 7, 10)] {
        let mut proposal = proposing("RESTORE", &["a"]);
        proposal.domains.push(high_water_mark_domain(staged));
        assign_row_ids(&mut proposal, &tracked(read))?;
        assert_eq!(ids(&proposal), [(Some(first), Some(5))]);
        let mut without_files = proposing("RESTORE", &[]);
        without_files.domains.push(high_water_mark_domain(staged));
        assign_row_ids(&mut without_files, &tracked(read))?;
        let mark = format!(
            r#"{{"rowIdHighWaterMark":{},"domainName":"delta.rowTracking"}}"#,
            first - 1
        );
        assert_eq!(mark_of(&without_files), [mark]);
    }
    Ok(())
}
