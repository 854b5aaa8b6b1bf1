//! Sets columns of the rows that match a predicate.
//!
//! Files with deletion vectors keep their other rows: the matching rows are deleted as by a deletion, and their new
//! versions are written to new files. Other files are read once and rewritten, with their rows in the same order. Updated
//! rows keep their row ids; their row commit version is that of the update.
//!
//! Protocol: *Add File and Remove File*, *Add CDC File*, *Row Tracking*.

use deltaic_log::progress::Stage;
use deltaic_log::transaction::Operation;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::clock::now_ms;

use super::delete::DeleteSummary;
use super::verb::Verb;
pub use crate::rows::assignments::Assignment;
use crate::rows::delete_plan::{DeletePlan, RewrittenFile};
use crate::rows::updated_rows::UpdatedRows;
use crate::rows::written::{RowsToWrite, WrittenFiles};
use crate::transaction::TableTransaction;
use crate::transaction::metrics::Count;
use crate::transaction::requirement::Requirement;

/// Sets columns of the rows for which a predicate is true. Values are computed from the row before the update.
///
/// # Errors
///
/// Those of [`Delete`](super::Delete); `ValueError` for an unknown column; `InvalidPredicate` with the position if an
/// expression fails for a row; `SchemaMismatch` if a value does not fit its column; `ConstraintViolation` if a new row
/// violates a constraint.
#[derive(Clone, Debug)]
pub struct Update {
    /// The new values.
    pub assignments: Vec<Assignment>,
    /// The rows; all of them without one.
    pub predicate: Option<Predicate>,
}

impl Verb for Update {
    type Staged = DeleteSummary;

    fn operation(&self) -> Operation {
        Operation::Update
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        ensure_removable(table)?;
        ensure_appendable(table)
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<DeleteSummary> {
        transaction.ensure_takes_files()?;
        let empty_text = transaction.options.empty_partition_text;
        let mut rows = UpdatedRows::try_new(&transaction.snapshot, &self.assignments, empty_text)?;
        rows.limit_memory(transaction.options.memory);
        let plan = transaction.plan_delete(self.predicate.as_ref()).await?;
        let summary = DeleteSummary::of(&plan);
        if plan.is_empty() {
            return Ok(summary);
        }
        let started = now_ms();
        let key = RowsToWrite::of_plan(&plan);
        let files = match transaction.written_before(&key) {
            Some(files) => files,
            None => write(transaction, rows, &plan).await?,
        };
        transaction.require(Requirement::ADDS);
        transaction.staged.described.record(Operation::Update);
        transaction.record_written(key, &files);
        let metrics = &mut transaction.staged.described.metrics;
        metrics.add(
            Count::UpdatedRows,
            files.written.rows.saturating_sub(files.copied),
        );
        metrics.add(Count::RewriteTime, now_ms() - started);
        transaction.stage_written(files);
        transaction.stage_removal(plan).await?;
        Ok(summary)
    }
}

/// Writes the new versions of rows, and copies of the other rows of rewritten files.
async fn write(
    transaction: &TableTransaction,
    mut rows: UpdatedRows,
    plan: &DeletePlan,
) -> Result<WrittenFiles> {
    let progress = &transaction.options.progress;
    let copied = plan.rewritten.iter().map(RewrittenFile::copied_rows);
    let number = copied.fold(plan.deleted_rows.unwrap_or(0), u64::saturating_add);
    progress.begin(Stage::Rows, number);
    match rows.write(plan, progress).await {
        Ok(files) => {
            rows.stage_files(&transaction.files);
            Ok(files)
        }
        Err(error) => {
            rows.abort().await;
            Err(error)
        }
    }
}
