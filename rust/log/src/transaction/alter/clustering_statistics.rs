//! Checks that every file has the statistics that clustering requires.
//!
//! Protocol: *Writer Requirements for Clustered Table*, *Per-file Statistics*.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use deltaic_protocol::schema::ColumnName;
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::snapshot::{Pruning, Snapshot, WithStatistics};

/// Checks that every file has `numRecords` and, unless it is 0, `nullCount` and a minimum or maximum of each column.
///
/// # Errors
///
/// `SchemaMismatch` with the column as `field` and the `path` of a file that lacks them.
pub(super) async fn ensure_statistics(snapshot: &Snapshot, columns: &[ColumnName]) -> Result<()> {
    let (files, _) = snapshot
        .prune(Pruning {
            predicate: None,
            statistics: WithStatistics::All,
        })
        .await?;
    for batch in &files.batches {
        for column in columns {
            let lacking = (0..batch.len()).find(|row| {
                let Some(statistics) = &batch.statistics else {
                    return true;
                };
                let rows = long(Some(&statistics.num_records), *row);
                let nulls = long(leaf(&statistics.null_count, column), *row);
                let (Some(rows), Some(nulls)) = (rows, nulls) else {
                    return rows != Some(0);
                };
                // No bounds exist if every row is NULL, and floats may have none because NaN is not a bound.
                let has = |side| leaf(side, column).is_some_and(|side| is_float(side) || side.is_valid(*row));
                nulls < rows && !(has(&statistics.min) || has(&statistics.max))
            });
            if let Some(row) = lacking {
                return Err(Error::new(
                    ErrorKind::SchemaMismatch,
                    format!(
                        "the table cannot be clustered by {column}: a file lacks statistics of this column"
                    ),
                )
                .with("field", column.to_string())
                .with("path", batch.adds.path.value(row))
                .hint("rewrite the table's files to add the statistics, or cluster by another column"));
            }
        }
    }
    Ok(())
}

/// Returns the values of a column in a struct of statistics.
fn leaf<'a>(side: &'a ArrayRef, column: &ColumnName) -> Option<&'a ArrayRef> {
    let mut found = side;
    for part in column.parts() {
        found = found.as_struct_opt()?.column_by_name(part)?;
    }
    Some(found)
}

fn long(column: Option<&ArrayRef>, row: usize) -> Option<i64> {
    let numbers = column?.as_primitive_opt::<Int64Type>()?;
    numbers.is_valid(row).then(|| numbers.value(row))
}

fn is_float(column: &ArrayRef) -> bool {
    matches!(column.data_type(), DataType::Float32 | DataType::Float64)
}
