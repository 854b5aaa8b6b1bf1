//! The clauses of a merge: what happens to which rows.

use deltaic_protocol::expr::Predicate;
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::rows::assignments::Assignment;

/// A merge of rows into a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// The condition on which a row of the table and a row of the source match.
    pub on: Predicate,
    /// The name of the table in expressions.
    pub target_alias: String,
    /// The name of the source in expressions.
    pub source_alias: String,
    /// The clauses. Of those of a kind, the first whose condition is true applies to a row.
    pub clauses: Vec<MergeClause>,
    /// Whether new columns, fields of structs and wider types of the source change the schema of the table.
    pub evolves: bool,
}

/// What happens to rows of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeClause {
    /// The rows.
    pub kind: ClauseKind,
    /// The condition that they must satisfy too; only the last clause of a kind may have none.
    pub condition: Option<Predicate>,
    /// What happens to them.
    pub action: MergeAction,
}

/// The rows that a clause of a merge applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClauseKind {
    /// Rows of the table that match a row of the source.
    Matched,
    /// Rows of the source that match no row of the table.
    NotMatched,
    /// Rows of the table that match no row of the source.
    NotMatchedBySource,
}

impl ClauseKind {
    /// The words of SQL.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Matched => "WHEN MATCHED",
            Self::NotMatched => "WHEN NOT MATCHED",
            Self::NotMatchedBySource => "WHEN NOT MATCHED BY SOURCE",
        }
    }
}

/// What a clause of a merge does with a row.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeAction {
    /// Sets columns.
    Update(Vec<Assignment>),
    /// Sets all columns to those of the source.
    UpdateAll,
    /// Inserts a row with these columns.
    Insert(Vec<Assignment>),
    /// Inserts the row of the source.
    InsertAll,
    /// Deletes the row.
    Delete,
}

impl MergeAction {
    /// The name in the parameters of a commit.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Update(_) | Self::UpdateAll => "update",
            Self::Insert(_) | Self::InsertAll => "insert",
            Self::Delete => "delete",
        }
    }
}

/// Verifies that the clauses go together.
pub(super) fn ensure_ordered(clauses: &[MergeClause]) -> Result<()> {
    let invalid = |what: String, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, what).hint(hint));
    if clauses.is_empty() {
        return invalid(
            "a merge needs at least one clause".to_owned(),
            "for example .when_matched_update_all().when_not_matched_insert_all()",
        );
    }
    for (index, clause) in clauses.iter().enumerate() {
        let later = clauses.get(index + 1..).unwrap_or_default();
        if clause.condition.is_none() && later.iter().any(|other| other.kind == clause.kind) {
            return invalid(
                format!(
                    "a clause {} without a condition is not the last",
                    clause.kind.words()
                ),
                "it applies to every row, so the clauses after it never would: give it a condition",
            );
        }
        let fits = match clause.kind {
            ClauseKind::Matched => !matches!(clause.action, MergeAction::Insert(_) | MergeAction::InsertAll),
            ClauseKind::NotMatched => {
                matches!(clause.action, MergeAction::Insert(_) | MergeAction::InsertAll)
            }
            ClauseKind::NotMatchedBySource => {
                matches!(clause.action, MergeAction::Update(_) | MergeAction::Delete)
            }
        };
        if !fits {
            return invalid(
                format!("a clause {} cannot {}", clause.kind.words(), clause.action.name()),
                "rows of the table are updated or deleted, rows of the source are inserted",
            );
        }
    }
    Ok(())
}
