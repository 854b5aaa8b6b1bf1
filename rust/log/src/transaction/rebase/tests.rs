//! What a rebase makes of a proposal, table by table.

use deltaic_protocol::{ErrorKind, Result};
use serde_json::json;

use super::{Base, hand_out_row_ids, rebase, stamp_in_commit_timestamp};
use crate::transaction::samples::{add, base, domain, file, metadata, protocol, remove, version, winner};
use crate::transaction::{Proposal, Winner};

const TRACKED: [&str; 2] = ["rowTracking", "domainMetadata"];

fn tracked(mark: Option<i64>) -> Base {
    Base {
        high_water_mark: mark,
        ..base(protocol(&TRACKED), metadata(&[], &[]))
    }
}

fn proposing(operation: &str, paths: &[&str]) -> Proposal {
    Proposal {
        operation: operation.to_owned(),
        adds: paths.iter().map(|path| add(path)).collect(),
        ..Proposal::default()
    }
}

fn marked(mark: i64) -> Winner {
    winner("WRITE", |w| {
        w.domains.push(domain("delta.rowTracking"));
        w.domains
            .iter_mut()
            .for_each(|domain| domain.configuration = format!(r#"{{"rowIdHighWaterMark":{mark}}}"#));
    })
}

fn ids(mine: &Proposal) -> Vec<(Option<i64>, Option<i64>)> {
    let adds = mine.adds.iter();
    adds.map(|add| (add.base_row_id, add.default_row_commit_version))
        .collect()
}

fn mark_of(mine: &Proposal) -> Vec<&str> {
    let marks = mine
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
fn row_ids_go_on_from_the_winners_mark() -> Result<()> {
    let mut base = tracked(Some(9));
    let mut mine = proposing("WRITE", &["a", "b"]);
    mine.domains.push(domain("other"));
    hand_out_row_ids(&mut mine, &base)?;
    assert_eq!(ids(&mine), [(Some(10), Some(5)), (Some(13), Some(5))]);
    assert_eq!(
        mark_of(&mine),
        [r#"{"rowIdHighWaterMark":15,"domainName":"delta.rowTracking"}"#]
    );
    rebase(&mut mine, &mut base, &marked(99))?;
    assert_eq!(ids(&mine), [(Some(100), Some(6)), (Some(103), Some(6))]);
    assert_eq!(
        mark_of(&mine),
        [r#"{"rowIdHighWaterMark":105,"domainName":"delta.rowTracking"}"#]
    );
    assert_eq!(
        mine.domains.first().map(|domain| domain.domain.as_str()),
        Some("delta.rowTracking")
    );
    assert_eq!((base.version, base.high_water_mark), (version(5), Some(99)));
    // A winner that handed out none leaves the mark, and the ids.
    let silent = Winner {
        version: version(6),
        ..winner("WRITE", |_| ())
    };
    rebase(&mut mine, &mut base, &silent)?;
    assert_eq!(ids(&mine), [(Some(100), Some(7)), (Some(103), Some(7))]);
    Ok(())
}

/// protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
#[test]
fn a_file_that_is_brought_again_keeps_its_ids() -> Result<()> {
    let mut base = tracked(Some(9));
    let mut mine = proposing("DELETE", &["a", "b"]);
    for add in mine.adds.iter_mut().take(1) {
        (add.base_row_id, add.default_row_commit_version) = (Some(9), Some(2));
    }
    hand_out_row_ids(&mut mine, &base)?;
    rebase(&mut mine, &mut base, &marked(19))?;
    assert_eq!(ids(&mine), [(Some(9), Some(2)), (Some(20), Some(6))]);
    Ok(())
}

/// Whether it gave all files theirs, or deleted rows of one that had none.
///
/// protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
#[test]
fn a_file_that_the_winner_gave_its_ids_takes_these_on_both_sides() -> Result<()> {
    for operation in ["ROW TRACKING BACKFILL", "DELETE"] {
        let mut base = tracked(Some(9));
        let mut mine = proposing("DELETE", &["a", "b"]);
        mine.removes.push(remove("c"));
        hand_out_row_ids(&mut mine, &base)?;
        let mut given = marked(29);
        given.operation = Some(operation.to_owned());
        for (path, id) in [("a", Some(20)), ("c", Some(23)), ("b", None)] {
            let mut file = file(path);
            (file.base_row_id, file.default_row_commit_version) = (id, id.map(|_| 5));
            given.adds.push(file);
        }
        rebase(&mut mine, &mut base, &given)?;
        assert_eq!(
            ids(&mine),
            [(Some(20), Some(5)), (Some(30), Some(6))],
            "{operation}"
        );
        let mut gone = mine.removes.iter();
        let gone = gone
            .next()
            .map(|gone| (gone.base_row_id, gone.default_row_commit_version));
        assert_eq!(gone, Some((Some(23), Some(5))), "{operation}");
        // And keeps them behind the next winner.
        let next = Winner {
            version: version(6),
            ..marked(59)
        };
        rebase(&mut mine, &mut base, &next)?;
        assert_eq!(
            ids(&mine),
            [(Some(20), Some(5)), (Some(60), Some(7))],
            "{operation}"
        );
    }
    Ok(())
}

#[test]
fn a_table_without_row_tracking_gets_no_ids_until_a_winner_brings_it() -> Result<()> {
    let mut base = base(protocol(&[]), metadata(&[], &[]));
    let mut mine = proposing("WRITE", &["a"]);
    hand_out_row_ids(&mut mine, &base)?;
    rebase(&mut mine, &mut base, &winner("WRITE", |_| ()))?;
    assert_eq!((ids(&mine), mark_of(&mine).len()), (vec![(None, None)], 0));
    let upgraded = winner("UPGRADE PROTOCOL", |w| {
        w.version = version(6);
        w.protocol = Some(protocol(&TRACKED));
    });
    rebase(&mut mine, &mut base, &upgraded)?;
    assert_eq!((ids(&mine), mark_of(&mine).len()), (vec![(Some(0), Some(7))], 1));
    assert!(!base.lost_row_ids);
    let enabled = winner("SET TBLPROPERTIES", |w| {
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
    rebase(&mut mine, &mut base, &enabled)?;
    assert!(base.lost_row_ids);
    assert_eq!(ids(&mine), [(Some(0), Some(8))]);
    // Where it was enabled before, nothing was lost.
    let mut enabled_before = Base {
        lost_row_ids: false,
        ..base.clone()
    };
    rebase(&mut mine, &mut enabled_before, &enabled)?;
    assert!(!enabled_before.lost_row_ids);
    let suspended = Base {
        form: crate::changes::TableForm {
            metadata: std::sync::Arc::new(metadata(&[], &[("delta.rowTrackingSuspended", "true")])),
            ..tracked(Some(9)).form
        },
        ..tracked(Some(9))
    };
    let mut mine = proposing("WRITE", &["a"]);
    hand_out_row_ids(&mut mine, &suspended)?;
    assert_eq!(ids(&mine), [(None, None)]);
    Ok(())
}

#[test]
fn row_ids_hang_on_numbers_of_records() {
    let mut mine = proposing("WRITE", &["a"]);
    mine.adds.iter_mut().for_each(|add| add.stats = None);
    let error = hand_out_row_ids(&mut mine, &tracked(None)).err();
    assert!(error.is_some_and(|error| error.context().contains(&("path", "a".into()))));
    let full = tracked(Some(i64::MAX - 3));
    let error = hand_out_row_ids(&mut proposing("WRITE", &["a"]), &full).err();
    assert!(error.is_some_and(|error| error.kind() == ErrorKind::InvalidArgument));
    let nearly = tracked(Some(i64::MAX - 4));
    assert!(hand_out_row_ids(&mut proposing("WRITE", &["a"]), &nearly).is_ok());
}

#[test]
fn who_gives_or_takes_row_ids_leaves_alone_what_the_winner_touched() -> Result<()> {
    for (operation, left) in [
        ("ROW TRACKING BACKFILL", &["a"][..]),
        ("ROW TRACKING UNBACKFILL", &["a"]),
        ("OPTIMIZE", &["a", "b", "c"]),
    ] {
        let mut mine = proposing(operation, &["a", "b", "c"]);
        let touching = winner("WRITE", |w| {
            w.adds.push(file("b"));
            w.removes.push(file("c"));
        });
        rebase(&mut mine, &mut base(protocol(&[]), metadata(&[], &[])), &touching)?;
        let paths: Vec<&str> = mine.adds.iter().map(|add| add.path.as_str()).collect();
        assert_eq!(paths, left, "{operation}");
    }
    Ok(())
}

#[test]
fn a_table_that_is_replaced_keeps_no_domain_that_came_meanwhile() -> Result<()> {
    let theirs = winner("SET", |w| {
        w.domains
            .extend([domain("mine"), domain("theirs"), domain("gone")]);
        w.domains
            .iter_mut()
            .filter(|d| d.domain == "gone")
            .for_each(|d| d.removed = true);
        w.domains.extend(marked(3).domains);
    });
    for (operation, expected) in [
        ("REPLACE TABLE", &[("mine", false), ("theirs", true)][..]),
        ("WRITE", &[("mine", false)]),
    ] {
        let mut mine = proposing(operation, &[]);
        mine.domains.push(domain("mine"));
        rebase(&mut mine, &mut base(protocol(&[]), metadata(&[], &[])), &theirs)?;
        let found: Vec<_> = mine
            .domains
            .iter()
            .map(|d| (d.domain.as_str(), d.removed))
            .collect();
        assert_eq!(found, expected, "{operation}");
    }
    Ok(())
}

const TIMED: (&str, &str) = ("delta.enableInCommitTimestamps", "true");

#[test]
fn a_commits_time_is_later_than_that_of_the_winner() -> Result<()> {
    let timed = || base(protocol(&["inCommitTimestamp"]), metadata(&[], &[TIMED]));
    let mut mine = proposing("WRITE", &["a"]);
    let mut stamp = |base: &Base, own: i64| stamp_in_commit_timestamp(&mut mine, base, own);
    let mut base = timed();
    assert_eq!(stamp(&base, 5_000)?, Some(5_000));
    assert_eq!(stamp(&base, 1_000)?, Some(1_001));
    base.go_on(&winner("WRITE", |w| w.in_commit_timestamp = Some(7_000)))?;
    assert_eq!(stamp(&base, 5_000)?, Some(7_001));
    // A winner that does not say has the time of its file.
    base.go_on(&winner("WRITE", |_| ()))?;
    assert_eq!(stamp(&base, 1_500)?, Some(2_001));
    base.timestamp_ms = i64::MAX;
    assert!(stamp(&base, 1).is_err_and(|error| error.kind() == ErrorKind::CorruptLog));
    let untimed = self::base(protocol(&["inCommitTimestamp"]), metadata(&[], &[]));
    assert_eq!(stamp(&untimed, 5_000)?, None);
    Ok(())
}

/// protocol: writer-requirements-for-in-commit-timestamps.4, writer-requirements-for-in-commit-timestamps.5,
/// writer-requirements-for-in-commit-timestamps.6, writer-requirements-for-in-commit-timestamps.7
#[test]
fn who_enables_times_says_since_when() -> Result<()> {
    let mut base = base(protocol(&["inCommitTimestamp"]), metadata(&[], &[]));
    let mut mine = proposing("SET TBLPROPERTIES", &[]);
    mine.metadata = Some(metadata(&[], &[TIMED]));
    let stamps = |mine: &Proposal| -> Vec<String> {
        let metadata = mine.metadata.as_ref();
        [
            "delta.inCommitTimestampEnablementVersion",
            "delta.inCommitTimestampEnablementTimestamp",
        ]
        .into_iter()
        .filter_map(|key| metadata?.property(key).map(str::to_owned))
        .collect()
    };
    assert_eq!(stamp_in_commit_timestamp(&mut mine, &base, 900)?, Some(1_001));
    assert_eq!(stamps(&mine), ["5", "1001"]);
    // What a winner says of its own time does not count before: its file does.
    rebase(
        &mut mine,
        &mut base,
        &winner("WRITE", |w| w.in_commit_timestamp = Some(9_000)),
    )?;
    assert_eq!(stamp_in_commit_timestamp(&mut mine, &base, 900)?, Some(2_001));
    assert_eq!(stamps(&mine), ["6", "2001"]);
    // Metadata that leave times as they are get no stamps.
    let timed = self::base(protocol(&["inCommitTimestamp"]), metadata(&[], &[TIMED]));
    let mut mine = proposing("SET TBLPROPERTIES", &[]);
    mine.metadata = Some(metadata(&[], &[TIMED, ("a", "b")]));
    assert_eq!(stamp_in_commit_timestamp(&mut mine, &timed, 5_000)?, Some(5_000));
    assert_eq!(stamps(&mine), [""; 0]);
    Ok(())
}

#[test]
fn versions_in_the_metadata_follow_the_commit() -> Result<()> {
    let field = |version: i64| {
        let fields = json!({"type": "struct", "fields": [
            {"name": "y", "type": "long", "nullable": true, "metadata": {"delta.typeChanges": [
                {"toType": "integer", "fromType": "short", "tableVersion": 3},
                {"toType": "long", "fromType": "integer", "tableVersion": version},
                {"toType": "long", "fromType": "integer"},
            ]}},
        ]});
        let list = json!({"type": "array", "containsNull": true, "elementType": fields});
        let pairs = json!({"type": "map", "keyType": fields, "valueType": list, "valueContainsNull": true});
        json!({"name": "x", "type": pairs, "nullable": true, "metadata": {}})
    };
    let schema = |version: i64| json!({"type": "struct", "fields": [field(version)]}).to_string();
    let mut mine = proposing("CHANGE COLUMN", &[]);
    let mut changed = metadata(&[], &[]);
    changed.schema_string = schema(5);
    mine.metadata = Some(changed);
    rebase(
        &mut mine,
        &mut base(protocol(&[]), metadata(&[], &[])),
        &winner("WRITE", |_| ()),
    )?;
    assert_eq!(
        mine.metadata.as_ref().map(|m| m.schema_string.clone()),
        Some(schema(6))
    );
    // What is not changed keeps its spelling.
    let spaced = format!(" {}", schema(3));
    let mut other = metadata(&[], &[]);
    other.schema_string = spaced.clone();
    mine.metadata = Some(other);
    rebase(
        &mut mine,
        &mut base(protocol(&[]), metadata(&[], &[])),
        &winner("WRITE", |_| ()),
    )?;
    assert_eq!(mine.metadata.map(|m| m.schema_string), Some(spaced));
    Ok(())
}

#[test]
fn who_drops_a_feature_protects_the_checkpoints_before_its_own_version() -> Result<()> {
    const KEY: &str = "delta.requireCheckpointProtectionBeforeVersion";
    let protected: &[&str] = &["checkpointProtection"];
    for (before, after, property, expected) in [
        (
            &["checkpointProtection", "vacuumProtocolCheck"][..],
            protected,
            "5",
            "6",
        ),
        (
            &["checkpointProtection", "vacuumProtocolCheck"],
            protected,
            "3",
            "3",
        ),
        (&["checkpointProtection"], protected, "5", "5"),
        (&["vacuumProtocolCheck"], &[], "5", "5"),
    ] {
        let mut mine = proposing("DROP FEATURE", &[]);
        mine.protocol = Some(protocol(after));
        mine.metadata = Some(metadata(&[], &[(KEY, property)]));
        rebase(
            &mut mine,
            &mut base(protocol(before), metadata(&[], &[])),
            &winner("WRITE", |_| ()),
        )?;
        let found = mine.metadata.as_ref().and_then(|metadata| metadata.property(KEY));
        assert_eq!(found, Some(expected), "{before:?} {after:?}");
    }
    Ok(())
}

#[test]
fn the_base_becomes_the_winner() -> Result<()> {
    let mut base = base(protocol(&["a"]), metadata(&[], &[]));
    let theirs = winner("SET TBLPROPERTIES", |w| {
        w.protocol = Some(protocol(&["a", "b"]));
        w.metadata = Some(metadata(&[], &[("a", "b")]));
    });
    rebase(&mut proposing("WRITE", &["a"]), &mut base, &theirs)?;
    let features = base.form.protocol.writer_features.as_ref();
    assert_eq!(features.map(Vec::len), Some(2));
    assert_eq!(base.form.metadata.property("a"), Some("b"));
    assert_eq!((base.version, base.timestamp_ms), (version(5), 2_000));
    Ok(())
}

/// Whatever a rebase makes of it, a commit says one thing of each file.
///
/// protocol: add-file-and-remove-file.3
#[test]
fn what_is_said_twice_is_refused_after_a_rebase() {
    let mut mine = proposing("WRITE", &["a", "a"]);
    let found = rebase(
        &mut mine,
        &mut base(protocol(&[]), metadata(&[], &[])),
        &winner("WRITE", |_| ()),
    );
    assert!(found.is_err_and(|error| error.kind() == ErrorKind::InvalidArgument));
}
