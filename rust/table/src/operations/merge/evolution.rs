//! How a merge changes the schema: as Spark does `WITH SCHEMA EVOLUTION`.
//!
//! Protocol: *Change Metadata*, *Type Widening*.

use deltaic_log::Snapshot;
use deltaic_protocol::Result;
use deltaic_protocol::expr::{Side, Sides, ValueExpr};
use deltaic_protocol::schema::{ColumnName, DataType, StructField, StructType};

use super::clauses::{ClauseKind, Merge, MergeClause};
use super::schema_changes::schema_changes;
use crate::rows::assigned_fields::path_in;
use crate::rows::assignments::{Assignment, unknown};
use crate::transaction::TableTransaction;

/// The schema of a table before a merge changed it, which the expressions of the merge use.
pub(super) struct Evolution {
    before: StructType,
    /// The columns of both sides before the change.
    sides: Sides,
}

impl TableTransaction {
    /// Stages the changes of the schema that a merge requires, and reads the table with its new schema. The caller restores
    /// the snapshot.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` with the `field` if the schema cannot change so.
    pub(super) fn evolve_for(&mut self, merge: &Merge, source: &StructType) -> Result<Evolution> {
        let table = self.configuration();
        let before = table.schema()?;
        let sides = Sides::try_new((&merge.target_alias, &before), (&merge.source_alias, source))?;
        self.stage_schema(&schema_changes(merge, &table, source)?)
            .map_err(|error| self.located(error))?;
        self.snapshot = self.snapshot.with_configuration(self.configuration())?;
        Ok(Evolution {
            before: before.as_ref().clone(),
            sides,
        })
    }

    /// Restores the snapshot that a merge read with its new schema.
    pub(super) fn restore(&mut self, snapshot: Snapshot) {
        let after = self.configuration();
        let has_changed = after != *snapshot.configuration();
        self.snapshot = snapshot;
        if has_changed {
            self.stage_configuration(after);
        }
    }
}

impl Evolution {
    /// The columns of the table that expressions see: not the new ones.
    pub(super) fn visible(&self, table: &StructType) -> StructType {
        let mut visible = table.clone();
        visible.fields.truncate(self.before.fields.len());
        visible
    }

    /// Verifies that the condition of a clause names no new column or field of the table.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate`, `UnsupportedExpression`.
    pub(super) fn ensure_condition(&self, merge: &Merge) -> Result<()> {
        self.sides.join(&merge.on)?;
        for clause in &merge.clauses {
            if let Some(condition) = &clause.condition {
                visible_to(&self.sides, clause.kind).condition(condition)?;
            }
        }
        Ok(())
    }

    /// Verifies that a clause sets columns of the table, or of the source without its alias, to values without new columns.
    ///
    /// # Errors
    ///
    /// `ValueError` for an unknown column; those of [`Self::ensure_condition`].
    pub(super) fn ensure_values(
        &self,
        clause: &MergeClause,
        assignments: &[Assignment],
        source: &StructType,
    ) -> Result<()> {
        let alias = self.sides.alias_of(Side::Target);
        for Assignment { column, value } in assignments {
            let is_new =
                clause.kind != ClauseKind::NotMatchedBySource && path_in(source, column, None).is_some();
            if !is_new && path_in(&self.before, column, Some(alias)).is_none() {
                return Err(unknown(&self.before, column));
            }
            visible_to(&self.sides, clause.kind).value(value)?;
        }
        Ok(())
    }

    /// The new value of a column of all columns: fields of structs that the source lacks keep their values.
    ///
    /// # Errors
    ///
    /// Those of parsing names.
    pub(super) fn updated(
        &self,
        field: &StructField,
        given: &StructField,
        visible: &Sides,
    ) -> Result<ValueExpr> {
        let of = |side, name: &str| vec![visible.alias_of(side).to_owned(), name.to_owned()];
        let source = of(Side::Source, &given.name);
        let text = match self.before.field(&field.name) {
            Some(_) => {
                let target = of(Side::Target, &field.name);
                merged_value(&target, &source, &field.data_type, &given.data_type)
            }
            None => ColumnName::from_parts(source).in_expression(),
        };
        ValueExpr::parse(&text)
    }
}

/// The columns that expressions of a clause may use.
pub(super) fn visible_to(sides: &Sides, kind: ClauseKind) -> Sides {
    match kind {
        ClauseKind::Matched => sides.clone(),
        ClauseKind::NotMatched => sides.only(Side::Source),
        ClauseKind::NotMatchedBySource => sides.only(Side::Target),
    }
}

/// The SQL of a value of the source, in which fields that it lacks are those of the table. As in Spark, NULL instead of a
/// struct that lacks a field sets the fields that it has to NULL.
fn merged_value(target: &[String], source: &[String], to: &DataType, from: &DataType) -> String {
    let name = |path: &[String]| ColumnName::from_parts(path.to_vec()).in_expression();
    let below = |path: &[String], field: &str| [path, &[field.to_owned()]].concat();
    let (DataType::Struct(fields), DataType::Struct(given)) = (to, from) else {
        return name(source);
    };
    if !lacks_field(given, fields) {
        return name(source);
    }
    let parts = fields.fields.iter().map(|field| {
        let target = below(target, &field.name);
        let value = match given.field_ignoring_case(&field.name) {
            Some(given) => {
                let source = below(source, &given.name);
                merged_value(&target, &source, &field.data_type, &given.data_type)
            }
            None => name(&target),
        };
        let text = field.name.replace('\\', "\\\\").replace('\'', "\\'");
        format!("'{text}', {value}")
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    let (target, source) = (name(target), name(source));
    format!("CASE WHEN {source} IS NULL AND {target} IS NULL THEN NULL ELSE named_struct({parts}) END")
}

/// Whether a struct lacks a field of a column, at any depth.
fn lacks_field(given: &StructType, fields: &StructType) -> bool {
    fields.fields.iter().any(|field| {
        let found = given.field_ignoring_case(&field.name);
        found.is_none_or(|found| match (&found.data_type, &field.data_type) {
            (DataType::Struct(given), DataType::Struct(fields)) => lacks_field(given, fields),
            _ => false,
        })
    })
}
