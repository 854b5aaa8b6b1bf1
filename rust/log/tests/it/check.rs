//! A check reports exactly the damage of generated logs, whatever faults the store has.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::time::Duration;

use deltaic_log::check::{Examination, OlderNames, Progress, check_log};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::checksum_writer::ChecksumForm;
use deltaic_testkit::compaction_writer::CompactionForm;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::maintenance::{HintForm, LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::strategies::history_with_maintenance;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use proptest::prelude::*;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime can be made")
}

async fn check(table: &TableBuilder) -> Result<Examination> {
    let progress = Progress::default();
    let options = LoadOptions::default();
    check_log(&table.location(), options, OlderNames::Dropped, &progress).await
}

fn codes(examination: &Examination) -> BTreeSet<&'static str> {
    examination.findings.counts().keys().copied().collect()
}

/// The findings that a maintenance step may cause.
fn explained(maintenance: &MaintenanceStep) -> &'static [&'static str] {
    match maintenance {
        // A checkpoint that replaces another one leaves the other's sidecars orphaned.
        MaintenanceStep::Checkpoint(_) => &["ORPHANED_SIDECAR"],
        MaintenanceStep::BrokenCheckpoint(_) => &[
            "BROKEN_CHECKPOINT",
            "INCOMPLETE_CHECKPOINT",
            "MISSING_SIDECAR",
            "DANGLING_HINT",
            "ORPHANED_SIDECAR",
        ],
        // If no commit is left, the range is empty.
        MaintenanceStep::Compaction(_, CompactionForm::Right) => &["REVERSED_COMPACTION"],
        MaintenanceStep::Compaction(_, CompactionForm::Torn) => {
            &["BROKEN_COMPACTION", "COMPACTION_DISAGREES", "REVERSED_COMPACTION"]
        }
        MaintenanceStep::Compaction(_, _) => &["COMPACTION_DISAGREES", "REVERSED_COMPACTION"],
        MaintenanceStep::Checksum(ChecksumForm::Minimal) => &["CHECKSUM_WITHOUT_ID"],
        MaintenanceStep::Checksum(ChecksumForm::Full) => &["CHECKSUM_WITHOUT_ID"],
        MaintenanceStep::Checksum(_) => &["BROKEN_CHECKSUM", "CHECKSUM_DISAGREES", "CHECKSUM_WITHOUT_ID"],
        MaintenanceStep::Hint(HintForm::Absent) => &[],
        // They name one checkpoint and have the counts of another.
        MaintenanceStep::Hint(HintForm::Stale | HintForm::Ahead) => {
            &["STALE_HINT", "DANGLING_HINT", "HINT_DISAGREES"]
        }
        MaintenanceStep::Hint(HintForm::Right | HintForm::Signed) => &["STALE_HINT", "DANGLING_HINT"],
        MaintenanceStep::Hint(_) => &["STALE_HINT", "DANGLING_HINT", "BROKEN_HINT"],
        MaintenanceStep::CleanUp(_) => &["DANGLING_HINT", "ORPHANED_SIDECAR"],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_check_finds_exactly_the_injected_damage(history in history_with_maintenance()) {
        runtime().block_on(async {
            let (mut plain, mut table) = (TableBuilder::new(), TableBuilder::new());
            let mut allowed: BTreeSet<&str> = BTreeSet::new();
            for (actions, maintenance) in &history {
                plain.commit(actions.clone()).await?;
                table.commit(actions.clone()).await?;
                for step in maintenance {
                    table.maintain(step).await?;
                    allowed.extend(explained(step));
                }
            }
            // Anomalies of the commits themselves are found in both cases.
            let before = check(&plain).await?;
            let expected = replay(plain.commits()).files.len();
            assert_eq!(before.examined.live_files, Some(expected));
            assert_eq!(before.live_files().count(), expected);
            allowed.extend(codes(&before));
            let found = check(&table).await?;
            let unexplained: Vec<&str> = codes(&found).difference(&allowed).copied().collect();
            assert!(unexplained.is_empty(), "{unexplained:?}: {:?}", found.findings.into_sorted());
            assert_eq!(found.examined.live_files, Some(expected));
            Result::<()>::Ok(())
        }).map_err(|error: deltaic_protocol::Error| TestCaseError::fail(error.to_string()))?;
    }
}

/// A log with a file of each kind.
async fn table() -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    table.commit(vec![add("a", None), add("b", None)]).await?;
    let form = CheckpointForm::of(Layout::V2(deltaic_protocol::log_path::CheckpointFormat::Json, 2));
    table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
    table.maintain(&MaintenanceStep::Hint(HintForm::Signed)).await?;
    table.commit(vec![remove("b", None), add("d", None)]).await?;
    table
        .maintain(&MaintenanceStep::Compaction(1, CompactionForm::Right))
        .await?;
    table
        .maintain(&MaintenanceStep::Checksum(ChecksumForm::Full))
        .await?;
    Ok(table)
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the clock is paused: nothing is waited for"
)]
fn a_concurrent_checkpoint_is_no_dangling_hint() -> Result<()> {
    runtime().block_on(async {
        let mut table = TableBuilder::new();
        table.commit(TableBuilder::first_actions()).await?;
        table.commit(vec![add("a", None)]).await?;
        table.scripted().set_latency(Duration::from_secs(10));
        let location = table.location();
        let progress = Progress::default();
        let checked = check_log(&location, LoadOptions::default(), OlderNames::Dropped, &progress);
        let written = async {
            // By then the log is listed; the hint, which comes last, is not read yet.
            tokio::time::sleep(Duration::from_secs(15)).await;
            table.commit(vec![add("b", None)]).await?;
            let form = CheckpointForm::of(Layout::Classic);
            table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
            table.maintain(&MaintenanceStep::Hint(HintForm::Right)).await
        };
        let (checked, written) = tokio::join!(checked, written);
        written?;
        let checked = checked?;
        assert_eq!(codes(&checked), BTreeSet::new());
        assert_eq!(checked.examined.checkpoints, 0);
        Ok(())
    })
}

#[test]
fn whatever_request_fails_there_is_a_report_or_an_error_of_the_store() -> Result<()> {
    runtime().block_on(async {
        let table = table().await?;
        let sound = codes(&check(&table).await?);
        for fault in Fault::OF_READS {
            for number in 0.. {
                let met = table.scripted().faults_met();
                table
                    .scripted()
                    .fail(Rule::new(fault).requests(number..number + 1));
                let checked = check(&table).await;
                table.scripted().heal();
                if let Err(error) = &checked {
                    assert!(
                        matches!(error.kind(), ErrorKind::StorageError | ErrorKind::TableNotFound),
                        "{fault:?} at request {number}: {error}"
                    );
                }
                if table.scripted().faults_met() == met {
                    break;
                }
            }
        }
        assert_eq!(codes(&check(&table).await?), sound);
        Ok(())
    })
}

#[test]
fn a_file_that_the_store_retains_to_itself_is_reported_and_the_rest_is_read() -> Result<()> {
    runtime().block_on(async {
        let table = table().await?;
        for name in [
            "00000000000000000001.json",
            "00000000000000000002.crc",
            "_sidecars/",
        ] {
            table.scripted().fail(
                Rule::new(Fault::PermissionDenied)
                    .at(name)
                    .of(&[RequestKind::Get]),
            );
            let found = check(&table).await?;
            table.scripted().heal();
            assert!(codes(&found).contains("UNREADABLE_FILE"), "{name}");
            assert_eq!(found.examined.commits, 3, "{name}");
        }
        table.scripted().fail(Rule::new(Fault::PermissionDenied));
        let refused = check(&table).await.err();
        assert_eq!(refused.map(|error| error.kind()), Some(ErrorKind::StorageError));
        Ok(())
    })
}

#[test]
fn a_log_that_starts_at_a_checkpoint_is_sound() -> Result<()> {
    runtime().block_on(async {
        for last in [LastCommit::Kept, LastCommit::Deleted] {
            let mut table = table().await?;
            table.maintain(&MaintenanceStep::CleanUp(last)).await?;
            let found = check(&table).await?;
            assert!(!codes(&found).contains("MISSING_COMMIT"), "{last:?}");
            assert_eq!(found.examined.live_files, Some(2), "{last:?}");
        }
        Ok(())
    })
}
