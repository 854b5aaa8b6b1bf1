//! A merge bound to the columns of both sides.

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_protocol::expr::{
    BoundPredicate, BoundValue, JoinCondition, SOURCE, Side, Sides, TARGET, ValueExpr,
};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::clauses::{ClauseKind, Merge, MergeAction, MergeClause, ensure_ordered};
use super::evolution::{Evolution, visible_to};
use super::used_columns::UsedColumns;
use crate::rows::assigned_fields::{path_in, to_columns};
use crate::rows::assignments::{Assignment, bound_to_columns, ensure_no_identity};

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
    pub(super) fn try_new(
        merge: &Merge,
        snapshot: &Snapshot,
        source: &StructType,
        evolution: Option<&Evolution>,
    ) -> Result<Self> {
        ensure_ordered(&merge.clauses)?;
        let source_side = (merge.source_alias.as_str(), source);
        let sides = match evolution {
            None => Sides::try_new((&merge.target_alias, snapshot.schema()), source_side)?,
            Some(evolution) => {
                evolution.ensure_condition(merge)?;
                let visible = evolution.visible(snapshot.schema());
                Sides::try_new((&merge.target_alias, &visible), source_side)?
            }
        };
        let mut bound = Self {
            on: sides.join(&merge.on)?,
            sides,
            matched: Vec::new(),
            not_matched: Vec::new(),
            not_matched_by_source: Vec::new(),
        };
        for clause in &merge.clauses {
            let visible = visible_to(&bound.sides, clause.kind);
            let condition = clause.condition.as_ref();
            let made = BoundClause {
                condition: condition.map(|text| visible.condition(text)).transpose()?,
                action: bound_action(clause, &visible, snapshot, (source, evolution))?,
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

    /// Whether rows of the table are deleted by any match, and nothing else happens.
    pub(super) fn only_deletes(&self) -> bool {
        let does_nothing_else = self.not_matched.is_empty() && self.not_matched_by_source.is_empty();
        does_nothing_else && !self.matched.is_empty() && self.allows_several_matches()
    }

    /// The columns of the source from which new versions of rows are made.
    pub(super) fn columns_of_updates(&self) -> UsedColumns {
        let updates = self.matched.iter().filter_map(|clause| match &clause.action {
            BoundAction::Update(values) => Some(values.iter().flatten()),
            _ => None,
        });
        UsedColumns::of(SOURCE).with_values(updates.flatten())
    }

    /// The columns of the table that decide what happens to its rows.
    pub(super) fn deciding_columns(&self) -> BTreeSet<String> {
        let keys = self.on.keys.iter().map(|key| &key.target);
        let clauses = self.matched.iter().chain(&self.not_matched_by_source);
        let conditions = clauses.filter_map(|clause| clause.condition.as_ref());
        let conditions = conditions.chain(&self.on.rest);
        let used = UsedColumns::of(TARGET).with_values(keys);
        conditions.fold(used, UsedColumns::with_condition).into_names()
    }
}

/// Binds what a clause does.
fn bound_action(
    clause: &MergeClause,
    visible: &Sides,
    snapshot: &Snapshot,
    (source, evolution): (&StructType, Option<&Evolution>),
) -> Result<BoundAction> {
    let table = snapshot.schema();
    let bound = |assignments: &[Assignment]| {
        let columns = to_columns(table, assignments, Some(visible.alias_of(Side::Target)))?;
        let bind = |value: &ValueExpr| visible.value(value);
        bound_to_columns(snapshot, &columns, bind, |value, field| match evolution {
            None => value.assigned_to(&field.name, &field.data_type),
            Some(_) => value.assigned_with_nulls(&field.name, &field.data_type),
        })
    };
    let set = |assignments: &[Assignment]| {
        if let Some(evolution) = evolution {
            evolution.ensure_values(clause, assignments, source)?;
        }
        bound(assignments)
    };
    let all = || -> Result<Vec<Assignment>> {
        let mut assignments = Vec::with_capacity(table.fields.len());
        for field in &table.fields {
            let Some(given) = source.field_ignoring_case(&field.name) else {
                if evolution.is_some() {
                    continue;
                }
                let what = format!(
                    "the source has no column {}, which all columns include",
                    field.name
                );
                return Err(Error::new(ErrorKind::SchemaMismatch, what)
                    .with("field", field.name.as_str())
                    .hint("name the columns to set, add the column to the source, or pass schema_mode=\"merge\""));
            };
            let value = match (evolution, &clause.action) {
                (Some(evolution), MergeAction::UpdateAll) => evolution.updated(field, given, visible)?,
                _ => ValueExpr::parse(&visible.name_of(Side::Source, &field.name).in_expression())?,
            };
            assignments.push(Assignment {
                column: field.name.clone(),
                value,
            });
        }
        Ok(assignments)
    };
    let action = match &clause.action {
        MergeAction::Update(assignments) => BoundAction::Update(set(assignments)?),
        MergeAction::UpdateAll => BoundAction::Update(bound(&all()?)?),
        MergeAction::Insert(assignments) => {
            ensure_whole_columns(table, assignments, visible.alias_of(Side::Target))?;
            BoundAction::Insert(set(assignments)?)
        }
        MergeAction::InsertAll => BoundAction::Insert(bound(&all()?)?),
        MergeAction::Delete => BoundAction::Delete,
    };
    match &action {
        BoundAction::Update(values) => ensure_no_identity(table, values)?,
        BoundAction::Insert(values) => ensure_not_always_generated(table, values)?,
        BoundAction::Delete => {}
    }
    Ok(action)
}

/// Verifies that rows are inserted with values of columns: a new row has no struct in which one field could be set.
fn ensure_whole_columns(table: &StructType, assignments: &[Assignment], alias: &str) -> Result<()> {
    for Assignment { column, .. } in assignments {
        if let Some([struct_column, _, ..]) = path_in(table, column, Some(alias)).as_deref() {
            let what = format!("an insert sets whole columns, but {column} is a field of {struct_column}");
            return Err(Error::new(ErrorKind::InvalidArgument, what)
                .with("field", column.as_str())
                .hint(format!(
                    "set {struct_column} to named_struct('field', value, ...)"
                )));
        }
    }
    Ok(())
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
