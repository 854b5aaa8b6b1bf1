//! Generated columns: computed if the data do not have them, and checked if they do.
//!
//! Protocol: *Generated Columns*.

pub(super) mod identity;

use std::collections::BTreeSet;

use arrow_array::{Array, ArrayRef, RecordBatch};
use deltaic_protocol::expr::{BoundPredicate, BoundValue, Predicate, Subject, ValueExpr, evaluate};
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};

use crate::write::constrain::conditions::shown_row;

/// The generated columns of the rows that are written.
#[derive(Debug, Default)]
pub(in crate::write) struct GeneratedColumns(Vec<Generated>);

#[derive(Debug)]
struct Generated {
    name: String,
    expression: String,
    /// The position in the rows.
    index: usize,
    value: BoundValue,
    /// For a column that the data have: that its value is the computed one.
    check: Option<BoundPredicate>,
}

/// The names of the generated columns of a table.
///
/// # Errors
///
/// `UnsupportedFeature` if a field within a column is generated.
pub(crate) fn names(table: &TableConfiguration, schema: &StructType) -> Result<BTreeSet<String>> {
    if !supports_for_writers(table.protocol(), "generatedColumns") {
        return Ok(BTreeSet::new());
    }
    let mut nested = None;
    schema.for_each_part(&mut |path, part| {
        if let DataType::Struct(fields) = part
            && let Some(field) = fields.fields.iter().find(|field| is_generated(field))
        {
            nested = nested.take().or(Some(format!("{path}.{}", field.name)));
        }
    });
    if let Some(path) = nested {
        let what =
            format!("the table generates the field {path}: generatedColumns of fields cannot be computed");
        return Err(Error::new(ErrorKind::UnsupportedFeature, what).with("field", path));
    }
    let generated = schema.fields.iter().filter(|field| is_generated(field));
    Ok(generated.map(|field| field.name.clone()).collect())
}

fn is_generated(field: &StructField) -> bool {
    field.generation_expression().is_some()
}

impl GeneratedColumns {
    /// Binds the expressions of the columns with these names; `is_given` returns whether the data have a column.
    ///
    /// # Errors
    ///
    /// `UnsupportedExpression`, `InvalidPredicate`, `SchemaMismatch` with the `field` if an expression cannot be computed
    /// from the columns that have values of their own.
    pub(in crate::write) fn try_new(
        schema: &StructType,
        names: &BTreeSet<String>,
        is_given: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        let mut sources = schema.clone();
        let has_values =
            |field: &StructField| !names.contains(&field.name) && !matches!(field.identity(), Ok(Some(_)));
        sources.fields.retain(has_values);
        let mut columns = Vec::with_capacity(names.len());
        for (index, field) in schema.fields.iter().enumerate() {
            if let Some(expression) = field
                .generation_expression()
                .filter(|_| names.contains(&field.name))
            {
                let column = Generated::try_new(
                    (schema, &sources),
                    index,
                    field,
                    expression,
                    is_given(&field.name),
                );
                columns.push(column.map_err(|error| {
                    error
                        .with("field", field.name.as_str())
                        .with("expression", expression)
                })?);
            }
        }
        Ok(Self(columns))
    }

    /// Whether the data lack generated columns.
    pub(in crate::write) fn are_computed(&self) -> bool {
        self.0.iter().any(|column| column.check.is_none())
    }

    /// Computes the columns that the data do not have: their positions and values.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate` with the `field` if an expression fails for a row.
    pub(in crate::write) fn compute(&self, rows: &RecordBatch) -> Result<Vec<(usize, ArrayRef)>> {
        let missing = self.0.iter().filter(|column| column.check.is_none());
        missing
            .map(|column| {
                let values = column
                    .value
                    .evaluate(rows)
                    .map_err(|error| column.located(error))?;
                Ok((column.index, values))
            })
            .collect()
    }

    /// Verifies the columns that the data have.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` with the `field`, the `expression` and the first `row` whose value is another one.
    pub(in crate::write) fn ensure(&self, rows: &RecordBatch) -> Result<()> {
        self.0.iter().try_for_each(|column| column.ensure(rows))
    }
}

impl Generated {
    /// `schemas` are those of the rows, and of the columns that an expression may use.
    fn try_new(
        (schema, sources): (&StructType, &StructType),
        index: usize,
        field: &StructField,
        expression: &str,
        is_given: bool,
    ) -> Result<Self> {
        let subject = Subject::GenerationExpression;
        let value = ValueExpr::parse_as(expression, subject)?.bind(sources)?;
        let value = value.assigned_to(&field.name, &field.data_type)?;
        let quoted = field.name.replace('`', "``");
        let check = match is_given {
            true => {
                let check = format!("`{quoted}` <=> ({expression})");
                Some(Predicate::parse_as(&check, subject)?.bind(schema)?)
            }
            false => None,
        };
        Ok(Self {
            name: field.name.clone(),
            expression: expression.to_owned(),
            index,
            value,
            check,
        })
    }

    fn located(&self, error: Error) -> Error {
        error
            .with("field", self.name.as_str())
            .with("expression", self.expression.as_str())
    }

    fn ensure(&self, rows: &RecordBatch) -> Result<()> {
        let Some(check) = &self.check else {
            return Ok(());
        };
        let held = evaluate(check, rows).map_err(|error| self.located(error))?;
        let is_other = |row: &usize| held.is_null(*row) || !held.value(*row);
        let Some(row) = (0..held.len()).find(is_other) else {
            return Ok(());
        };
        let what = format!(
            "a value of the generated column {} is not that of its expression: {}",
            self.name, self.expression
        );
        let error = self.located(Error::new(ErrorKind::ConstraintViolation, what));
        let error = match shown_row(check, rows, row) {
            None => error,
            Some(values) => error.with("row", values),
        };
        Err(error.hint("drop the column from the data: its values are computed then"))
    }
}
