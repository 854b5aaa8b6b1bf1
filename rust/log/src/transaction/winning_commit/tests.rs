//! Decoding of winning commits.

use serde_json::json;

use super::*;
use crate::transaction::Proposal;
use crate::transaction::samples::{add, domain, file, metadata, protocol, remove, txn, vector, version};

fn decode(text: &str) -> Result<WinningCommit> {
    WinningCommit::decode(Version::try_new(7)?, 99, text.as_bytes(), 1 << 20)
}

const LINES: &str = r#"{"commitInfo":{"operation":"DELETE","isBlindAppend":false,"txnId":"t","inCommitTimestamp":5,"tags":{"delta.identity.schemaUpdate":"true"}}}
{"add":{"path":"a","partitionValues":{"p":"1","q":null},"size":1,"modificationTime":2,"dataChange":true,"baseRowId":4,"defaultRowCommitVersion":3,"stats":"{\"numRecords\":6}","deletionVector":{"storageType":"u","pathOrInlineDv":"ab","offset":1,"sizeInBytes":36,"cardinality":2}}}
{"remove":{"path":"a","dataChange":false}}

{"txn":{"appId":"x","version":4}}
{"domainMetadata":{"domain":"delta.rowTracking","configuration":"{\"rowIdHighWaterMark\":9}","removed":false}}
{"fromTheFuture":{}}
"#;

#[test]
fn a_commit_is_read_as_far_as_it_matters() -> Result<()> {
    let winning_commit = decode(LINES)?;
    let expected = WinningFile {
        path: "a".to_owned(),
        partition_values: [("p".to_owned(), Some("1".to_owned())), ("q".to_owned(), None)].into(),
        data_change: true,
        deletion_vector: Some(Descriptor {
            storage_type: "u".to_owned(),
            path_or_inline_dv: "ab".to_owned(),
            offset: Some(1),
            size_in_bytes: 36,
            cardinality: 2,
        }),
        base_row_id: Some(4),
        default_row_commit_version: Some(3),
        stats: Some(r#"{"numRecords":6}"#.to_owned()),
    };
    assert_eq!(winning_commit.adds, [expected]);
    assert_eq!(winning_commit.removes.len(), 1);
    assert!(
        winning_commit
            .removes
            .iter()
            .all(|remove| remove.path == "a" && !remove.data_change)
    );
    assert_eq!(
        (winning_commit.version.as_i64(), winning_commit.modified_ms),
        (7, 99)
    );
    assert_eq!(winning_commit.txns.first().map(|txn| txn.version), Some(4));
    assert_eq!(winning_commit.high_water_mark()?, Some(9));
    assert_eq!(winning_commit.operation.as_deref(), Some("DELETE"));
    assert_eq!(
        (
            winning_commit.txn_id.as_deref(),
            winning_commit.in_commit_timestamp
        ),
        (Some("t"), Some(5))
    );
    assert!(
        winning_commit.is_identity_only && !winning_commit.is_blind_append && !winning_commit.is_backfill()
    );
    Ok(())
}

/// A commit without `isBlindAppend=true` may have read the table.
#[test]
fn only_a_commit_that_states_so_is_blind() -> Result<()> {
    for (info, blind) in [
        (r#"{"isBlindAppend":true}"#, true),
        (r#"{"isBlindAppend":false}"#, false),
        (r#"{"isBlindAppend":"true"}"#, false),
        ("{}", false),
        ("7", false),
    ] {
        let winning_commit = decode(&format!(r#"{{"commitInfo":{info}}}"#))?;
        assert_eq!(winning_commit.is_blind_append, blind, "{info}");
    }
    assert!(!decode(r#"{"txn":{"appId":"x","version":4}}"#)?.is_blind_append);
    Ok(())
}

#[test]
fn damage_names_the_version() {
    let txn = r#"{"txn":{"appId":"a","version":1}}"#;
    for text in ["", "\n \n", "{", "{\"add\":{}}", &format!("{txn}\n{txn}")] {
        let error = decode(text).err();
        assert_eq!(
            error.as_ref().map(Error::kind),
            Some(ErrorKind::CorruptLog),
            "{text}"
        );
        assert!(
            error.is_some_and(|error| error.to_string().contains("version: 7")),
            "{text}"
        );
    }
    let version = Version::ZERO;
    assert!(WinningCommit::decode(version, 0, LINES.as_bytes(), 20).is_err());
}

/// Commits written by deltaic decode to the same actions.
#[test]
fn a_proposal_is_read_as_it_was_written() -> Result<()> {
    let (mut again, gone) = (add("1b"), remove("1c"));
    again.deletion_vector = Some(vector("v"));
    (again.base_row_id, again.default_row_commit_version) = (Some(3), Some(2));
    let proposal = Proposal {
        protocol: Some(protocol(&["a"])),
        metadata: Some(metadata(&["p"], &[("a", "b")])),
        adds: vec![add("1a"), again],
        removes: vec![gone],
        txns: vec![txn("app", 4)],
        domains: vec![domain("d")],
        ..Proposal::default()
    };
    let info = json!({"operation": "WRITE", "isBlindAppend": true, "txnId": "t"});
    let bytes = proposal.to_bytes(&info)?;
    let winning_commit = WinningCommit::decode(version(7), 99, &bytes, 1 << 20)?;
    let added = |path: &str| WinningFile {
        stats: add(path).stats,
        ..file(path)
    };
    let mut second = added("1b");
    second.deletion_vector = Some(vector("v"));
    (second.base_row_id, second.default_row_commit_version) = (Some(3), Some(2));
    assert_eq!(winning_commit.adds, [added("1a"), second]);
    assert_eq!(winning_commit.removes, [file("1c")]);
    assert_eq!(
        (winning_commit.protocol, winning_commit.metadata),
        (proposal.protocol, proposal.metadata)
    );
    assert_eq!(
        (winning_commit.txns, winning_commit.domains),
        (proposal.txns, proposal.domains)
    );
    assert!(winning_commit.is_blind_append);
    Ok(())
}

#[test]
fn a_mark_of_identity_columns_is_text_or_a_boolean() -> Result<()> {
    for (tag, is_mark) in [
        (json!("true"), true),
        (json!("TRUE"), true),
        (json!(true), true),
        (json!("false"), false),
        (json!(false), false),
        (json!(1), false),
    ] {
        let line = json!({"commitInfo": {"tags": {"delta.identity.schemaUpdate": tag}}});
        assert_eq!(decode(&line.to_string())?.is_identity_only, is_mark, "{line}");
    }
    assert!(!decode(r#"{"commitInfo":{}}"#)?.is_identity_only);
    for (operation, given, taken) in [
        ("ROW TRACKING BACKFILL", true, false),
        ("ROW TRACKING UNBACKFILL", false, true),
        ("WRITE", false, false),
    ] {
        let winning_commit = decode(&json!({"commitInfo": {"operation": operation}}).to_string())?;
        assert_eq!(
            (winning_commit.is_backfill(), winning_commit.is_unbackfill()),
            (given, taken)
        );
    }
    Ok(())
}
