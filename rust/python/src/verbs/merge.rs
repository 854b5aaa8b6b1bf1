//! The request for a merge, as Python passes it.

use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::memory_budget::MemoryBudget;
use deltaic_table::operations::{ClauseKind, Merge, MergeAction, MergeClause, MergeRows, SourceRows};
use deltaic_table::transaction::SchemaMode;
use deltaic_table::write::RowStream;
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::predicate::{assignments, parsed};

/// The condition and the aliases of a merge, and its clauses.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct MergeRequest {
    on: String,
    target_alias: String,
    source_alias: String,
    clauses: Vec<Clause>,
    schema_mode: String,
}

/// A kind (`matched`, `not_matched`, `not_matched_by_source`), an action (`update`, `insert`, `delete`), a condition, and
/// the columns that are set; `None` for all columns.
type Clause = (String, String, Option<String>, Option<Vec<(String, String)>>);

impl MergeRequest {
    pub(crate) fn parse(self) -> CallResult<Merge> {
        let on = parsed(Some(&self.on))?;
        let evolves = match SchemaMode::parse(&self.schema_mode, None)? {
            SchemaMode::Keep => false,
            SchemaMode::Merge => true,
            SchemaMode::Replace(_) => {
                let what = "a merge cannot replace the schema, which the other rows have";
                return Err(Error::new(ErrorKind::InvalidArgument, what)
                    .hint("pass schema_mode=\"merge\", or overwrite the table")
                    .into());
            }
        };
        Ok(Merge {
            on: on.ok_or_else(|| Error::internal("a merge has no condition"))?,
            target_alias: self.target_alias,
            source_alias: self.source_alias,
            clauses: self.clauses.into_iter().map(clause).collect::<CallResult<_>>()?,
            evolves,
        })
    }
}

/// A merge with a source that is read within a memory budget.
pub(crate) async fn merge(merge: Merge, rows: RowStream, memory: MemoryBudget) -> Result<MergeRows> {
    Ok(MergeRows {
        merge,
        source: Arc::new(SourceRows::read(rows, memory).await?),
    })
}

fn clause((kind, action, condition, values): Clause) -> CallResult<MergeClause> {
    let values = values.map(assignments).transpose()?;
    Ok(MergeClause {
        kind: match kind.as_str() {
            "matched" => ClauseKind::Matched,
            "not_matched" => ClauseKind::NotMatched,
            "not_matched_by_source" => ClauseKind::NotMatchedBySource,
            other => return Err(Error::internal(format!("there is no kind of clauses {other}")).into()),
        },
        condition: parsed(condition.as_deref())?,
        action: match (action.as_str(), values) {
            ("update", Some(values)) => MergeAction::Update(values),
            ("update", None) => MergeAction::UpdateAll,
            ("insert", Some(values)) => MergeAction::Insert(values),
            ("insert", None) => MergeAction::InsertAll,
            ("delete", None) => MergeAction::Delete,
            (other, _) => return Err(Error::internal(format!("there is no action {other}")).into()),
        },
    })
}
