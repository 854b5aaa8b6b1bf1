//! Tests that timestamps and versions in actions are updated to those of the commit.

use deltaic_protocol::{ErrorKind, Result};
use serde_json::json;

use super::super::{Base, rebase, stamp_in_commit_timestamp};
use super::proposing;
use crate::transaction::Proposal;
use crate::transaction::samples::{base, metadata, protocol, winning_commit};

const TIMED: (&str, &str) = ("delta.enableInCommitTimestamps", "true");

#[test]
fn a_commits_time_is_later_than_that_of_the_winning_commit() -> Result<()> {
    let timed = || base(protocol(&["inCommitTimestamp"]), metadata(&[], &[TIMED]));
    let mut proposal = proposing("WRITE", &["a"]);
    let mut stamp = |base: &Base, own: i64| stamp_in_commit_timestamp(&mut proposal, base, own);
    let mut base = timed();
    assert_eq!(stamp(&base, 5_000)?, Some(5_000));
    assert_eq!(stamp(&base, 1_000)?, Some(1_001));
    base.advance(&winning_commit("WRITE", |w| w.in_commit_timestamp = Some(7_000)))?;
    assert_eq!(stamp(&base, 5_000)?, Some(7_001));
    // A winning commit without in-commit timestamp counts as later than its predecessor and not older than its file.
    base.advance(&winning_commit("WRITE", |_| ()))?;
    assert_eq!(stamp(&base, 1_500)?, Some(7_002));
    base.advance(&winning_commit("WRITE", |w| w.modified_ms = 9_000))?;
    assert_eq!(stamp(&base, 1_500)?, Some(9_001));
    base.timestamp_ms = i64::MAX;
    assert!(stamp(&base, 1).is_err_and(|error| error.kind() == ErrorKind::CorruptLog));
    let untimed = self::base(protocol(&["inCommitTimestamp"]), metadata(&[], &[]));
    assert_eq!(stamp(&untimed, 5_000)?, None);
    Ok(())
}

/// protocol: writer-requirements-for-in-commit-timestamps.4, writer-requirements-for-in-commit-timestamps.5,
/// writer-requirements-for-in-commit-timestamps.6, writer-requirements-for-in-commit-timestamps.7
#[test]
fn enabling_in_commit_timestamps_records_their_start() -> Result<()> {
    let mut base = base(protocol(&["inCommitTimestamp"]), metadata(&[], &[]));
    let mut proposal = proposing("SET TBLPROPERTIES", &[]);
    proposal.metadata = Some(metadata(&[], &[TIMED]));
    let stamps = |proposal: &Proposal| -> Vec<String> {
        let metadata = proposal.metadata.as_ref();
        [
            "delta.inCommitTimestampEnablementVersion",
            "delta.inCommitTimestampEnablementTimestamp",
        ]
        .into_iter()
        .filter_map(|key| metadata?.property(key).map(str::to_owned))
        .collect()
    };
    assert_eq!(stamp_in_commit_timestamp(&mut proposal, &base, 900)?, Some(1_001));
    assert_eq!(stamps(&proposal), ["5", "1001"]);
    // Before in-commit timestamps are enabled, the file's modification time counts, not the winning commit's timestamp.
    rebase(
        &mut proposal,
        &mut base,
        &winning_commit("WRITE", |w| w.in_commit_timestamp = Some(9_000)),
    )?;
    assert_eq!(stamp_in_commit_timestamp(&mut proposal, &base, 900)?, Some(2_001));
    assert_eq!(stamps(&proposal), ["6", "2001"]);
    // Metadata that does not enable in-commit timestamps is not stamped.
    let timed = self::base(protocol(&["inCommitTimestamp"]), metadata(&[], &[TIMED]));
    let mut proposal = proposing("SET TBLPROPERTIES", &[]);
    proposal.metadata = Some(metadata(&[], &[TIMED, ("a", "b")]));
    assert_eq!(
        stamp_in_commit_timestamp(&mut proposal, &timed, 5_000)?,
        Some(5_000)
    );
    assert_eq!(stamps(&proposal), [""; 0]);
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
    let mut proposal = proposing("CHANGE COLUMN", &[]);
    let mut changed = metadata(&[], &[]);
    changed.schema_string = schema(5);
    proposal.metadata = Some(changed);
    rebase(
        &mut proposal,
        &mut base(protocol(&[]), metadata(&[], &[])),
        &winning_commit("WRITE", |_| ()),
    )?;
    assert_eq!(
        proposal.metadata.as_ref().map(|m| m.schema_string.clone()),
        Some(schema(6))
    );
    // An unchanged schema keeps its exact text.
    let spaced = format!(" {}", schema(3));
    let mut other = metadata(&[], &[]);
    other.schema_string = spaced.clone();
    proposal.metadata = Some(other);
    rebase(
        &mut proposal,
        &mut base(protocol(&[]), metadata(&[], &[])),
        &winning_commit("WRITE", |_| ()),
    )?;
    assert_eq!(proposal.metadata.map(|m| m.schema_string), Some(spaced));
    Ok(())
}

#[test]
fn dropping_a_feature_protects_the_checkpoints_before_its_version() -> Result<()> {
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
        let mut proposal = proposing("DROP FEATURE", &[]);
        proposal.protocol = Some(protocol(after));
        proposal.metadata = Some(metadata(&[], &[(KEY, property)]));
        rebase(
            &mut proposal,
            &mut base(protocol(before), metadata(&[], &[])),
            &winning_commit("WRITE", |_| ()),
        )?;
        let found = proposal
            .metadata
            .as_ref()
            .and_then(|metadata| metadata.property(KEY));
        assert_eq!(found, Some(expected), "{before:?} {after:?}");
    }
    Ok(())
}
