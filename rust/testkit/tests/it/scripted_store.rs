//! Tests the counters and faults of the scripted store.

use std::time::Duration;

use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::scripted_store::ScriptedStore;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, Result};

fn names(listed: Vec<ObjectMeta>) -> Vec<String> {
    listed
        .into_iter()
        .map(|object| object.location.to_string())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_listing_requests_page_by_page() -> Result<()> {
    let store = ScriptedStore::default();
    for number in 0..7 {
        store.put(&Path::from(format!("t/{number}")), "x".into()).await?;
    }
    store.set_page(3);
    store.set_latency(Duration::from_millis(10));
    store.forget();
    let all: Vec<ObjectMeta> = store.list(Some(&Path::from("t"))).try_collect().await?;
    assert_eq!(all.len(), 7);
    let behind = store.list_with_offset(Some(&Path::from("t")), &Path::from("t/4"));
    assert_eq!(names(behind.try_collect().await?), ["t/5", "t/6"]);
    let report = store.report();
    let (list, from) = (
        report.count(RequestKind::List),
        report.count(RequestKind::ListFrom),
    );
    assert_eq!((list, from, report.depth()), (3, 1, 4));
    // A caller that stops after the first page has requested only one.
    store.forget();
    let first: Vec<_> = store.list(Some(&Path::from("t"))).take(2).collect().await;
    assert_eq!((first.len(), store.report().requests.len()), (2, 1));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn requests_at_once_are_one_deep() -> Result<()> {
    let store = ScriptedStore::default();
    store.put(&Path::from("a"), "0123456789".into()).await?;
    store.set_latency(Duration::from_millis(10));
    store.forget();
    let path = Path::from("a");
    let (left, right) = futures::join!(store.get_range(&path, 0..4), store.get_range(&path, 3..6));
    assert_eq!((left?.len(), right?.len()), (4, 3));
    let report = store.report();
    assert_eq!(report.depth(), 1);
    assert_eq!(report.fetched_twice(), [("a".to_owned(), 3..4)]);
    Ok(())
}

#[tokio::test]
async fn faults_come_where_they_are_scripted() -> Result<()> {
    let store = ScriptedStore::default();
    let path = Path::from("a.json");
    store.put(&path, "one\ntwo\nthree\n".into()).await?;
    store.fail(Rule::new(Fault::NotFound).of(&[RequestKind::Get]).requests(1..2));
    store.fail(Rule::new(Fault::Truncated).at(".json").requests(2..3));
    store.fail(Rule::new(Fault::Reset).requests(3..4));
    assert_eq!(store.get(&path).await?.bytes().await?.len(), 14);
    let missing = store.get(&path).await;
    assert!(matches!(missing, Err(object_store::Error::NotFound { .. })));
    assert_eq!(store.get(&path).await?.bytes().await?, "one\ntwo\n");
    assert!(store.get(&path).await?.bytes().await.is_err());
    assert_eq!(store.get(&path).await?.bytes().await?.len(), 14);
    assert_eq!(store.faults_met(), 3);
    Ok(())
}
