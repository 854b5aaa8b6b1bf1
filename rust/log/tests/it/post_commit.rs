//! Post-commit maintenance of our commits: the version's checksum, and a checkpoint when due.

use deltaic_log::checksum::Created;
use deltaic_log::post_commit::{OwnCommit, PostCommitPolicy, run_post_commit};
use deltaic_log::transaction::{CommitOptions, NewTable, create};
use deltaic_protocol::{Error, Result, Version};
use deltaic_testkit::checkpoint_reader::actions_of;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::own_commits::{a_new_table, append_to, checksum_anew, checksum_beside, log_versions};
use deltaic_testkit::requests::{Request, RequestKind};
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

/// The checksum of a version equals a count of the version, opened again.
async fn assert_counted(table: &TableBuilder, version: i64) -> Result<()> {
    let opened = table.open_at(version).await?;
    assert!(opened.warnings().is_empty(), "{:?}", opened.warnings());
    let anew = checksum_anew(table, version).await?;
    assert!(anew.txn_id.is_some(), "version {version}");
    assert_eq!(
        checksum_beside(table, version).await?,
        Some(anew),
        "version {version}"
    );
    Ok(())
}

/// protocol: checkpoints.9, state-validation-writer-requirements.1, state-validation-writer-requirements.2
#[tokio::test]
async fn checkpoints_come_at_the_interval_and_checksums_with_each_commit() -> Result<()> {
    for (properties, due) in [
        (json!({}), vec![10, 20]),
        (json!({"delta.checkpointInterval": "7"}), vec![7, 14, 21]),
        (
            json!({"delta.checkpointInterval": "1", "delta.checkpointPolicy": "v2"}),
            (1..=21).collect(),
        ),
    ] {
        let table = TableBuilder::with_properties(&properties, 0).await?;
        let mut snapshot = table.open().await?;
        for number in 1..=21 {
            let made = append_to(&snapshot, &format!("f{number}"), PostCommitPolicy::default()).await?;
            let post_commit = made.post_commit;
            assert_eq!(made.version.as_i64(), number);
            assert!(post_commit.failures.is_empty(), "{:?}", post_commit.failures);
            assert!(
                post_commit.left_to_others.is_empty(),
                "{:?}",
                post_commit.left_to_others
            );
            assert_eq!(post_commit.checksum, Some(Created::Now));
            let checkpoint = post_commit
                .checkpoint
                .map(|checkpoint| checkpoint.version.as_i64());
            assert_eq!(checkpoint.is_some(), due.contains(&number), "version {number}");
            assert!(checkpoint.is_none_or(|version| version == number));
            // A cleanup follows each checkpoint; here nothing has expired.
            assert_eq!(post_commit.cleanup.is_some(), checkpoint.is_some());
            assert!(
                post_commit
                    .cleanup
                    .is_none_or(|cleanup| cleanup.deleted.is_empty())
            );
            snapshot = snapshot.refresh().await?;
            assert!(snapshot.warnings().is_empty(), "{:?}", snapshot.warnings());
        }
        assert_eq!(
            log_versions(&table, ".checkpoint.parquet").await?,
            due,
            "{properties}"
        );
        assert_eq!(log_versions(&table, ".crc").await?, (1..=21).collect::<Vec<_>>());
        for version in 1..=21 {
            assert_counted(&table, version).await?;
        }
        let hint = table.location().read("_delta_log/_last_checkpoint").await;
        let hint: Value = serde_json::from_slice(&hint.expect("there is a hint")).expect("it is JSON");
        assert_eq!(hint["version"], json!(due.last()));
    }
    Ok(())
}

/// protocol: state-validation-writer-requirements.1
#[tokio::test]
async fn a_new_table_has_a_checksum() -> Result<()> {
    for (post_commit, has_one) in [
        (PostCommitPolicy::default(), true),
        (PostCommitPolicy::none(), false),
    ] {
        let table = TableBuilder::new();
        let new = NewTable {
            properties: [("delta.enableInCommitTimestamps".to_owned(), "true".to_owned())].into(),
            description: Some("räder".to_owned()),
            ..a_new_table()
        };
        let options = CommitOptions {
            post_commit,
            ..CommitOptions::default()
        };
        let made = create(&table.location(), new, &options)
            .await?
            .expect("it is made");
        assert!(
            made.post_commit.failures.is_empty(),
            "{:?}",
            made.post_commit.failures
        );
        assert_eq!(
            log_versions(&table, ".crc").await?,
            if has_one { vec![0] } else { vec![] }
        );
        if has_one {
            assert_counted(&table, 0).await?;
        }
    }
    Ok(())
}

/// After winning commits the version is read, instead of derived from the snapshot that the writer had read.
///
/// protocol: state-validation-writer-requirements.2, checkpoints.9
#[tokio::test]
async fn a_commit_after_winning_commits_is_counted_with_them() -> Result<()> {
    for winning_commits in 1..4 {
        let mut table = TableBuilder::with_properties(&json!({}), 9 - winning_commits).await?;
        let stale = table.open().await?;
        for winning_commit in 0..winning_commits {
            table
                .commit(vec![add(&format!("winner{winning_commit}"), None)])
                .await?;
        }
        table.scripted().forget();
        let made = append_to(&stale, "ours", PostCommitPolicy::default()).await?;
        assert_eq!(
            (made.version.as_i64(), made.conflicts_resolved.len()),
            (10, winning_commits)
        );
        assert!(
            made.post_commit.failures.is_empty(),
            "{:?}",
            made.post_commit.failures
        );
        assert_eq!(log_versions(&table, ".crc").await?, [10]);
        assert_eq!(log_versions(&table, ".checkpoint.parquet").await?, [10]);
        assert_counted(&table, 10).await?;
    }
    Ok(())
}

/// Another commit may follow before our post-commit maintenance starts: it still describes our version.
///
/// protocol: checkpoints.4, version-checksum-file-schema.1
#[tokio::test]
async fn maintenance_writes_files_of_the_committed_version() -> Result<()> {
    let mut table = TableBuilder::with_properties(&json!({"delta.checkpointInterval": "4"}), 4).await?;
    let before = table.open_at(3).await?;
    let bytes = table.location().read(&format!("_delta_log/{:020}.json", 4)).await;
    let bytes = bytes.expect("it is there").to_vec();
    table.commit(vec![add("newer", None)]).await?;
    for (read, how) in [(before, "behind it"), (table.open_at(1).await?, "behind winners")] {
        for name in [".crc", ".checkpoint.parquet"] {
            table.delete(&format!("_delta_log/{:020}{name}", 4)).await?;
        }
        let own = OwnCommit {
            location: read.location(),
            read: Some(&read),
            version: Version::try_new(4)?,
            bytes: &|| Ok(bytes.clone()),
        };
        let post_commit = run_post_commit(own, PostCommitPolicy::default()).await;
        assert!(
            post_commit.failures.is_empty(),
            "{how}: {:?}",
            post_commit.failures
        );
        assert_eq!(log_versions(&table, ".checkpoint.parquet").await?, [4], "{how}");
        assert_eq!(log_versions(&table, ".crc").await?, [4], "{how}");
        let anew = checksum_anew(&table, 4).await?;
        assert_eq!(anew.num_files, 4, "{how}");
        assert_eq!(checksum_beside(&table, 4).await?, Some(anew), "{how}");
    }
    Ok(())
}

/// The protocol that a client without V2 checkpoints finds: it reads commits and checkpoints with classic names.
async fn protocol_for_older_clients(table: &TableBuilder) -> Result<Option<Value>> {
    let commits = log_versions(table, ".json").await?;
    let checkpoints = log_versions(table, ".checkpoint.parquet").await?;
    let mut found = None;
    if let Some(newest) = checkpoints.last() {
        let path = format!("_delta_log/{newest:020}.checkpoint.parquet");
        found = protocol_in(actions_of(&table.read(&path).await?)?);
        assert!(found.is_some(), "{path} has a protocol");
    }
    for version in commits {
        let bytes = table.read(&format!("_delta_log/{version:020}.json")).await?;
        let actions = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok());
        let actions = actions.collect();
        found = protocol_in(actions).or(found);
    }
    Ok(found)
}

fn protocol_in(actions: Vec<Value>) -> Option<Value> {
    actions
        .into_iter()
        .find_map(|action| action.get("protocol").cloned())
}

/// However early the commits before a checkpoint are deleted, an older client finds the protocol that rejects it.
///
/// protocol: handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints.2
/// protocol: handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints.3
#[tokio::test]
async fn older_clients_find_the_protocol_of_a_table_with_v2_checkpoints() -> Result<()> {
    let mut first = TableBuilder::first_actions();
    let needs = json!({"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]});
    first[0] = json!({ "protocol": needs });
    first[1]["metaData"]["configuration"] =
        json!({"delta.checkpointPolicy": "v2", "delta.checkpointInterval": "3"});
    let table = TableBuilder::of(&[first]).await?;
    let mut snapshot = table.open().await?;
    for number in 1..=14 {
        let made = append_to(&snapshot, &format!("f{number}"), PostCommitPolicy::default()).await?;
        assert!(
            made.post_commit.failures.is_empty(),
            "{:?}",
            made.post_commit.failures
        );
        snapshot = snapshot.refresh().await?;
        if let Some(checkpoint) = made.post_commit.checkpoint {
            assert!(!checkpoint.sidecars.is_empty(), "it follows the V2 spec");
            for version in 0..=number {
                table.delete(&format!("_delta_log/{version:020}.json")).await?;
            }
            snapshot = table.open().await?;
        }
        assert_eq!(
            protocol_for_older_clients(&table).await?.as_ref(),
            Some(&needs),
            "version {number}"
        );
        assert!(snapshot.warnings().is_empty(), "{:?}", snapshot.warnings());
        assert_eq!(snapshot.num_files(), usize::try_from(number).unwrap_or_default());
    }
    Ok(())
}

/// protocol: state-validation-writer-requirements.3
#[tokio::test]
async fn a_checksum_is_written_after_its_commit_and_only_then() -> Result<()> {
    // The first attempt loses to a winning commit, so that version 2 is proposed before version 3.
    let mut table = TableBuilder::with_properties(&json!({}), 1).await?;
    let snapshot = table.open().await?;
    table.commit(vec![add("winner", None)]).await?;
    table.scripted().forget();
    let made = append_to(&snapshot, "ours", PostCommitPolicy::default()).await?;
    assert_eq!(made.version.as_i64(), 3);
    let report = table.scripted().report();
    let puts = report
        .requests
        .iter()
        .filter(|request| request.kind == RequestKind::Put);
    let puts: Vec<_> = puts.collect();
    let [.., commit, checksum] = puts.as_slice() else {
        return Err(Error::internal(format!("{puts:?}")));
    };
    assert!(
        commit.path.ends_with("_delta_log/00000000000000000003.json"),
        "{puts:?}"
    );
    assert!(
        checksum.path.ends_with("_delta_log/00000000000000000003.crc"),
        "{puts:?}"
    );
    assert!(commit.ended.is_some_and(|ended| ended <= checksum.started));
    assert_eq!(log_versions(&table, ".crc").await?, [3]);

    // For a failing commit, no checksum is attempted, whatever the fault.
    for fault in [Fault::ServerError, Fault::PermissionDenied, Fault::RequestLost] {
        let table = TableBuilder::with_properties(&json!({}), 1).await?;
        let snapshot = table.open().await?;
        table.scripted().forget();
        table.scripted().fail(Rule::new(fault).of(&[RequestKind::Put]));
        append_to(&snapshot, "ours", PostCommitPolicy::default())
            .await
            .expect_err("the store fails");
        let report = table.scripted().report();
        let crc = |request: &&Request| request.path.ends_with(".crc");
        assert_eq!(report.requests.iter().find(crc), None, "{fault:?}");
    }
    Ok(())
}
