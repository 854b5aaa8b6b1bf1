//! Vacuums whose requests fail, that are interrupted, and beside which other writers commit.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_log::history::history;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::CommitOptions;
use deltaic_protocol::error::ContextValue;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::clock::with_clock;
use deltaic_table::vacuum::{VacuumRequest, Vacuumed, vacuum};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::hold::HoldPoint;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use futures::TryStreamExt;
use object_store::ObjectStore;
use serde_json::json;

const ORPHANS: usize = 40;
const MONTH: Duration = Duration::from_secs(30 * 86_400);

/// A table with a live file, a removed one, and files that no commit names; a month later.
async fn table() -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    let mut actions = TableBuilder::first_actions();
    actions.push(add("live.parquet", None));
    actions.push(add("removed.parquet", None));
    table.commit(actions).await?;
    let remove = json!({"remove": {"path": "removed.parquet", "deletionTimestamp": 1, "dataChange": true}});
    table.commit(vec![remove]).await?;
    let orphans = (0..ORPHANS).map(|number| format!("p/orphan-{number}.parquet"));
    for name in orphans.chain(["live.parquet".to_owned(), "removed.parquet".to_owned()]) {
        table.put(&name, b"12345".to_vec()).await?;
    }
    table.scripted().set_clock_ahead(MONTH);
    Ok(table)
}

async fn open(table: &TableBuilder) -> Result<Snapshot> {
    Snapshot::load(table.location(), None, LoadOptions::default()).await
}

/// Vacuums by a clock that is as far ahead as the store's.
async fn vacuumed(table: &TableBuilder) -> Result<Vacuumed> {
    vacuumed_as(table, &VacuumRequest::default()).await
}

async fn vacuumed_as(table: &TableBuilder, request: &VacuumRequest) -> Result<Vacuumed> {
    let snapshot = open(table).await?;
    let options = CommitOptions {
        post_commit: PostCommitPolicy::none(),
        ..CommitOptions::default()
    };
    let ahead = i64::try_from(MONTH.as_millis()).expect("it fits");
    with_clock(
        Arc::new(AtomicI64::new(ahead)),
        Box::pin(vacuum(&snapshot, request, &options)),
    )
    .await
}

/// The files outside of the log.
async fn files(table: &TableBuilder) -> Result<BTreeSet<String>> {
    let location = table.location();
    let listed: Vec<_> = location
        .store()
        .list(Some(location.root()))
        .try_collect()
        .await
        .expect("listed");
    let names = listed.into_iter().map(|object| object.location.to_string());
    let names = names.map(|name| {
        name.trim_start_matches(location.root().as_ref())
            .trim_start_matches('/')
            .to_owned()
    });
    Ok(names.filter(|name| !name.starts_with("_delta_log/")).collect())
}

async fn operations(table: &TableBuilder) -> Result<Vec<String>> {
    let commits = history(&table.location(), None, LoadOptions::default()).await?;
    let name = |text: Option<String>| {
        let info: serde_json::Value = serde_json::from_str(&text?).ok()?;
        let status = info["operationParameters"]["status"].as_str().unwrap_or_default();
        Some(
            format!("{} {status}", info["operation"].as_str()?)
                .trim_end()
                .to_owned(),
        )
    };
    Ok(commits
        .into_iter()
        .filter_map(|commit| name(commit.commit_info))
        .collect())
}

fn deleted(error: &Error) -> Option<&ContextValue> {
    value_of(error, "deleted")
}

fn value_of<'e>(error: &'e Error, name: &str) -> Option<&'e ContextValue> {
    let mut values = error.context().iter();
    values.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_deletion_is_reported_and_another_vacuum_completes() -> Result<()> {
    let table = table().await?;
    table.scripted().fail(
        Rule::new(Fault::PermissionDenied)
            .of(&[RequestKind::Delete])
            .at("orphan-7.parquet"),
    );
    let error = vacuumed(&table).await.expect_err("a file was not deleted");
    assert_eq!(error.kind(), ErrorKind::StorageError);
    let all = ORPHANS + 1;
    assert_eq!(
        deleted(&error),
        Some(&ContextValue::Number(i64::try_from(all - 1).expect("few")))
    );
    assert_eq!(value_of(&error, "left"), Some(&ContextValue::Number(1)));
    assert!(
        error
            .hint_text()
            .is_some_and(|hint| hint.contains("vacuum again")),
        "{error}"
    );
    assert_eq!(operations(&table).await?, ["VACUUM END FAILED", "VACUUM START"]);
    assert_eq!(
        files(&table).await?,
        BTreeSet::from(["live.parquet".to_owned(), "p/orphan-7.parquet".to_owned()])
    );
    table.scripted().heal();
    assert_eq!(vacuumed(&table).await?.deleted_files, 1);
    assert_eq!(files(&table).await?, BTreeSet::from(["live.parquet".to_owned()]));
    assert_eq!(
        operations(&table).await?.first().map(String::as_str),
        Some("VACUUM END COMPLETED")
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_denies_every_deletion_is_not_asked_for_each() -> Result<()> {
    let table = table().await?;
    table.scripted().fail(
        Rule::new(Fault::PermissionDenied)
            .of(&[RequestKind::Delete])
            .at(".parquet"),
    );
    table.scripted().forget();
    let error = vacuumed(&table).await.expect_err("nothing was deleted");
    assert_eq!(deleted(&error), Some(&ContextValue::Number(0)));
    let left = i64::try_from(ORPHANS + 1).expect("few");
    assert_eq!(value_of(&error, "left"), Some(&ContextValue::Number(left)));
    let asked = table
        .scripted()
        .report()
        .at(RequestKind::Delete, ".parquet")
        .count();
    assert!(asked < ORPHANS, "{asked} requests");
    Ok(())
}

/// The store stops responding at any request, whether or not the request was executed: the live file remains, and
/// another vacuum deletes the rest.
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_at_any_request_leaves_what_is_needed() -> Result<()> {
    for fault in [Fault::RequestLost, Fault::AnswerLost] {
        for number in (0..).step_by(3) {
            let table = table().await?;
            table
                .scripted()
                .fail(Rule::new(fault).requests(number..usize::MAX));
            let _ = vacuumed(&table).await;
            let was_met = table.scripted().faults_met() > 0;
            table.scripted().heal();
            assert!(
                files(&table).await?.contains("live.parquet"),
                "{fault:?} at {number}"
            );
            vacuumed(&table).await?;
            assert_eq!(
                files(&table).await?,
                BTreeSet::from(["live.parquet".to_owned()]),
                "{fault:?} at {number}"
            );
            if !was_met {
                assert!(number > ORPHANS, "a vacuum makes requests");
                break;
            }
        }
    }
    Ok(())
}

/// The number of a vacuum's first request for the commit of the start.
async fn number_of_start() -> Result<usize> {
    let table = table().await?;
    table.scripted().forget();
    vacuumed(&table).await?;
    let requests = table.scripted().report().requests;
    let is_start = |request: &deltaic_testkit::requests::Request| {
        request.kind == RequestKind::Put && request.path.contains("00000000000000000002.json")
    };
    Ok(requests
        .iter()
        .position(is_start)
        .expect("the start is committed"))
}

/// Another writer adds a removed file again while the vacuum is planned: the file remains.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_added_again_before_the_start_remains() -> Result<()> {
    let table = table().await?;
    let start = number_of_start().await?;
    let mut hold = table.scripted().hold(start, HoldPoint::Before);
    let location = table.location();
    let add_again = async {
        hold.reached().await;
        let text = add("removed.parquet", None).to_string();
        table
            .put("_delta_log/00000000000000000002.json", text.into_bytes())
            .await?;
        drop(hold);
        Ok::<(), Error>(())
    };
    let (vacuumed, added) = futures::join!(vacuumed(&table), add_again);
    added?;
    let vacuumed = vacuumed?;
    assert_eq!(vacuumed.deleted_files, ORPHANS);
    let expected = ["live.parquet", "removed.parquet"].map(str::to_owned);
    assert_eq!(files(&table).await?, BTreeSet::from(expected));
    let newest = Snapshot::load(location, None, LoadOptions::default()).await?;
    assert_eq!((newest.num_files(), newest.version().as_i64()), (2, 4));
    Ok(())
}

/// A clone adds a removed file of the table while the vacuum is planned: the file remains.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_clone_adds_before_the_start_remains() -> Result<()> {
    let table = table().await?;
    let mut clone = TableBuilder::new();
    clone.commit(TableBuilder::first_actions()).await?;
    let request = VacuumRequest {
        clones: vec![clone.location()],
        ..VacuumRequest::default()
    };
    let mut hold = table.scripted().hold(number_of_start().await?, HoldPoint::Before);
    let add_again = async {
        hold.reached().await;
        clone
            .commit(vec![add("file:/source/removed.parquet", None)])
            .await?;
        drop(hold);
        Ok::<(), Error>(())
    };
    let (vacuumed, added) = futures::join!(vacuumed_as(&table, &request), add_again);
    added?;
    assert_eq!(vacuumed?.deleted_files, ORPHANS);
    let expected = ["live.parquet", "removed.parquet"].map(str::to_owned);
    assert_eq!(files(&table).await?, BTreeSet::from(expected));
    Ok(())
}

/// A clone that cannot be read after the start ends the vacuum: nothing is deleted, and the end is recorded.
#[tokio::test(flavor = "multi_thread")]
async fn a_clone_that_cannot_be_read_after_the_start_ends_the_vacuum() -> Result<()> {
    let table = table().await?;
    let mut clone = TableBuilder::new();
    clone.commit(TableBuilder::first_actions()).await?;
    let before = files(&table).await?;
    let request = VacuumRequest {
        clones: vec![clone.location()],
        ..VacuumRequest::default()
    };
    let mut hold = table.scripted().hold(number_of_start().await?, HoldPoint::Before);
    let deny = async {
        hold.reached().await;
        clone.scripted().fail(Rule::new(Fault::PermissionDenied));
        drop(hold);
    };
    let (vacuumed, ()) = futures::join!(vacuumed_as(&table, &request), deny);
    let error = vacuumed.expect_err("the clone cannot be read");
    assert_eq!(error.kind(), ErrorKind::StorageError);
    assert_eq!(deleted(&error), None, "{error}");
    assert_eq!(files(&table).await?, before);
    assert_eq!(operations(&table).await?, ["VACUUM END FAILED", "VACUUM START"]);
    Ok(())
}
