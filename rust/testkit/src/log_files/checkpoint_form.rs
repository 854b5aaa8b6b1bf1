//! The forms of checkpoints.

use deltaic_protocol::log_path::CheckpointFormat;

/// File layout of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One V1 file.
    Classic,
    /// A multi-part V1 checkpoint with this number of files.
    MultiPart(usize),
    /// A V2 checkpoint with a classic name and this number of sidecars.
    ClassicV2(usize),
    /// A V2 checkpoint with this number of sidecars; without sidecars, the top level contains all actions.
    V2(CheckpointFormat, usize),
}

/// How a checkpoint stores file statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticsForm {
    /// No statistics.
    None,
    /// As JSON, in `stats`.
    Text,
    /// As columns, in `stats_parsed`. Omitted in a JSON top level, which has no columns.
    Columns,
    /// Both `stats` and `stats_parsed`.
    Both,
}

/// The form of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointForm {
    /// File layout.
    pub layout: Layout,
    /// Statistics.
    pub statistics: StatisticsForm,
    /// Whether `partitionValues_parsed` is written.
    pub partition_columns: bool,
    /// Whether columns without values are omitted.
    pub is_sparse: bool,
    /// Rows per row group.
    pub row_group_rows: usize,
}

impl CheckpointForm {
    /// A form with JSON statistics and large row groups, like most writers produce.
    #[must_use]
    pub fn of(layout: Layout) -> Self {
        Self {
            layout,
            statistics: StatisticsForm::Text,
            partition_columns: false,
            is_sparse: false,
            row_group_rows: 1 << 20,
        }
    }
}
