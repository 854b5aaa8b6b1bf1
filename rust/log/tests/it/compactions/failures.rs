//! Compactions on a failing store: the file is complete or missing.

use deltaic_log::compaction::compact;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::facts::facts;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::json;

use super::lines::version;

/// For every request and every fault, the table is unchanged, and the file is complete or missing.
#[tokio::test]
async fn a_store_that_fails_harms_nothing() -> Result<()> {
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
            let table = TableBuilder::of(&commits).await?;
            let snapshot = table.open().await?;
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
            let opened = table.open().await?;
            assert_eq!(
                facts(&opened).await?,
                replay(&commits).facts(),
                "{fault:?} {number}"
            );
            assert!(opened.warnings().is_empty(), "{:?}", opened.warnings());
            let again = compact(&opened, version(1), version(4)).await?.expect("actions");
            assert_eq!(table.read_actions(&again.path).await?.len(), 5);
            if !was_met {
                assert!(number > 4, "a compaction makes requests");
                break;
            }
        }
    }
    Ok(())
}

/// A commit large enough to be read in parts is compacted completely or not at all.
#[tokio::test]
async fn a_large_commit_that_ends_early_is_not_taken_for_the_commit() -> Result<()> {
    let tag = "x".repeat(1 << 20);
    let large = |number: usize| {
        let mut add = add(&format!("f{number}"), None);
        add["add"]["tags"] = json!({"large": tag.as_str()});
        add
    };
    let table = TableBuilder::of(&[
        TableBuilder::first_actions(),
        (0..10).map(large).collect(),
        vec![add("b", None)],
    ])
    .await?;
    let snapshot = table.open().await?;
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
}
