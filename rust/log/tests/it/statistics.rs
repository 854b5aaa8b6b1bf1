//! Statistics are equal in every checkpoint format.

use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_testkit::checkpoint_writer::{Layout, StatisticsForm};
use deltaic_testkit::facts::{StatisticsFacts, statistics_facts};
use deltaic_testkit::maintenance::MaintenanceStep;
use deltaic_testkit::oracle::replay;
use deltaic_testkit::property::holds;
use deltaic_testkit::strategies::{checkpoint_form, history};
use deltaic_testkit::table_builder::TableBuilder;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn statistics_are_what_the_commits_reported(
        commits in history(), form in checkpoint_form(), at in any::<prop::sample::Index>(),
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
            let snapshot = table.open().await?;
            let mut right = replay(&commits).statistics_facts();
            let in_json = matches!(form.layout, Layout::V2(CheckpointFormat::Json, 0));
            let are_lost = match form.statistics {
                StatisticsForm::None => true,
                StatisticsForm::Columns => in_json,
                StatisticsForm::Text | StatisticsForm::Both => false,
            };
            if are_lost {
                // Statistics that the checkpoint omits are unknown; those of later files are in the commits.
                let later = replay(&commits[at + 1..]).files;
                for (file, statistics) in &mut right {
                    if !later.contains_key(file) {
                        *statistics = StatisticsFacts::default();
                    }
                }
            }
            assert_eq!(statistics_facts(&snapshot).await?, right, "a checkpoint at {at}: {form:?}");
            Ok(())
        })?;
    }
}
