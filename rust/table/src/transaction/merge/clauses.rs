//! The clauses of a merge: what happens to which rows, bound to the columns of both sides.

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_protocol::expr::{
    BoundPredicate, BoundValue, JoinCondition, Predicate, Side, Sides, TARGET, ValueExpr,
};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::transaction::update::{Assignment, bound_to_columns, ensure_no_identity, to_columns};
use crate::write::generated_names;

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

/// A merge that is bound to the columns of both sides.
pub(super) struct BoundMerge {
    pub(super) sides: Sides,
    pub(super) on: JoinCondition,
    pub(super) matched: Vec<BoundClause>,
    pub(super) not_matched: Vec<BoundClause>,
    pub(super) not_matched_by_source: Vec<BoundClause>,
}

pub(super) struct BoundClause {
    pub(super) condition: Option<BoundPredicate>,
    pub(super) action: BoundAction,
}

/// What is done with a row. A value is of the column of the table at its position; without one the column is not set.
pub(super) enum BoundAction {
    Update(Vec<Option<BoundValue>>),
    Insert(Vec<Option<BoundValue>>),
    Delete,
}

impl BoundMerge {
    /// Binds a merge.
    ///
    /// # Errors
    ///
    /// `ValueError` for clauses that do not go together or set an unknown column; `InvalidPredicate`,
    /// `UnsupportedExpression`; `SchemaMismatch` for a value of another type than its column.
    pub(super) fn try_new(merge: &Merge, snapshot: &Snapshot, source: &StructType) -> Result<Self> {
        let table = snapshot.schema();
        ensure_ordered(&merge.clauses)?;
        let sides = Sides::try_new((&merge.target_alias, table), (&merge.source_alias, source))?;
        let mut bound = Self {
            on: sides.join(&merge.on)?,
            sides,
            matched: Vec::new(),
            not_matched: Vec::new(),
            not_matched_by_source: Vec::new(),
        };
        for clause in &merge.clauses {
            let visible = match clause.kind {
                ClauseKind::Matched => bound.sides.clone(),
                ClauseKind::NotMatched => bound.sides.only(Side::Source),
                ClauseKind::NotMatchedBySource => bound.sides.only(Side::Target),
            };
            let condition = clause.condition.as_ref();
            let made = BoundClause {
                condition: condition.map(|text| visible.condition(text)).transpose()?,
                action: bound_action(clause, &visible, snapshot, source)?,
            };
            match clause.kind {
                ClauseKind::Matched => bound.matched.push(made),
                ClauseKind::NotMatched => bound.not_matched.push(made),
                ClauseKind::NotMatchedBySource => bound.not_matched_by_source.push(made),
            }
        }
        Ok(bound)
    }

    /// What a clause does with rows of the table; those for rows without a match follow the matched ones.
    pub(super) fn action(&self, clause: usize) -> Option<&BoundAction> {
        let clauses = &mut self.matched.iter().chain(&self.not_matched_by_source);
        clauses.nth(clause).map(|clause| &clause.action)
    }

    /// Whether a row of the table may match several rows of the source: if only rows are inserted, or if any match deletes
    /// the row. As in Spark, conditions of clauses do not count.
    pub(super) fn allows_several_matches(&self) -> bool {
        match self.matched.as_slice() {
            [] => self.not_matched_by_source.is_empty(),
            [clause] => clause.condition.is_none() && matches!(clause.action, BoundAction::Delete),
            _ => false,
        }
    }

    /// The columns of the table that decide what happens to its rows.
    pub(super) fn deciding_columns(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut visit = |path: &Vec<String>| {
            if let [side, column, ..] = path.as_slice()
                && side == TARGET
            {
                found.insert(column.clone());
            }
        };
        for key in &self.on.keys {
            key.target.for_each_path(&mut |path| visit(path));
        }
        let clauses = self.matched.iter().chain(&self.not_matched_by_source);
        let conditions = clauses.filter_map(|clause| clause.condition.as_ref());
        for condition in conditions.chain(&self.on.rest) {
            condition.for_each_path(&mut |path| visit(path));
        }
        found
    }
}

/// Binds what a clause does.
fn bound_action(
    clause: &MergeClause,
    visible: &Sides,
    snapshot: &Snapshot,
    source: &StructType,
) -> Result<BoundAction> {
    let table = snapshot.schema();
    let set = |assignments: &[Assignment]| {
        let columns = to_columns(table, assignments, Some(visible.alias_of(Side::Target)))?;
        bound_to_columns(table, &columns, |value| visible.value(value))
    };
    let all = || -> Result<Vec<Assignment>> {
        let is_generated = generated_names(snapshot.configuration(), table)?;
        let mut assignments = Vec::with_capacity(table.fields.len());
        for field in &table.fields {
            if source.field_ignoring_case(&field.name).is_none() {
                if is_generated.contains(&field.name) || field.identity()?.is_some() {
                    continue;
                }
                let what = format!(
                    "the source has no column {}, which all columns include",
                    field.name
                );
                return Err(Error::new(ErrorKind::SchemaMismatch, what)
                    .with("field", field.name.as_str())
                    .hint("name the columns to set, or add the column to the source"));
            }
            let name = visible.name_of(Side::Source, &field.name).to_string();
            assignments.push(Assignment {
                column: field.name.clone(),
                value: ValueExpr::parse(&name)?,
            });
        }
        Ok(assignments)
    };
    let action = match &clause.action {
        MergeAction::Update(assignments) => BoundAction::Update(set(assignments)?),
        MergeAction::UpdateAll => BoundAction::Update(set(&all()?)?),
        MergeAction::Insert(assignments) => BoundAction::Insert(set(assignments)?),
        MergeAction::InsertAll => BoundAction::Insert(set(&all()?)?),
        MergeAction::Delete => BoundAction::Delete,
    };
    match &action {
        BoundAction::Update(values) => ensure_no_identity(table, values)?,
        BoundAction::Insert(values) => ensure_not_always_generated(table, values)?,
        BoundAction::Delete => {}
    }
    Ok(action)
}

/// Verifies that no row is inserted with a value that is always generated, even if no row is inserted.
fn ensure_not_always_generated(table: &StructType, values: &[Option<BoundValue>]) -> Result<()> {
    for (field, value) in table.fields.iter().zip(values) {
        let identity = field.identity()?;
        if value.is_some() && identity.is_some_and(|identity| !identity.allow_explicit_insert) {
            let what = format!(
                "the values of the identity column {} are always generated",
                field.name
            );
            return Err(Error::new(ErrorKind::SchemaMismatch, what)
                .with("field", field.name.as_str())
                .hint("leave the column out of the values to insert"));
        }
    }
    Ok(())
}

/// Verifies that the clauses go together.
fn ensure_ordered(clauses: &[MergeClause]) -> Result<()> {
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
