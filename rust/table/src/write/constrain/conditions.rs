//! Checks rows against the conditions that they must satisfy: CHECK constraints, column invariants, and the predicate of
//! the rows that they replace.
//!
//! Protocol: *CHECK Constraints*, *Column Invariants*.

use arrow_array::{Array, RecordBatch};
use arrow_cast::display::array_value_to_string;
use deltaic_protocol::constraints::{check_constraints, invariants};
use deltaic_protocol::expr::{BoundPredicate, Predicate, Subject, evaluate};
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};

/// The number of characters of a value that an error shows.
const SHOWN: usize = 60;

/// Conditions that every written row must satisfy: FALSE and NULL violate them.
#[derive(Debug, Default)]
pub(in crate::write) struct Conditions(Vec<Condition>);

#[derive(Debug)]
struct Condition {
    source: ConditionSource,
    text: String,
    bound: BoundPredicate,
}

/// Where a condition comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ConditionSource {
    /// The CHECK constraint of this name.
    Check(String),
    /// The invariant of this column.
    Invariant(String),
    /// The predicate of an overwrite.
    Replaced,
}

impl Conditions {
    /// The constraints and invariants of a table.
    ///
    /// # Errors
    ///
    /// `UnsupportedExpression`, `InvalidPredicate` with the `constraint` or the `field` if a condition cannot be
    /// evaluated; `CorruptLog` for an invariant that cannot be parsed.
    pub(in crate::write) fn of_table(table: &TableConfiguration, schema: &StructType) -> Result<Self> {
        Self::of_selected(table, schema, |_| true)
    }

    /// The same for the conditions whose text is selected.
    pub(in crate::write) fn of_selected(
        table: &TableConfiguration,
        schema: &StructType,
        is_selected: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let mut conditions = Self::default();
        let binds = |feature| supports_for_writers(table.protocol(), feature);
        let checks = check_constraints(table.metadata()).filter(|check| is_selected(check.expression));
        for check in checks.filter(|_| binds("checkConstraints")) {
            let source = ConditionSource::Check(check.name.to_owned());
            let predicate = Predicate::parse_as(check.expression, Subject::Constraint)
                .map_err(|error| source.located(error))?;
            conditions.add(source, &predicate, schema)?;
        }
        if !binds("invariants") {
            return Ok(conditions);
        }
        for (column, expression) in invariants(schema)? {
            if !is_selected(&expression) {
                continue;
            }
            let source = ConditionSource::Invariant(column.to_string());
            let predicate = Predicate::parse_as(&expression, Subject::Constraint)
                .map_err(|error| source.located(error))?;
            conditions.add(source, &predicate, schema)?;
        }
        Ok(conditions)
    }

    /// Adds the condition that rows belong to those that they replace.
    pub(in crate::write) fn replace(&mut self, predicate: &Predicate, schema: &StructType) -> Result<()> {
        self.add(ConditionSource::Replaced, predicate, schema)
    }

    fn add(&mut self, source: ConditionSource, predicate: &Predicate, schema: &StructType) -> Result<()> {
        let bound = predicate.bind(schema).map_err(|error| source.located(error))?;
        self.0.push(Condition {
            source,
            text: predicate.text().to_owned(),
            bound,
        });
        Ok(())
    }

    /// Verifies all rows of a batch, which has the columns of the table.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` with the `constraint` or the `field`, and the values of the first row that violates it.
    pub(in crate::write) fn ensure(&self, rows: &RecordBatch) -> Result<()> {
        for condition in &self.0 {
            let held = evaluate(&condition.bound, rows)?;
            let is_violated = |row: &usize| held.is_null(*row) || !held.value(*row);
            if let Some(row) = (0..held.len()).find(is_violated) {
                return Err(condition.violated(rows, row));
            }
        }
        Ok(())
    }
}

/// The values of a row that a condition uses, as in errors. `None` if it uses no column.
pub(in crate::write) fn shown_row(
    condition: &BoundPredicate,
    rows: &RecordBatch,
    row: usize,
) -> Option<String> {
    let columns = condition.columns().into_iter();
    let values: Vec<String> = columns
        .filter_map(|name| {
            let value = array_value_to_string(rows.column_by_name(name)?, row).ok()?;
            let value = if rows.column_by_name(name)?.is_null(row) {
                "NULL".to_owned()
            } else {
                value.chars().take(SHOWN).collect()
            };
            Some(format!("{name} = {value}"))
        })
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}

impl Condition {
    fn violated(&self, rows: &RecordBatch, row: usize) -> Error {
        let what = match &self.source {
            ConditionSource::Check(name) => {
                format!("a row violates the CHECK constraint {name}: {}", self.text)
            }
            ConditionSource::Invariant(column) => {
                format!("a row violates the invariant of column {column}: {}", self.text)
            }
            ConditionSource::Replaced => format!(
                "a row does not match the predicate of the overwrite: {}",
                self.text
            ),
        };
        let error = Error::new(ErrorKind::ConstraintViolation, what);
        let error = match shown_row(&self.bound, rows, row) {
            None => error,
            Some(values) => error.with("row", values),
        };
        self.source.located(error).hint(match self.source {
            ConditionSource::Replaced => {
                "only rows that match the predicate can replace the rows that match it"
            }
            _ => "correct the row, or drop the constraint if it no longer applies",
        })
    }
}

impl ConditionSource {
    fn located(&self, error: Error) -> Error {
        match self {
            Self::Check(name) => error.with("constraint", name.as_str()),
            Self::Invariant(column) => error.with("field", column.as_str()),
            Self::Replaced => error,
        }
    }
}
