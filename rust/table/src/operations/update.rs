//! Sets columns of the rows that match a predicate.
//!
//! Files with deletion vectors keep their other rows: the matching rows are deleted as by a deletion, and their new
//! versions are written to new files. Other files are read once and rewritten, with their rows in the same order. Updated
//! rows keep their row ids; their row commit version is that of the update.
//!
//! Protocol: *Add File and Remove File*, *Add CDC File*, *Row Tracking*.

use deltaic_log::transaction::Operation;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::clock::now_ms;

use super::delete::DeleteSummary;
use super::verb::Verb;
use crate::rows::assigned_fields::to_columns;
pub use crate::rows::assignments::Assignment;
use crate::rows::assignments::bound_to_columns;
use crate::rows::decisions::SelectedRows;
use crate::rows::row_changes::RowChanges;
use crate::transaction::TableTransaction;
use crate::transaction::metrics::Count;

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
        let changes = self.changes(transaction)?;
        let plan = transaction.plan_delete(self.predicate.as_ref()).await?;
        let summary = DeleteSummary::of(&plan);
        if plan.is_empty() {
            return Ok(summary);
        }
        let started = now_ms();
        transaction.begin_rewriting(&plan, plan.deleted_rows.unwrap_or(0));
        transaction.staged.described.record(Operation::Update);
        let selected = SelectedRows::of(&plan);
        let memory = transaction.options.memory;
        let updated = transaction
            .rewrite_rows(&plan, &changes, &selected, memory)
            .await?;
        let metrics = &mut transaction.staged.described.metrics;
        metrics.add(Count::UpdatedRows, updated);
        metrics.add(Count::RewriteTime, now_ms() - started);
        drop(selected);
        transaction.stage_removal(plan).await?;
        Ok(summary)
    }
}

impl Update {
    /// The new values, bound to the columns of the table.
    fn changes(&self, transaction: &TableTransaction) -> Result<RowChanges> {
        let snapshot = &transaction.snapshot;
        let values = bound_to_columns(
            snapshot,
            &to_columns(snapshot.schema(), &self.assignments, None)?,
            |value| value.bind(snapshot.schema()),
            |value, field| value.assigned_to(&field.name, &field.data_type),
        )?;
        let empty_text = transaction.options.empty_partition_text;
        RowChanges::try_new(snapshot, [Some(values)], None, empty_text)
    }
}
