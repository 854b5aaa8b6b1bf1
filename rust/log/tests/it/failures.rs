//! A failing store: every request in turn, with every fault. The result is an error that reports the fault, or the
//! correct table; never a wrong table and never a panic.

use deltaic_log::history::history;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::checksum_writer::ChecksumForm;
use deltaic_testkit::compaction_writer::CompactionForm;
use deltaic_testkit::facts::{Facts, facts, statistics_facts};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::maintenance::{HintForm, LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::json;

const LAYOUTS: [Option<Layout>; 6] = [
    None,
    Some(Layout::Classic),
    Some(Layout::MultiPart(3)),
    Some(Layout::V2(CheckpointFormat::Json, 2)),
    Some(Layout::V2(CheckpointFormat::Parquet, 2)),
    Some(Layout::V2(CheckpointFormat::Parquet, 0)),
];

/// Faults that the client receives as an error.
const LOUD: [Fault; 6] = [
    Fault::RequestLost,
    Fault::NotFound,
    Fault::ServerError,
    Fault::Throttled,
    Fault::PermissionDenied,
    Fault::Reset,
];

/// A log with a checkpoint, a compaction, a checksum and later commits; optionally cleaned up.
async fn table(layout: Option<Layout>, cleanup: Option<LastCommit>) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions_with_vectors()).await?;
    table
        .commit(vec![add("a", None), add("b", None), add("c", Some("v"))])
        .await?;
    table
        .commit(vec![
            remove("a", None),
            json!({"txn": {"appId": "app", "version": 1}}),
        ])
        .await?;
    if let Some(layout) = layout {
        let mut form = CheckpointForm::of(layout);
        form.row_group_rows = 2;
        table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
        table.maintain(&MaintenanceStep::Hint(HintForm::Signed)).await?;
    }
    if let Some(last) = cleanup {
        table.maintain(&MaintenanceStep::CleanUp(last)).await?;
    }
    table.commit(vec![remove("b", None), add("d", None)]).await?;
    table.commit(vec![add("e", None)]).await?;
    table
        .maintain(&MaintenanceStep::Compaction(1, CompactionForm::Right))
        .await?;
    table
        .maintain(&MaintenanceStep::Checksum(ChecksumForm::Full))
        .await?;
    table.commit(vec![add("f", None), remove("c", Some("v"))]).await?;
    Ok(table)
}

/// An error of the store is reported as such. If the store reports a missing file or returns half of it, the log itself
/// may be damaged.
fn assert_typed(error: &Error, fault: Fault, how: &str) {
    let kind = error.kind();
    let is_like_damage = matches!(fault, Fault::NotFound | Fault::Truncated | Fault::Lengthened);
    assert!(
        kind == ErrorKind::StorageError || (is_like_damage && kind == ErrorKind::CorruptLog),
        "{how}: {kind:?}: {error}"
    );
    assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
}

/// Rules for a request: a transient fault of this request, and a permanent one from it on.
fn rules(fault: Fault, number: usize) -> [Rule; 2] {
    [
        Rule::new(fault).requests(number..number + 1),
        Rule::new(fault).requests(number..usize::MAX),
    ]
}

async fn every_request_fails(table: &TableBuilder, fault: Fault, how: &str) -> Result<()> {
    let right: Facts = replay(table.commits()).facts();
    for number in 0.. {
        let mut was_met = false;
        for (which, rule) in rules(fault, number).into_iter().enumerate() {
            let how = format!(
                "{how}, {fault:?} at request {number}{}",
                if which == 0 { "" } else { " and after" }
            );
            let before = table.scripted().faults_met();
            table.scripted().fail(rule);
            let found = match table.open().await {
                Ok(snapshot) => facts(&snapshot)
                    .await
                    .map(|found| (found, snapshot.warnings().len())),
                Err(error) => Err(error),
            };
            table.scripted().heal();
            was_met |= table.scripted().faults_met() > before;
            match found {
                Ok((found, warnings)) => {
                    assert_eq!(found, right, "{how}");
                    // A transient fault may be retried; a permanent one that is skipped is reported. A missing hint is
                    // not a failure.
                    let is_for_good = which == 1 && table.scripted().faults_met() > before;
                    assert!(
                        !is_for_good || matches!(fault, Fault::NotFound | Fault::Slow) || warnings > 0,
                        "{how}: nobody is told"
                    );
                }
                Err(error) => {
                    assert_ne!(fault, Fault::Slow, "{how}: {error}");
                    assert_typed(&error, fault, &how);
                }
            }
        }
        if !was_met {
            assert!(number > 2, "an open makes requests");
            return Ok(());
        }
    }
    Ok(())
}

/// A truncated body is detected by its length: half of a commit may be another valid commit.
#[tokio::test]
async fn a_body_that_ends_early_is_not_taken_for_the_file() -> Result<()> {
    opens_meet(&[Fault::Truncated]).await
}

/// A body that is longer than announced is not a longer file.
#[tokio::test]
async fn a_body_that_is_too_long_is_not_taken_for_the_file() -> Result<()> {
    opens_meet(&[Fault::Lengthened]).await?;
    refreshes_meet(&[Fault::Lengthened]).await?;
    statistics_meet(&[Fault::Lengthened]).await
}

/// Whichever response is an hour late, the table is the same.
#[tokio::test(start_paused = true)]
async fn a_slow_response_is_accepted() -> Result<()> {
    opens_meet(&[Fault::Slow]).await?;
    refreshes_meet(&[Fault::Slow]).await?;
    statistics_meet(&[Fault::Slow]).await
}

/// A history is correct and complete, or an error.
#[tokio::test(start_paused = true)]
async fn a_history_that_meets_a_fault_is_not_a_other_history() -> Result<()> {
    for layout in LAYOUTS {
        let table = table(layout, None).await?;
        let right = history(&table.location(), None, LoadOptions::default()).await?;
        for fault in Fault::OF_READS {
            for number in 0.. {
                let before = table.scripted().faults_met();
                for rule in rules(fault, number) {
                    let how = format!("{layout:?}, {fault:?} at request {number}");
                    table.scripted().fail(rule);
                    let found = history(&table.location(), None, LoadOptions::default()).await;
                    table.scripted().heal();
                    match found {
                        Ok(found) => assert_eq!(found, right, "{how}"),
                        Err(error) => assert_typed(&error, fault, &how),
                    }
                }
                if table.scripted().faults_met() == before {
                    assert!(number > 2, "a history makes requests");
                    break;
                }
            }
        }
    }
    Ok(())
}

/// A checkpoint large enough to be read in ranges, replaced by another file between two of them.
#[tokio::test]
async fn ranges_of_two_files_make_no_checkpoint() -> Result<()> {
    for layout in [Layout::Classic, Layout::V2(CheckpointFormat::Parquet, 1)] {
        let mut met = 0;
        for number in 1.. {
            let mut table = TableBuilder::new();
            table.commit(TableBuilder::first_actions()).await?;
            let name = |file: u64| format!("{:016x}{:016x}", mixed(file), mixed(file + (1 << 32)));
            table
                .commit((0..12_000).map(|file| add(&name(file), None)).collect())
                .await?;
            let mut form = CheckpointForm::of(layout);
            form.row_group_rows = 3_000;
            table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
            let right = replay(table.commits()).facts();
            let at = if matches!(layout, Layout::V2(..)) {
                "_sidecars/"
            } else {
                "checkpoint.parquet"
            };
            let how = format!("{layout:?}, before the range {number}");
            table
                .scripted()
                .fail(Rule::new(Fault::Overwritten).at(at).requests(number..number + 1));
            match table.open().await {
                Ok(opened) => assert!(facts(&opened).await? == right, "{how}: another table"),
                Err(error) => assert_typed(&error, Fault::NotFound, &how),
            }
            if table.scripted().faults_met() == 0 {
                break;
            }
            met += 1;
        }
        assert!(met > 0, "{layout:?}: it was read in one range");
    }
    Ok(())
}

/// Incompressible bits.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[tokio::test]
async fn an_open_with_a_fault_never_changes_the_result() -> Result<()> {
    opens_meet(&LOUD).await
}

async fn opens_meet(faults: &[Fault]) -> Result<()> {
    for layout in LAYOUTS {
        let cleanups = [None, Some(LastCommit::Kept), Some(LastCommit::Deleted)];
        for cleanup in cleanups
            .into_iter()
            .filter(|cleanup| cleanup.is_none() || layout.is_some())
        {
            let table = table(layout, cleanup).await?;
            for fault in faults {
                every_request_fails(&table, *fault, &format!("{layout:?}, {cleanup:?}")).await?;
            }
        }
    }
    Ok(())
}

/// A commit large enough to be fetched in parts is complete or missing.
#[tokio::test]
async fn a_piece_of_a_large_commit_that_ends_early_is_not_taken_for_the_piece() -> Result<()> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    let tag = "x".repeat(1 << 20);
    let large = |number: usize| {
        let mut add = add(&format!("f{number}"), None);
        add["add"]["tags"] = json!({"large": tag.as_str()});
        add
    };
    table.commit((0..34).map(large).collect()).await?;
    let right = replay(table.commits()).facts();
    assert_eq!(facts(&table.open().await?).await?, right);
    for number in 0.. {
        let how = format!("the reading {number} of the commit ends early");
        let before = table.scripted().faults_met();
        let rule = Rule::new(Fault::Truncated).at("00000000000000000001.json");
        table.scripted().fail(rule.requests(number..number + 1));
        let opened = table.open().await;
        table.scripted().heal();
        match opened {
            Ok(snapshot) => assert_eq!(facts(&snapshot).await?, right, "{how}"),
            Err(error) => assert_typed(&error, Fault::Truncated, &how),
        }
        if table.scripted().faults_met() == before {
            break;
        }
    }
    Ok(())
}

/// A failing refresh leaves the snapshot unchanged, and the next one succeeds.
#[tokio::test]
async fn a_refresh_with_a_fault_never_changes_the_result() -> Result<()> {
    refreshes_meet(&LOUD).await
}

#[tokio::test]
async fn a_refresh_from_a_truncated_body_never_changes_the_result() -> Result<()> {
    refreshes_meet(&[Fault::Truncated]).await
}

async fn refreshes_meet(faults: &[Fault]) -> Result<()> {
    for layout in LAYOUTS {
        for &fault in faults {
            for number in 0.. {
                let mut table = table(layout, None).await?;
                let old = table.open().await?;
                let was = replay(table.commits()).facts();
                table.commit(vec![add("g", None), remove("d", None)]).await?;
                table.commit(vec![add("h", None)]).await?;
                if let Some(layout) = layout {
                    table
                        .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(layout)))
                        .await?;
                }
                let right = replay(table.commits()).facts();
                let how = format!("{layout:?}, {fault:?} at request {number}");
                let before = table.scripted().faults_met();
                table
                    .scripted()
                    .fail(Rule::new(fault).requests(number..number + 1));
                let refreshed = old.refresh().await;
                let was_met = table.scripted().faults_met() > before;
                table.scripted().heal();
                match refreshed {
                    Ok(new) => assert_eq!(facts(&new).await?, right, "{how}"),
                    Err(error) => assert_typed(&error, fault, &how),
                }
                assert_eq!(facts(&old).await?, was, "{how}: the old snapshot has changed");
                assert_eq!(
                    facts(&old.refresh().await?).await?,
                    right,
                    "{how}: refreshed again"
                );
                if !was_met {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Statistics are read lazily: a store that fails then is an error, and the files are unchanged.
#[tokio::test]
async fn statistics_that_meet_a_fault_lose_no_file() -> Result<()> {
    statistics_meet(&LOUD).await
}

#[tokio::test]
async fn statistics_out_of_a_body_that_ends_early_lose_no_file() -> Result<()> {
    statistics_meet(&[Fault::Truncated]).await
}

async fn statistics_meet(faults: &[Fault]) -> Result<()> {
    for layout in LAYOUTS {
        let table = table(layout, None).await?;
        let snapshot = table.open().await?;
        let right: Vec<_> = replay(table.commits()).files.into_keys().collect();
        for &fault in faults {
            for number in 0.. {
                let how = format!("{layout:?}, {fault:?} at request {number}");
                let before = table.scripted().faults_met();
                table
                    .scripted()
                    .fail(Rule::new(fault).requests(number..number + 1));
                let found = statistics_facts(&snapshot).await;
                let was_met = table.scripted().faults_met() > before;
                table.scripted().heal();
                match found {
                    Ok(found) => assert_eq!(found.into_keys().collect::<Vec<_>>(), right, "{how}"),
                    Err(error) => assert_typed(&error, fault, &how),
                }
                if !was_met {
                    break;
                }
            }
        }
    }
    Ok(())
}
