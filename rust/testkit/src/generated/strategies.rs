//! Generated histories, and generated forms of their logs.

use deltaic_protocol::log_path::CheckpointFormat;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::steps::{step, written};
use crate::log_files::checkpoint_writer::{CheckpointForm, Layout, StatisticsForm};
use crate::log_files::checksum_writer::ChecksumForm;
use crate::log_files::compaction_writer::CompactionForm;
use crate::tables::maintenance::{HintForm, LastCommit, MaintenanceStep};

/// A history of a table: commits of adds, removes, re-adds, deletion vectors, transactions, domains, changed metadata
/// and protocols, unknown actions and fields over a few names, so that they collide. The first commit contains protocol
/// and metadata; the table is optionally partitioned by `p`.
pub fn history() -> impl Strategy<Value = Vec<Vec<Value>>> {
    (any::<bool>(), vec(vec(step(), 0..6), 0..12))
        .prop_map(|(partitioned, commits)| written(partitioned, &commits))
}

/// A history, and the maintenance after each commit.
pub fn history_with_maintenance() -> impl Strategy<Value = Vec<(Vec<Value>, Vec<MaintenanceStep>)>> {
    let commit = (vec(step(), 0..6), vec(maintenance_step(), 0..4));
    (any::<bool>(), vec(commit, 1..10)).prop_map(|(partitioned, commits)| {
        let (steps, maintenance): (Vec<_>, Vec<_>) = commits.into_iter().unzip();
        let nothing = std::iter::once(Vec::new());
        written(partitioned, &steps)
            .into_iter()
            .zip(nothing.chain(maintenance))
            .collect()
    })
}

/// A form of a checkpoint; rare forms are as frequent as others.
pub fn checkpoint_form() -> impl Strategy<Value = CheckpointForm> {
    let format = prop_oneof![Just(CheckpointFormat::Json), Just(CheckpointFormat::Parquet)];
    let layout = prop_oneof![
        Just(Layout::Classic),
        (1usize..4).prop_map(Layout::MultiPart),
        (0usize..4).prop_map(Layout::ClassicV2),
        (format, 0usize..4).prop_map(|(format, sidecars)| Layout::V2(format, sidecars)),
    ];
    let statistics = prop_oneof![
        Just(StatisticsForm::None),
        Just(StatisticsForm::Text),
        Just(StatisticsForm::Columns),
        Just(StatisticsForm::Both),
    ];
    let rows = prop_oneof![Just(1usize), Just(3), Just(1 << 20)];
    let form = (layout, statistics, any::<bool>(), any::<bool>(), rows);
    form.prop_map(
        |(layout, statistics, partition_columns, is_sparse, row_group_rows)| CheckpointForm {
            layout,
            statistics,
            partition_columns,
            is_sparse,
            row_group_rows,
        },
    )
}

/// A maintenance step.
pub fn maintenance_step() -> impl Strategy<Value = MaintenanceStep> {
    let compaction = prop_oneof![
        3 => Just(CompactionForm::Right),
        1 => Just(CompactionForm::Torn),
        1 => Just(CompactionForm::Unreconciled),
    ];
    let checksum = prop_oneof![
        Just(ChecksumForm::Minimal),
        Just(ChecksumForm::Full),
        Just(ChecksumForm::Torn),
        Just(ChecksumForm::Miscounted),
    ];
    prop_oneof![
        4 => checkpoint_form().prop_map(MaintenanceStep::Checkpoint),
        1 => checkpoint_form().prop_map(MaintenanceStep::BrokenCheckpoint),
        3 => (1usize..5, compaction).prop_map(|(more, form)| MaintenanceStep::Compaction(more, form)),
        2 => checksum.prop_map(MaintenanceStep::Checksum),
        4 => hint_form().prop_map(MaintenanceStep::Hint),
        1 => prop_oneof![Just(LastCommit::Kept), Just(LastCommit::Deleted)].prop_map(MaintenanceStep::CleanUp),
    ]
}

/// A form of `_last_checkpoint`.
pub fn hint_form() -> impl Strategy<Value = HintForm> {
    prop_oneof![
        Just(HintForm::Absent),
        Just(HintForm::Right),
        Just(HintForm::Signed),
        Just(HintForm::Missigned),
        Just(HintForm::Stale),
        Just(HintForm::Ahead),
        Just(HintForm::Torn),
    ]
}
