//! Log compaction files written by deltaic agree with their commits.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

mod failures;
mod lines;
mod refused;

use deltaic_log::check::{OlderNames, Progress, check_log};
use deltaic_log::compaction::{Created, compact};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;
use deltaic_testkit::facts::{facts, statistics_facts};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::property::holds;
use deltaic_testkit::strategies::history;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use proptest::prelude::*;
use serde_json::{Value, json};

use self::lines::{lines, txn, version};

/// Damages all files of a range except its compaction file.
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

    /// With the compaction file of any range the table agrees with its commits, including statistics and tombstones;
    /// the commits themselves are damaged first.
    ///
    /// protocol: action-reconciliation.1, action-reconciliation.2, action-reconciliation.3
    #[test]
    fn a_compaction_file_represents_its_commits(
        commits in history(), ends in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        prop_assume!(commits.len() > 1);
        holds(async {
            let table = TableBuilder::of(&commits).await?;
            let from = ends.0.index(commits.len() - 1);
            let to = from + 1 + ends.1.index(commits.len() - 1 - from);
            let snapshot = table.open().await?;
            let written = compact(&snapshot, version(from), version(to)).await?;
            let expected = replay(&commits[from..=to]).actions();
            let Some(written) = written else {
                assert!(expected.is_empty(), "{expected:?}");
                return Ok(());
            };
            assert_eq!((written.made, written.actions), (Created::Now, expected.len()));
            // Every line is a line of the commits.
            for line in table.read_actions(&written.path).await? {
                assert!(commits[from..=to].iter().flatten().any(|action| *action == line), "{line}");
            }
            let statistics = statistics_facts(&snapshot).await?;
            let bytes = lines(&table.read_actions(&written.path).await?);
            spoil(&table, from, to).await?;
            // It must not be older than the last commit that it replaces.
            table.put(&written.path, bytes).await?;
            let opened = table.open().await?;
            assert_eq!(facts(&opened).await?, replay(&commits).facts());
            assert_eq!(statistics_facts(&opened).await?, statistics);
            Ok(())
        })?;
    }

    /// A check of the log, which independently replays the commits, reports nothing for the file.
    #[test]
    fn a_check_finds_nothing_wrong(commits in history()) {
        prop_assume!(commits.len() > 1);
        holds(async {
            let table = TableBuilder::of(&commits).await?;
            let check = || async {
                let progress = Progress::default();
                let options = LoadOptions::default();
                let found = check_log(&table.location(), options, OlderNames::Dropped, &progress).await?;
                Result::<_>::Ok(found.findings.counts().keys().copied().collect::<Vec<_>>())
            };
            let before = check().await?;
            let last = commits.len() - 1;
            compact(&table.open().await?, version(last / 2), version(last.max(last / 2 + 1))).await?;
            compact(&table.open().await?, version(0), version(last)).await?;
            assert_eq!(check().await?, before);
            Ok(())
        })?;
    }
}

/// The example of the protocol.
#[tokio::test]
async fn the_example_of_the_protocol_is_reproduced() -> Result<()> {
    let info = json!({"commitInfo": {"operation": "WRITE"}});
    let table = TableBuilder::of(&[
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
    let written = compact(&table.open().await?, version(2), version(4))
        .await?
        .expect("actions");
    assert_eq!(
        written.path,
        "_delta_log/00000000000000000002.00000000000000000004.compacted.json"
    );
    let mut actions = table.read_actions(&written.path).await?;
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
}

/// The same file is removed and added with deletion vectors, a domain is removed, and unknown fields are retained.
#[tokio::test]
async fn deletion_vectors_tombstones_of_domains_and_unknown_fields_are_retained() -> Result<()> {
    let domain =
        |removed: bool| json!({"domainMetadata": {"domain": "d", "configuration": "{}", "removed": removed}});
    let mut strange = add("a", Some("v"));
    strange["add"]["fromTheFuture"] = json!({"deep": [1]});
    let mut first = TableBuilder::first_actions_with_vectors();
    first.extend([domain(false), add("a", None)]);
    let commits = [
        first,
        vec![remove("a", None), strange.clone()],
        vec![domain(true), json!({"commitInfo": {}})],
    ];
    let table = TableBuilder::of(&commits).await?;
    let written = compact(&table.open().await?, version(1), version(2))
        .await?
        .expect("actions");
    let actions = table.read_actions(&written.path).await?;
    assert_eq!(actions.len(), 3, "{actions:?}");
    assert!(
        actions.contains(&strange) && actions.contains(&domain(true)) && actions.contains(&remove("a", None))
    );
    assert_eq!(facts(&table.open().await?).await?, replay(&commits).facts());
    Ok(())
}

#[tokio::test]
async fn an_existing_file_is_not_overwritten() -> Result<()> {
    let table = TableBuilder::of(&[TableBuilder::first_actions(), vec![add("a", None)]]).await?;
    let snapshot = table.open().await?;
    let made = |written: Option<deltaic_log::compaction::Compacted>| written.map(|written| written.made);
    assert_eq!(
        made(compact(&snapshot, version(0), version(1)).await?),
        Some(Created::Now)
    );
    assert_eq!(
        made(compact(&snapshot, version(0), version(1)).await?),
        Some(Created::Before)
    );
    Ok(())
}
