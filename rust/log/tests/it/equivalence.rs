//! Every form of a log gives the same history: every way of opening a table is compared with the oracle.

use deltaic_log::Snapshot;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::compaction_writer::CompactionForm;
use deltaic_testkit::facts::facts;
use deltaic_testkit::maintenance::{HintForm, LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::property::holds;
use deltaic_testkit::strategies::{checkpoint_form, hint_form, history, history_with_maintenance};
use deltaic_testkit::table_builder::TableBuilder;
use proptest::prelude::*;
use serde_json::Value;

async fn assert_is(snapshot: &Snapshot, commits: &[Vec<Value>], how: &str) -> Result<()> {
    assert_eq!(
        snapshot.version().as_i64() + 1,
        i64::try_from(commits.len()).unwrap_or_default(),
        "{how}"
    );
    let (loaded, is) = (facts(snapshot).await?, replay(commits).facts());
    assert_eq!(
        loaded,
        is,
        "{how}, version {}; warnings: {:?}",
        snapshot.version(),
        snapshot.warnings()
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Checkpoints of any form, correct and wrong compactions, checksums and hints, and cleanup between the commits;
    /// after each of them the table is opened at every readable version, and snapshots of earlier versions are
    /// refreshed, some at every step and some across many.
    ///
    /// protocol: action-reconciliation.1, action-reconciliation.2, delta-log-entries.1
    /// protocol: checkpoints.2, checkpoints.8
    #[test]
    fn every_form_of_the_log_reports_one_history(history in history_with_maintenance(), stride in 1usize..5) {
        holds(async {
            let mut table = TableBuilder::new();
            let mut held: Vec<Snapshot> = Vec::new();
            for (now, (actions, maintenance)) in history.iter().enumerate() {
                table.commit(actions.clone()).await?;
                for step in maintenance {
                    table.maintain(step).await?;
                }
                let opened = table.open().await?;
                assert_is(&opened, table.commits(), "opened").await?;
                for (moment, snapshot) in held.iter_mut().enumerate() {
                    if moment == 0 || now % (moment + stride) == 0 {
                        *snapshot = snapshot.refresh().await?;
                        assert_is(snapshot, table.commits(), "refreshed").await?;
                    }
                }
                held.push(opened);
                for version in 0..=now {
                    let travelled = table.open_at(version).await;
                    if table.readable().contains(&version) {
                        assert_is(&travelled?, &table.commits()[..=version], "asked for").await?;
                    } else {
                        let kind = travelled.err().map(|error| error.kind());
                        assert_eq!(kind, Some(ErrorKind::VersionNotFound), "version {version}");
                    }
                }
            }
            Ok(())
        })?;
    }

    /// From a checkpoint of any form at any version with any hint, or from all commits: the same table.
    ///
    /// protocol: checkpoints.11, classic-checkpoint.1, classic-checkpoint.2
    /// protocol: uuid-named-checkpoint.1, v2-spec.1, v2-spec.2
    #[test]
    fn a_checkpoint_represents_the_commits_before_it(
        commits in history(), form in checkpoint_form(), hint in hint_form(), at in any::<prop::sample::Index>(),
        are_deleted in any::<bool>(),
    ) {
        holds(async {
            let at = at.index(commits.len());
            let mut table = TableBuilder::new();
            for (version, actions) in commits.iter().enumerate() {
                table.commit(actions.clone()).await?;
                if version == at {
                    table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
                }
            }
            table.maintain(&MaintenanceStep::Hint(hint)).await?;
            if are_deleted {
                table.maintain(&MaintenanceStep::CleanUp(LastCommit::Deleted)).await?;
            }
            let opened = table.open().await?;
            assert_is(&opened, &commits, "opened").await?;
            // A refresh without new commits returns the same snapshot.
            assert_is(&opened.refresh().await?, &commits, "refreshed").await
        })?;
    }
}

/// A hint is an optimization: a wrong one has no effect.
#[test]
fn a_hint_in_any_form_changes_nothing() -> Result<(), TestCaseError> {
    holds(async {
        let hints = [
            HintForm::Absent,
            HintForm::Right,
            HintForm::Signed,
            HintForm::Missigned,
            HintForm::Stale,
            HintForm::Ahead,
            HintForm::Torn,
        ];
        for layout in [Layout::Classic, Layout::MultiPart(3)] {
            for hint in hints {
                let mut table = TableBuilder::new();
                table.commit(TableBuilder::first_actions()).await?;
                table
                    .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(Layout::Classic)))
                    .await?;
                table
                    .commit(vec![deltaic_testkit::table_builder::add("a", None)])
                    .await?;
                table
                    .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(layout)))
                    .await?;
                table.maintain(&MaintenanceStep::Hint(hint)).await?;
                table
                    .commit(vec![deltaic_testkit::table_builder::remove("a", None)])
                    .await?;
                assert_is(
                    &table.open().await?,
                    table.commits(),
                    &format!("{layout:?} {hint:?}"),
                )
                .await?;
            }
        }
        Ok(())
    })
}

/// A compaction file with another table's metadata is ignored, and the commits are used instead.
#[test]
fn a_compaction_of_another_table_is_passed_over() -> Result<(), TestCaseError> {
    holds(async {
        let mut table = TableBuilder::new();
        table.commit(TableBuilder::first_actions()).await?;
        for name in ["a", "b", "c"] {
            table
                .commit(vec![deltaic_testkit::table_builder::add(name, None)])
                .await?;
        }
        table
            .maintain(&MaintenanceStep::Compaction(1, CompactionForm::Foreign))
            .await?;
        assert_is(&table.open().await?, table.commits(), "opened").await
    })
}
