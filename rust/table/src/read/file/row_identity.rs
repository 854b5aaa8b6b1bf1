//! The ids and commit versions of a file's rows: stored in the file, or derived from the log and the row's position.
//!
//! Protocol: *Row IDs*, *Row Commit Versions*, *Reader Requirements for Row Tracking*.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::read::columns::find::find_name;
use crate::scan::ScanTask;

/// The sources of row ids and row commit versions of a file.
#[derive(Clone, Debug)]
pub(crate) struct RowIdentity {
    row_id: String,
    row_commit_version: String,
    base_row_id: Option<i64>,
    default_row_commit_version: Option<i64>,
}

impl RowIdentity {
    /// Returns the row identity of a task; `None` if it is not requested.
    pub(crate) fn of(task: &ScanTask) -> Option<Self> {
        let columns = task.context.row_columns.as_ref()?;
        Some(Self {
            row_id: columns.row_id.clone(),
            row_commit_version: columns.row_commit_version.clone(),
            base_row_id: task.base_row_id,
            default_row_commit_version: task.default_row_commit_version,
        })
    }

    /// The columns of a file that store row ids and row commit versions, if it has them.
    pub(crate) fn columns(&self) -> [&str; 2] {
        [&self.row_id, &self.row_commit_version]
    }

    /// Returns the row ids of a batch, whose rows have these positions in the file.
    pub(crate) fn row_ids(&self, batch: &RecordBatch, positions: &[i64]) -> Result<ArrayRef> {
        let materialized = materialized(batch, &self.row_id)?;
        let base = match self.base_row_id {
            Some(base) => Some(base),
            None if is_whole(materialized.as_ref()) => None,
            None => return Err(absent("baseRowId", "row ids")),
        };
        let assigned = |row: usize| base?.checked_add(*positions.get(row)?);
        numbers(batch.num_rows(), materialized.as_ref(), assigned)
    }

    /// Returns the row commit versions of a batch.
    pub(crate) fn row_commit_versions(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let materialized = materialized(batch, &self.row_commit_version)?;
        let version = match self.default_row_commit_version {
            Some(version) => Some(version),
            None if is_whole(materialized.as_ref()) => None,
            None => return Err(absent("defaultRowCommitVersion", "row commit versions")),
        };
        numbers(batch.num_rows(), materialized.as_ref(), |_| version)
    }
}

/// Returns a materialized column of the file, if it exists.
fn materialized(batch: &RecordBatch, name: &str) -> Result<Option<Int64Array>> {
    let Some(index) = find_name(batch.schema_ref().fields(), name)? else {
        return Ok(None);
    };
    let column = batch.column(index);
    let numbers = column.as_primitive_opt::<Int64Type>().ok_or_else(|| {
        Error::new(
            ErrorKind::CorruptData,
            format!(
                "the file stores row ids as {}, not as 64-bit integers",
                column.data_type()
            ),
        )
        .with("field", name)
    })?;
    Ok(Some(numbers.clone()))
}

fn is_whole(materialized: Option<&Int64Array>) -> bool {
    materialized.is_some_and(|materialized| materialized.null_count() == 0)
}

/// Returns the stored value of each row, or else the derived one.
fn numbers(
    rows: usize,
    materialized: Option<&Int64Array>,
    assigned: impl Fn(usize) -> Option<i64>,
) -> Result<ArrayRef> {
    let mut numbers = Vec::with_capacity(rows);
    for row in 0..rows {
        let number = match materialized.filter(|materialized| materialized.is_valid(row)) {
            Some(materialized) => Some(materialized.value(row)),
            None => assigned(row),
        };
        numbers.push(number.ok_or_else(|| {
            Error::new(ErrorKind::CorruptLog, "a row id exceeds 64 bits").with("field", "add.baseRowId")
        })?);
    }
    Ok(Arc::new(Int64Array::from(numbers)))
}

fn absent(field: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the table has {what}, and its log has no {field} for the file"),
    )
    .with("field", format!("add.{field}"))
    .hint("restore the commit that added the file from a backup of the table")
}
