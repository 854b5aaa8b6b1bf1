//! A log that other writers change while it is listed, or between its listing and the reading of its files.

use std::sync::Arc;
use std::time::Duration;

use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_protocol::Result;
use deltaic_testkit::hold::HoldPoint;
use deltaic_testkit::listing_form::ListingForm;
use deltaic_testkit::own_commits::{append_to, log_names};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use futures::future::{Either, select};
use serde_json::json;

use super::others::{Splitting, open, others_commit_and_cut, wait};

/// The commits that were listed are cleaned up before they are read: the log is listed again.
#[tokio::test]
async fn a_table_is_opened_while_its_log_is_cleaned_up() -> Result<()> {
    for is_refreshed in [false, true] {
        let table = TableBuilder::with_properties(&json!({}), 2).await?;
        let (location, held) = (table.location(), table.open().await?);
        append_to(&held, "newer", PostCommitPolicy::none()).await?;
        let mut listed = table.scripted().hold(0, HoldPoint::After);
        let opened = {
            let location = Arc::clone(&location);
            tokio::spawn(async move {
                match is_refreshed {
                    true => held.refresh().await,
                    false => open(&location).await,
                }
            })
        };
        listed.reached().await;
        others_commit_and_cut(&location, 2, Splitting::ByAnotherTool).await?;
        drop(listed);
        let opened = opened.await.expect("it does not panic")?;
        assert_eq!(
            (opened.version().as_i64(), opened.num_files()),
            (5, 5),
            "refreshed: {is_refreshed}"
        );
    }
    Ok(())
}

/// A cleanup may come before any request of an opening, and delete the checkpoint that was listed or its sidecars.
#[tokio::test]
async fn a_table_is_opened_while_its_checkpoint_is_cleaned_up() -> Result<()> {
    for request in 0.. {
        let table = with_sidecars().await?;
        let location = table.location();
        let mut hold = table.scripted().hold(request, HoldPoint::Before);
        let mut opening = Box::pin(open(&location));
        let ended = match select(&mut opening, Box::pin(hold.reached())).await {
            Either::Left((opened, _)) => Some(opened?),
            Either::Right(_) => None,
        };
        if let Some(opened) = ended {
            assert_eq!(opened.version().as_i64(), 2);
            assert!(
                request > 3,
                "the hint, the log, the checkpoint and its sidecars are read"
            );
            break;
        }
        let before = log_names(&table, ".parquet").await?;
        others_commit_and_cut(&location, 1, Splitting::ByAnotherTool).await?;
        for name in before {
            table.delete(&format!("_delta_log/{name}")).await?;
            table.delete(&format!("_delta_log/_sidecars/{name}")).await?;
        }
        drop(hold);
        let opened = opening.await?;
        assert_eq!(
            (opened.version().as_i64(), opened.num_files()),
            (3, 3),
            "request {request}"
        );
    }
    Ok(())
}

/// A table at version 2 with a checkpoint that has two sidecars.
async fn with_sidecars() -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}});
    first[1]["metaData"]["configuration"] = json!({"delta.checkpointPolicy": "v2"});
    table.commit(first).await?;
    for name in ["a", "b"] {
        table.commit(vec![add(name, None)]).await?;
    }
    let options = CheckpointOptions {
        sidecar_actions: 1,
        ..CheckpointOptions::default()
    };
    write_checkpoint(&table.open().await?, &options).await?;
    Ok(table)
}

/// A log that is damaged is not listed again and again.
#[tokio::test]
async fn a_missing_commit_costs_one_more_listing() -> Result<()> {
    let table = TableBuilder::with_properties(&json!({}), 2).await?;
    table.delete("_delta_log/00000000000000000001.json").await?;
    table.scripted().forget();
    table.open().await.expect_err("version 1 is missing");
    assert_eq!(table.scripted().report().count(RequestKind::ListFolder), 2);
    Ok(())
}

/// A listing that is made while another writer commits may show the checkpoint and not the commit before it.
#[tokio::test]
async fn a_checkpoint_that_is_listed_without_its_commit_is_not_a_gap() -> Result<()> {
    let properties = json!({"delta.logRetentionDuration": "interval 0 seconds"});
    let table = TableBuilder::with_properties(&properties, 1).await?;
    let held = table.open().await?;
    append_to(&held, "other", PostCommitPolicy::none()).await?;
    write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    table.scripted().set_listing(ListingForm {
        without: vec!["00000000000000000002.json".to_owned()],
        ..ListingForm::default()
    });
    let mut listed = table.scripted().hold(0, HoldPoint::After);
    let append = tokio::spawn(async move { append_to(&held, "late", PostCommitPolicy::none()).await });
    listed.reached().await;
    table.scripted().set_listing(ListingForm::default());
    drop(listed);
    let committed = append.await.expect("it does not panic")?;
    assert_eq!(committed.version.as_i64(), 3);
    assert_eq!(table.open().await?.num_files(), 3);
    Ok(())
}

/// If the file of the version that was read is gone, the table is opened once to see whether it is the same.
#[tokio::test(start_paused = true)]
async fn a_table_whose_version_was_cleaned_up_is_opened_once() -> Result<()> {
    let table = TableBuilder::with_properties(&json!({}), 1).await?;
    let (location, held) = (table.location(), table.open().await?);
    others_commit_and_cut(&location, 1, Splitting::ByAnotherTool).await?;
    wait(Duration::from_secs(10)).await;
    table.scripted().forget();
    let committed = append_to(&held, "late", PostCommitPolicy::none()).await?;
    assert_eq!(committed.version.as_i64(), 3);
    let report = table.scripted().report();
    let openings = report.at(RequestKind::Get, "_last_checkpoint").count();
    assert_eq!(openings, 1);
    Ok(())
}
