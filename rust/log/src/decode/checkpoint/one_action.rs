//! Rows that contain more than one action, which are ambiguous.
//!
//! Protocol: *Checkpoint Schema*.

use arrow_array::{Array, RecordBatch};
use arrow_buffer::BooleanBuffer;
use deltaic_protocol::Result;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use super::columns::damaged;

/// The possible actions of a row, each with a required field.
const ACTIONS: [(&str, &str); 8] = [
    ("add", "path"),
    ("remove", "path"),
    ("protocol", "minReaderVersion"),
    ("metaData", "id"),
    ("txn", "appId"),
    ("domainMetadata", "domain"),
    ("sidecar", "path"),
    ("checkpointMetadata", "version"),
];

/// The columns that determine which action a row contains.
pub(super) fn key_columns() -> impl Iterator<Item = String> {
    ACTIONS.iter().map(|(action, key)| format!("{action}.{key}"))
}

/// Whether a row group has more actions than rows according to its statistics, which may be missing.
pub(super) fn has_too_many(group: &RowGroupMetaData) -> bool {
    let rows = group.num_rows();
    let actions = ACTIONS.iter().filter_map(|(action, key)| {
        let is_key = |chunk: &&ColumnChunkMetaData| chunk.column_path().parts() == [*action, *key];
        let chunk = group.columns().iter().find(is_key)?;
        let nulls = i64::try_from(chunk.statistics()?.null_count_opt()?).ok()?;
        Some(rows.saturating_sub(nulls).max(0))
    });
    actions.fold(0, i64::saturating_add) > rows
}

/// Verifies that no row of a batch of actions contains two.
pub(super) fn ensure_one_action(batch: &RecordBatch) -> Result<()> {
    let mut taken = BooleanBuffer::new_unset(batch.num_rows());
    for (action, _) in ACTIONS {
        let Some(column) = batch.column_by_name(action) else {
            continue;
        };
        let there = match column.nulls() {
            Some(nulls) if nulls.null_count() == nulls.len() => continue,
            Some(nulls) => nulls.inner().clone(),
            None => BooleanBuffer::new_set(batch.num_rows()),
        };
        if (&taken & &there).count_set_bits() > 0 {
            return Err(
                damaged(format!("a row contains two actions, one of them {action}")).with("field", action),
            );
        }
        taken = &taken | &there;
    }
    Ok(())
}
