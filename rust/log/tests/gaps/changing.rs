//! A log that other writers change while it is listed, or between its listing and the reading of its files.

use std::sync::Arc;
use std::time::Duration;

use deltaic_log::checkpoint::{CheckpointOptions, write_checkpoint};
use deltaic_log::upkeep::UpkeepPolicy;
use deltaic_protocol::Result;
use deltaic_testkit::hold::HoldPoint;
use deltaic_testkit::listing_form::ListingForm;
use deltaic_testkit::own_commits::append_to;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::TableBuilder;
use serde_json::json;

use super::others::{Cut, open, others_commit_and_cut, wait};

/// The commits that were listed are cleaned up before they are read: the log is listed again.
#[tokio::test]
async fn a_table_is_opened_while_its_log_is_cleaned_up() -> Result<()> {
    for is_refreshed in [false, true] {
        let table = TableBuilder::with_properties(&json!({}), 2).await?;
        let (location, held) = (table.location(), table.open().await?);
        append_to(&held, "newer", UpkeepPolicy::none()).await?;
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
        others_commit_and_cut(&location, 2, Cut::ByAnotherTool).await?;
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
async fn a_checkpoint_that_is_listed_without_its_commit_is_no_gap() -> Result<()> {
    let properties = json!({"delta.logRetentionDuration": "interval 0 seconds"});
    let table = TableBuilder::with_properties(&properties, 1).await?;
    let held = table.open().await?;
    append_to(&held, "other", UpkeepPolicy::none()).await?;
    write_checkpoint(&table.open().await?, &CheckpointOptions::default()).await?;
    table.scripted().set_listing(ListingForm {
        without: vec!["00000000000000000002.json".to_owned()],
        ..ListingForm::default()
    });
    let mut listed = table.scripted().hold(0, HoldPoint::After);
    let append = tokio::spawn(async move { append_to(&held, "late", UpkeepPolicy::none()).await });
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
    others_commit_and_cut(&location, 1, Cut::ByAnotherTool).await?;
    wait(Duration::from_secs(10)).await;
    table.scripted().forget();
    let committed = append_to(&held, "late", UpkeepPolicy::none()).await?;
    assert_eq!(committed.version.as_i64(), 3);
    let report = table.scripted().report();
    let openings = report.at(RequestKind::Get, "_last_checkpoint").count();
    assert_eq!(openings, 1);
    Ok(())
}
