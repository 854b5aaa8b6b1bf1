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
use crate::rows::plan_parts::PlanPart;
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
        let rows = self.prepared(transaction)?;
        let plan = transaction.plan_delete(self.predicate.as_ref()).await?;
        let summary = DeleteSummary::of(&plan);
        if plan.is_empty() {
            return Ok(summary);
        }
        let started = now_ms();
        let (mut files, parts) = transaction.parts_of(&plan);
        let copied = parts.iter().flat_map(|part| &part.rewritten);
        let number = copied.map(|file| file.copied_rows());
        let number = number.fold(plan.deleted_rows.unwrap_or(0), u64::saturating_add);
        transaction.options.progress.begin(Stage::Rows, number);
        let mut prepared = Some(rows);
        for part in parts {
            let rows = match prepared.take() {
                Some(rows) => rows,
                None => self.prepared(transaction)?,
            };
            let written = write(transaction, rows, &part).await?;
            transaction.record_written(RowsToWrite::OfFiles(part.rows()), &written);
            files.push(written);
        }
        transaction.require(Requirement::ADDS);
        transaction.staged.described.record(Operation::Update);
        for files in files {
            let metrics = &mut transaction.staged.described.metrics;
            metrics.add(
                Count::UpdatedRows,
                files.written.rows.saturating_sub(files.copied),
            );
            transaction.stage_written(files);
        }
        let metrics = &mut transaction.staged.described.metrics;
        metrics.add(Count::RewriteTime, now_ms() - started);
        transaction.stage_removal(plan).await?;
        Ok(summary)
    }
}

impl Update {
    /// Prepares writing the rows of a part.
    fn prepared(&self, transaction: &TableTransaction) -> Result<UpdatedRows> {
        let (snapshot, options) = (&transaction.snapshot, &transaction.options);
        let mut rows = UpdatedRows::try_new(snapshot, &self.assignments, options.empty_partition_text)?;
        rows.limit_memory(options.memory);
        Ok(rows)
    }
}

/// Writes the new versions of the rows of a part, and copies of the other rows of its rewritten files.
async fn write(
    transaction: &TableTransaction,
    mut rows: UpdatedRows,
    part: &PlanPart<'_>,
) -> Result<WrittenFiles> {
    match rows.write(part, &transaction.options.progress).await {
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
