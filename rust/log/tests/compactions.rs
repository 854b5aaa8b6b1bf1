//! Log compaction files that we write say what their commits say.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use deltaic_log::Snapshot;
use deltaic_log::check::{OlderNames, Progress, check_log};
use deltaic_log::compaction::{Made, compact};
use deltaic_log::log_tail::{LogTail, StagedCommit};
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::store_error::store_error;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::facts::{facts, statistics_facts};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::strategies::history;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use deltaic_testkit::upkeep::{LastCommit, Upkeep};
use proptest::prelude::*;
use serde_json::{Value, json};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made")
}

fn version(number: usize) -> Version {
    Version::try_new(i64::try_from(number).unwrap_or(i64::MAX)).expect("a version")
}

async fn open(table: &TableBuilder) -> Result<Snapshot> {
    Snapshot::load(table.location(), None, LoadOptions::default()).await
}

async fn build(commits: &[Vec<Value>]) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    for actions in commits {
        table.commit(actions.clone()).await?;
    }
    Ok(table)
}

async fn read(table: &TableBuilder, relative: &str) -> Result<Vec<Value>> {
    let bytes = table.location().read(relative).await;
    let bytes = bytes.map_err(|error| store_error(&error, relative))?;
    let lines = std::str::from_utf8(&bytes).unwrap_or_default().lines();
    Ok(lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect())
}

/// Leaves nothing of a range but its compaction file to be read.
async fn spoil(table: &TableBuilder, from: usize, to: usize) -> Result<()> {
    for number in from..=to {
        table
            .put(&format!("_delta_log/{number:020}.json"), b"spoilt\n".to_vec())
            .await?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    /// Through the compaction file of any range the table is what its commits say, statistics and tombstones too: the
    /// commits themselves are spoilt meanwhile.
    ///
    /// protocol: action-reconciliation.1, action-reconciliation.2, action-reconciliation.3
    #[test]
    fn a_compaction_file_stands_for_its_commits(
        commits in history(), ends in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        prop_assume!(commits.len() > 1);
        runtime().block_on(async {
            let table = build(&commits).await?;
            let from = ends.0.index(commits.len() - 1);
            let to = from + 1 + ends.1.index(commits.len() - 1 - from);
            let snapshot = open(&table).await?;
            let written = compact(&snapshot, version(from), version(to)).await?;
            let expected = replay(&commits[from..=to]).actions();
            let Some(written) = written else {
                assert!(expected.is_empty(), "{expected:?}");
                return Ok(());
            };
            assert_eq!((written.made, written.actions), (Made::Now, expected.len()));
            // Every line is one of the commits' own.
            for line in read(&table, &written.path).await? {
                assert!(commits[from..=to].iter().flatten().any(|action| *action == line), "{line}");
            }
            let statistics = statistics_facts(&snapshot).await?;
            let bytes = lines(&read(&table, &written.path).await?);
            spoil(&table, from, to).await?;
            // It must not be older than the last commit that it stands for.
            table.put(&written.path, bytes).await?;
            let opened = open(&table).await?;
            assert_eq!(facts(&opened).await?, replay(&commits).facts());
            assert_eq!(statistics_facts(&opened).await?, statistics);
            Result::<()>::Ok(())
        }).map_err(|error: deltaic_protocol::Error| TestCaseError::fail(error.to_string()))?;
    }

    /// A check of the log, which replays the commits by itself, finds nothing wrong with the file.
    #[test]
    fn a_check_finds_nothing_wrong(commits in history()) {
        prop_assume!(commits.len() > 1);
        runtime().block_on(async {
            let table = build(&commits).await?;
            let check = || async {
                let progress = Progress::default();
                let options = LoadOptions::default();
                let found = check_log(&table.location(), options, OlderNames::Dropped, &progress).await?;
                Result::<_>::Ok(found.findings.counts().keys().copied().collect::<Vec<_>>())
            };
            let before = check().await?;
            let last = commits.len() - 1;
            compact(&open(&table).await?, version(last / 2), version(last.max(last / 2 + 1))).await?;
            compact(&open(&table).await?, version(0), version(last)).await?;
            assert_eq!(check().await?, before);
            Result::<()>::Ok(())
        }).map_err(|error: deltaic_protocol::Error| TestCaseError::fail(error.to_string()))?;
    }
}

fn lines(actions: &[Value]) -> Vec<u8> {
    let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
    text.into_bytes()
}

fn txn(version: i64) -> Value {
    json!({"txn": {"appId": "app", "version": version}})
}

/// The example of the protocol's text.
#[test]
fn the_protocols_own_example_comes_out() -> Result<()> {
    runtime().block_on(async {
        let info = json!({"commitInfo": {"operation": "WRITE"}});
        let table = build(&[
            TableBuilder::first_actions(),
            vec![add("f1", None)],
            vec![info.clone(), add("f2", None), remove("f1", None)],
            vec![info.clone(), add("f3", None), add("f4", None), txn(4389)],
            vec![
                info,
                remove("f3", None),
                txn(4390),
                json!({"cdc": {"path": "c", "partitionValues": {}, "size": 1, "dataChange": false}}),
            ],
        ])
        .await?;
        let written = compact(&open(&table).await?, version(2), version(4))
            .await?
            .expect("actions");
        assert_eq!(
            written.path,
            "_delta_log/00000000000000000002.00000000000000000004.compacted.json"
        );
        let mut actions = read(&table, &written.path).await?;
        let mut expected = vec![
            add("f2", None),
            add("f4", None),
            remove("f1", None),
            remove("f3", None),
            txn(4390),
        ];
        actions.sort_by_key(Value::to_string);
        expected.sort_by_key(Value::to_string);
        assert_eq!(actions, expected);
        Ok(())
    })
}

/// The same file comes and goes with deletion vectors, a domain is removed, and fields that nobody knows are kept.
#[test]
fn vectors_tombstones_of_domains_and_unknown_fields_are_kept() -> Result<()> {
    runtime().block_on(async {
        let domain = |removed: bool| json!({"domainMetadata": {"domain": "d", "configuration": "{}", "removed": removed}});
        let mut strange = add("a", Some("v"));
        strange["add"]["fromTheFuture"] = json!({"deep": [1]});
        let mut first = TableBuilder::first_actions_with_vectors();
        first.extend([domain(false), add("a", None)]);
        let commits = [
            first,
            vec![remove("a", None), strange.clone()],
            vec![domain(true), json!({"commitInfo": {}})],
        ];
        let table = build(&commits).await?;
        let written = compact(&open(&table).await?, version(1), version(2)).await?.expect("actions");
        let actions = read(&table, &written.path).await?;
        assert_eq!(actions.len(), 3, "{actions:?}");
        assert!(actions.contains(&strange) && actions.contains(&domain(true)) && actions.contains(&remove("a", None)));
        assert_eq!(facts(&open(&table).await?).await?, replay(&commits).facts());
        Ok(())
    })
}

#[test]
fn what_is_no_range_is_refused_and_nothing_is_written() -> Result<()> {
    runtime().block_on(async {
        let mut commits = vec![TableBuilder::first_actions()];
        commits.extend((0..5).map(|number| vec![add(&format!("f{number}"), None)]));
        let mut table = build(&commits).await?;
        let snapshot = open(&table).await?;
        for (from, to) in [(3, 3), (4, 2), (4, 6), (7, 9)] {
            let refused = compact(&snapshot, version(from), version(to)).await;
            let kind = refused.err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::InvalidArgument), "{from} {to}");
        }
        table
            .upkeep(&Upkeep::Checkpoint(CheckpointForm::of(Layout::Classic)))
            .await?;
        table.upkeep(&Upkeep::CleanUp(LastCommit::Kept)).await?;
        let missing = compact(&snapshot, version(3), version(5)).await;
        assert_eq!(
            missing.err().map(|error| error.kind()),
            Some(ErrorKind::VersionNotFound)
        );
        let empty = build(&[
            TableBuilder::first_actions(),
            vec![json!({"commitInfo": {}})],
            vec![json!({"commitInfo": {}})],
        ])
        .await?;
        assert_eq!(compact(&open(&empty).await?, version(1), version(2)).await?, None);
        for table in [&table, &empty] {
            let puts = table.scripted().report().count(RequestKind::Put);
            assert_eq!(puts, 0);
        }
        Ok(())
    })
}

#[test]
fn damage_is_not_compacted() -> Result<()> {
    runtime().block_on(async {
        for (bad, kind) in [
            (vec![add("a", None), add("a", None)], ErrorKind::CorruptLog),
            (vec![add("a", None), remove("a", None)], ErrorKind::CorruptLog),
            (vec![txn(1), txn(2)], ErrorKind::CorruptLog),
            (vec![json!(["no action"])], ErrorKind::CorruptLog),
            (Vec::new(), ErrorKind::CorruptLog),
            (
                vec![json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["fromTheFuture"]}})],
                ErrorKind::UnsupportedFeature,
            ),
        ] {
            let mut table = build(&[TableBuilder::first_actions(), vec![add("b", None)]]).await?;
            let snapshot_before = open(&table).await?;
            table.commit(bad.clone()).await?;
            // Behind a later protocol and a checkpoint the table opens; the commit is what it is.
            table.commit(TableBuilder::first_actions()).await?;
            table.upkeep(&Upkeep::Checkpoint(CheckpointForm::of(Layout::Classic))).await?;
            let snapshot = open(&table).await?;
            assert!(snapshot.version() > snapshot_before.version());
            let refused = compact(&snapshot, version(1), version(3)).await.expect_err("damage");
            assert_eq!(refused.kind(), kind, "{bad:?}: {refused}");
            assert!(refused.hint_text().is_some(), "{refused}");
            assert_eq!(table.scripted().report().count(RequestKind::Put), 0);
        }
        Ok(())
    })
}

#[test]
fn a_file_that_is_there_stays() -> Result<()> {
    runtime().block_on(async {
        let table = build(&[TableBuilder::first_actions(), vec![add("a", None)]]).await?;
        let snapshot = open(&table).await?;
        let made = |written: Option<deltaic_log::compaction::Compacted>| written.map(|written| written.made);
        assert_eq!(
            made(compact(&snapshot, version(0), version(1)).await?),
            Some(Made::Now)
        );
        assert_eq!(
            made(compact(&snapshot, version(0), version(1)).await?),
            Some(Made::Before)
        );
        Ok(())
    })
}

/// Whatever request fails and however, the table is the same, and the file is whole or not there.
#[test]
fn a_store_that_fails_harms_nothing() -> Result<()> {
    runtime().block_on(async {
        let faults = [
            Fault::AnswerLost,
            Fault::RequestLost,
            Fault::ServerError,
            Fault::PermissionDenied,
            Fault::Truncated,
            Fault::Reset,
        ];
        for fault in faults {
            for number in 0.. {
                let mut commits = vec![TableBuilder::first_actions()];
                commits.extend((0..4).map(|file| {
                    vec![
                        add(&format!("f{file}"), None),
                        remove(&format!("f{}", file + 1), None),
                    ]
                }));
                let table = build(&commits).await?;
                let snapshot = open(&table).await?;
                table
                    .scripted()
                    .fail(Rule::new(fault).requests(number..number + 1));
                let written = compact(&snapshot, version(1), version(4)).await;
                let was_met = table.scripted().faults_met() > 0;
                table.scripted().heal();
                if let Err(error) = &written {
                    let known = [ErrorKind::StorageError, ErrorKind::CorruptLog];
                    assert!(known.contains(&error.kind()), "{fault:?} {number}: {error}");
                }
                let opened = open(&table).await?;
                assert_eq!(
                    facts(&opened).await?,
                    replay(&commits).facts(),
                    "{fault:?} {number}"
                );
                assert!(opened.warnings().is_empty(), "{:?}", opened.warnings());
                let again = compact(&opened, version(1), version(4)).await?.expect("actions");
                assert_eq!(read(&table, &again.path).await?.len(), 5);
                if !was_met {
                    assert!(number > 4, "a compaction makes requests");
                    break;
                }
            }
        }
        Ok(())
    })
}

/// protocol: catalog:maintenance-operations-on-catalog-managed-tables.1
#[test]
fn of_a_table_with_a_catalog_only_published_commits_are_compacted() -> Result<()> {
    runtime().block_on(async {
        let mut first = TableBuilder::first_actions();
        first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
            "readerFeatures": ["catalogManaged", "vacuumProtocolCheck"],
            "writerFeatures": ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"]}});
        let mut table = build(&[first, vec![add("a", None)], vec![add("b", None)]]).await?;
        let name = format!("{:020}.3a0d65cd-4056-49b8-937b-95f9e0ee90e5.json", 3);
        let bytes = lines(&[add("c", None)]);
        let size = bytes.len() as u64;
        table
            .put(&format!("_delta_log/_staged_commits/{name}"), bytes)
            .await?;
        let tail = LogTail {
            commits: vec![StagedCommit {
                version: version(3),
                name,
                size,
                modified_ms: 0,
            }],
            max_version: Some(version(3)),
        };
        let load = || Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default());
        let snapshot = load().await?;
        assert_eq!(snapshot.version(), version(3));
        let unpublished = compact(&snapshot, version(1), version(3)).await;
        assert_eq!(
            unpublished.err().map(|error| error.kind()),
            Some(ErrorKind::VersionNotFound)
        );
        assert!(compact(&snapshot, version(0), version(2)).await?.is_some());
        // Another file under the version's name is not what the catalog has ratified.
        table.commit(vec![add("usurper", None)]).await?;
        let snapshot =
            Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await?;
        let usurped = compact(&snapshot, version(1), version(3)).await;
        assert_eq!(
            usurped.err().map(|error| error.kind()),
            Some(ErrorKind::VersionNotFound)
        );
        Ok(())
    })
}

/// A commit so large that it comes in pieces is compacted whole or not at all.
#[test]
fn a_large_commit_that_ends_early_is_not_taken_for_the_commit() -> Result<()> {
    runtime().block_on(async {
        let tag = "x".repeat(1 << 20);
        let large = |number: usize| {
            let mut add = add(&format!("f{number}"), None);
            add["add"]["tags"] = json!({"large": tag.as_str()});
            add
        };
        let table = build(&[
            TableBuilder::first_actions(),
            (0..10).map(large).collect(),
            vec![add("b", None)],
        ])
        .await?;
        let snapshot = open(&table).await?;
        let rule = Rule::new(Fault::Truncated).at("00000000000000000001.json");
        table.scripted().fail(rule);
        let cut = compact(&snapshot, version(1), version(2)).await;
        assert_eq!(cut.err().map(|error| error.kind()), Some(ErrorKind::StorageError));
        table.scripted().heal();
        let written = compact(&snapshot, version(1), version(2))
            .await?
            .expect("actions");
        assert_eq!(written.actions, 11);
        Ok(())
    })
}
