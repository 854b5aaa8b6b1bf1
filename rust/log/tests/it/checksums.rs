//! Version checksums written by deltaic: exact, at the right versions, and never overwriting another.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::checksum::{
    Created, FilesBefore, checksum_after, checksum_of, sound_checksum_of, write_checksum,
    write_missing_checksum,
};
use deltaic_log::decode::commits::{DecodedCommit, MAX_LINE_BYTES, decode_commit};
use deltaic_log::listing::LogFile;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::checksum::VersionChecksum;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_storage::store_error;
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::checksum_writer::ChecksumForm;
use deltaic_testkit::facts::facts;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::maintenance::{LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::property::holds;
use deltaic_testkit::remote_table::{SERVICES, put_commit, remote_place};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::strategies::history;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW_MS: i64 = 1_800_000_000_000;

fn version(number: usize) -> Version {
    Version::try_new(i64::try_from(number).unwrap_or(i64::MAX)).expect("a version")
}

fn decoded(actions: &[Value], number: usize) -> Result<DecodedCommit> {
    let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
    decode_commit(
        text.as_bytes(),
        &LogFile::commit(version(number)).into(),
        MAX_LINE_BYTES,
    )
}

async fn read(table: &TableBuilder, number: usize) -> Result<Option<String>> {
    let relative = format!("_delta_log/{number:020}.crc");
    match table.location().read(&relative).await {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(store_error(&error, &relative)),
    }
}

/// A commit with an id and an in-commit timestamp.
fn info(id: &str) -> Value {
    json!({"commitInfo": {"operation": "WRITE", "txnId": id, "inCommitTimestamp": 7}})
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Counted from scratch or incrementally, a version has one checksum, which equals the oracle's, and opening the
    /// table next to it reports no mismatch.
    ///
    /// protocol: state-validation-writer-requirements.2, version-checksum-file-schema.3, version-checksum-file-schema.4
    #[test]
    fn every_version_has_the_checksum_that_the_oracle_counts(commits in history()) {
        holds(async {
            let mut table = TableBuilder::of(&commits[..1]).await?;
            let mut before = table.open().await?;
            let mut known = checksum_of(&before, NOW_MS).await?;
            for (number, actions) in commits.iter().enumerate().skip(1) {
                table.commit(actions.clone()).await?;
                let snapshot = table.open().await?;
                let anew = checksum_of(&snapshot, NOW_MS).await?;
                let commit = decoded(actions, number)?;
                let next = checksum_after(&known, &commit, FilesBefore::Snapshot(&before), NOW_MS)?;
                assert_eq!(next.as_ref(), Some(&anew), "version {number}");
                let touches_files = commit.adds.len() + commit.removes.len() > 0;
                let blind = checksum_after(&known, &commit, FilesBefore::Unknown, NOW_MS)?;
                assert_eq!(blind.is_none(), touches_files, "version {number}");
                assert!(blind.is_none_or(|blind| blind == anew));

                let state = replay(table.commits());
                let sizes = state.files.values().map(|add| add["size"].as_i64().unwrap_or_default());
                let vectors = state.files.values().filter_map(|add| add["deletionVector"]["cardinality"].as_i64());
                assert_eq!(anew.num_files, i64::try_from(state.files.len()).unwrap_or(-1));
                assert_eq!(anew.table_size_bytes, sizes.sum::<i64>());
                let deleted = anew.num_deleted_records;
                assert!(deleted.is_none_or(|deleted| deleted == vectors.sum::<i64>()));

                let made = write_checksum(&table.location(), snapshot.version(), &anew).await?;
                assert_eq!(made, Created::Now);
                let beside = table.open().await?;
                assert!(beside.warnings().is_empty(), "{:?}", beside.warnings());
                (before, known) = (snapshot, anew);
            }
            Ok(())
        })?;
    }
}

/// A transaction of our own does not need the previous version: its names are new, and its removes contain the sizes.
#[tokio::test]
async fn a_commit_of_our_own_is_counted_by_itself() -> Result<()> {
    let sized = |mut action: Value, kind: &str, size: i64| {
        action[kind]["size"] = json!(size);
        action
    };
    let mut first = TableBuilder::first_actions_with_vectors();
    first.extend([
        sized(add("a", None), "add", 10),
        sized(add("b", None), "add", 20_000),
    ]);
    let commits = [
        first,
        vec![info("1"), sized(add("c", None), "add", 5)],
        vec![
            info("2"),
            sized(remove("b", None), "remove", 20_000),
            sized(add("b", Some("v")), "add", 20_000),
        ],
        vec![
            info("3"),
            sized(remove("b", Some("v")), "remove", 20_000),
            sized(remove("a", None), "remove", 10),
            sized(add("d", None), "add", 1),
        ],
    ];
    let mut table = TableBuilder::of(&commits[..1]).await?;
    let mut known = checksum_of(&table.open().await?, NOW_MS).await?;
    for (number, actions) in commits.iter().enumerate().skip(1) {
        table.commit(actions.clone()).await?;
        let commit = decoded(actions, number)?;
        let next = checksum_after(&known, &commit, FilesBefore::OwnCommit, NOW_MS)?;
        known = checksum_of(&table.open().await?, NOW_MS).await?;
        assert_eq!(next.as_ref(), Some(&known), "version {number}");
        assert_eq!(known.txn_id.as_deref(), Some(number.to_string().as_str()));
    }
    // A remove without a size cannot be counted.
    let commit = decoded(&[info("4"), remove("c", None)], 4)?;
    assert_eq!(
        checksum_after(&known, &commit, FilesBefore::OwnCommit, NOW_MS)?,
        None
    );
    Ok(())
}

/// protocol: state-validation-writer-requirements.1, state-validation-writer-requirements.4,
/// version-checksum-file-schema.1
#[tokio::test]
async fn an_existing_checksum_is_not_rewritten() -> Result<()> {
    let mut table =
        TableBuilder::of(&[TableBuilder::first_actions(), vec![info("1"), add("a", None)]]).await?;
    let snapshot = table.open().await?;
    assert_eq!(write_missing_checksum(&snapshot, NOW_MS).await?, Created::Now);
    let text = read(&table, 1).await?.expect("it is there");
    assert_eq!(
        VersionChecksum::parse(text.as_bytes())?,
        checksum_of(&snapshot, NOW_MS).await?
    );
    assert_eq!(text.lines().count(), 1, "exactly one JSON object");
    let other = VersionChecksum {
        txn_id: Some("other".to_owned()),
        ..checksum_of(&snapshot, NOW_MS).await?
    };
    assert_eq!(
        write_checksum(&table.location(), snapshot.version(), &other).await?,
        Created::Before
    );
    let opened = table.open().await?;
    table.scripted().forget();
    assert_eq!(write_missing_checksum(&opened, NOW_MS).await?, Created::Before);
    assert!(
        table.scripted().report().requests.is_empty(),
        "what is there is not counted again"
    );
    assert_eq!(read(&table, 1).await?, Some(text));

    // A wrong checksum is not overwritten either: damage is never repaired automatically.
    table.commit(vec![info("2"), add("b", None)]).await?;
    table
        .maintain(&MaintenanceStep::Checksum(ChecksumForm::Torn))
        .await?;
    let torn = read(&table, 2).await?;
    assert_eq!(
        write_missing_checksum(&table.open().await?, NOW_MS).await?,
        Created::Before
    );
    assert_eq!(read(&table, 2).await?, torn);
    Ok(())
}

/// Only a checksum that names its own commit and agrees with the log is used for incremental counting.
#[tokio::test]
async fn a_checksum_is_verified_before_it_is_extended() -> Result<()> {
    let mut table =
        TableBuilder::of(&[TableBuilder::first_actions(), vec![info("1"), add("a", None)]]).await?;
    assert_eq!(sound_checksum_of(&table.open().await?).await, None);
    write_missing_checksum(&table.open().await?, NOW_MS).await?;
    let snapshot = table.open().await?;
    let sound = sound_checksum_of(&snapshot).await.expect("it is sound");
    assert_eq!(sound, checksum_of(&snapshot, NOW_MS).await?);
    for (number, wrong) in [
        VersionChecksum {
            txn_id: Some("other".to_owned()),
            ..sound.clone()
        },
        VersionChecksum {
            txn_id: None,
            ..sound.clone()
        },
        VersionChecksum {
            domain_metadata: None,
            file_size_histogram: None,
            num_files: 7,
            ..sound
        },
    ]
    .into_iter()
    .enumerate()
    {
        table
            .commit(vec![info("1"), add(&format!("b{number}"), None)])
            .await?;
        let newest = table.open().await?;
        write_checksum(&table.location(), newest.version(), &wrong).await?;
        assert_eq!(sound_checksum_of(&table.open().await?).await, None, "{wrong:?}");
    }
    // Without an id in the commit, a checksum could not name it.
    table.commit(vec![add("c", None)]).await?;
    assert_eq!(
        write_missing_checksum(&table.open().await?, NOW_MS).await?,
        Created::Now
    );
    assert_eq!(sound_checksum_of(&table.open().await?).await, None);
    Ok(())
}

/// A snapshot from a checkpoint only has not read its commit; the checksum names the commit nevertheless.
///
/// protocol: version-checksum-file-schema.1
#[tokio::test]
async fn the_commit_is_named_also_from_a_checkpoint() -> Result<()> {
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7,
        "writerFeatures": ["inCommitTimestamp"]}});
    first[1]["metaData"]["configuration"] = json!({"delta.enableInCommitTimestamps": "true"});
    first.insert(0, info("0"));
    for (last, is_told) in [
        (None, true),
        (Some(LastCommit::Kept), true),
        (Some(LastCommit::Deleted), false),
    ] {
        let mut table = TableBuilder::of(&[first.clone(), vec![info("1"), add("a", None)]]).await?;
        if let Some(last) = last {
            table
                .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(Layout::Classic)))
                .await?;
            table.maintain(&MaintenanceStep::CleanUp(last)).await?;
        }
        let counted = checksum_of(&table.open().await?, NOW_MS).await;
        if is_told {
            let counted = counted?;
            assert_eq!(counted.txn_id.as_deref(), Some("1"), "{last:?}");
            assert_eq!(counted.in_commit_timestamp, Some(7), "{last:?}");
        } else {
            // The commit was deleted, and with it the time that the checksum requires.
            assert_eq!(
                counted.err().map(|error| error.kind()),
                Some(ErrorKind::CorruptLog)
            );
        }
    }
    Ok(())
}

/// Expired transaction identifiers are not part of a version.
#[tokio::test]
async fn expired_transactions_are_not_listed() -> Result<()> {
    let mut first = TableBuilder::first_actions();
    first[1]["metaData"]["configuration"] =
        json!({"delta.setTransactionRetentionDuration": "interval 1 day"});
    first.push(json!({"txn": {"appId": "old", "version": 1, "lastUpdated": NOW_MS}}));
    first.push(json!({"txn": {"appId": "timeless", "version": 1}}));
    let snapshot = TableBuilder::of(&[first]).await?.open().await?;
    for (later_ms, listed) in [(0, 2), (86_400_000, 2), (86_400_001, 1)] {
        let checksum = checksum_of(&snapshot, NOW_MS + later_ms).await?;
        assert_eq!(
            checksum.set_transactions.map(|txns| txns.len()),
            Some(listed),
            "{later_ms}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_feature_that_is_not_known_is_refused_before_anything_is_written() -> Result<()> {
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7,
        "writerFeatures": ["fromTheFuture"]}});
    let table = TableBuilder::of(&[first]).await?;
    let error = write_missing_checksum(&table.open().await?, NOW_MS)
        .await
        .expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::UnsupportedFeature);
    assert!(error.to_string().contains("fromTheFuture"), "{error}");
    assert_eq!(read(&table, 0).await?, None);
    Ok(())
}

/// Whatever faults the store has, the table is unchanged, and a checksum is correct or missing.
#[tokio::test]
async fn a_store_that_fails_harms_nothing() -> Result<()> {
    let faults = [
        Fault::AnswerLost,
        Fault::RequestLost,
        Fault::ServerError,
        Fault::Throttled,
        Fault::PermissionDenied,
    ];
    for fault in faults {
        let table =
            TableBuilder::of(&[TableBuilder::first_actions(), vec![info("1"), add("a", None)]]).await?;
        let snapshot = table.open().await?;
        table.scripted().fail(Rule::new(fault).of(&[RequestKind::Put]));
        let error = write_missing_checksum(&snapshot, NOW_MS)
            .await
            .expect_err("the store fails");
        table.scripted().heal();
        assert_eq!(error.kind(), ErrorKind::StorageError, "{fault:?}");
        let there = read(&table, 1).await?;
        assert_eq!(there.is_some(), fault == Fault::AnswerLost, "{fault:?}");
        let opened = table.open().await?;
        assert_eq!(facts(&opened).await?, replay(table.commits()).facts());
        assert!(opened.warnings().is_empty(), "{:?}", opened.warnings());
        write_missing_checksum(&opened, NOW_MS).await?;
        assert!(sound_checksum_of(&table.open().await?).await.is_some());
    }
    Ok(())
}

/// A store that has not proved its conditional puts may overwrite, so it is read first.
#[tokio::test]
async fn nothing_is_put_where_a_store_may_overwrite() -> Result<()> {
    let elsewhere = [("aws_endpoint", "http://store.test"), ("aws_allow_http", "true")];
    for (more, puts) in [(&elsewhere[..], 1), (&[][..], 2)] {
        let (network, location) = remote_place(SERVICES[0], more)?;
        put_commit(&network, 0, &TableBuilder::first_actions());
        let snapshot = Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await?;
        let checksum = checksum_of(&snapshot, NOW_MS).await?;
        let write = || write_checksum(&location, snapshot.version(), &checksum);
        assert_eq!(
            (write().await?, write().await?),
            (Created::Now, Created::Before),
            "{more:?}"
        );
        assert_eq!(network.attempts("PUT", ".crc").len(), puts, "{more:?}");
        assert_eq!(network.objects().len(), 2, "{more:?}");
    }
    Ok(())
}
