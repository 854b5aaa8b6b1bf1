//! Constraints: conditions that every row of a table must satisfy.
//!
//! Protocol: *CHECK Constraints*, *Column Invariants*.

mod change;

pub(crate) use change::{add, drop};

use crate::Result;
use crate::actions::Metadata;
use crate::schema::{ColumnName, DataType, StructType};

const PREFIX: &str = "delta.constraints.";

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckConstraint<'a> {
    /// The name of the constraint.
    pub name: &'a str,
    /// The SQL expression that must be true for every row.
    pub expression: &'a str,
}

/// The CHECK constraints of a table, by name.
///
/// ```
/// use deltaic_protocol::actions::Metadata;
/// use deltaic_protocol::constraints::check_constraints;
/// let metadata: Metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],
///         "configuration":{"delta.constraints.positive":"id > 0"}}"#,
/// )?;
/// let found: Vec<_> = check_constraints(&metadata).map(|check| (check.name, check.expression)).collect();
/// assert_eq!(found, [("positive", "id > 0")]);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn check_constraints(metadata: &Metadata) -> impl Iterator<Item = CheckConstraint<'_>> {
    metadata.configuration.iter().filter_map(|(key, value)| {
        Some(CheckConstraint {
            name: key.strip_prefix(PREFIX)?,
            expression: value.as_deref()?,
        })
    })
}

/// The invariants of the columns and nested struct fields of a table: the column and the SQL expression
/// that must be true for every row.
///
/// # Errors
///
/// Returns `CorruptLog` with the column as `field` if an invariant cannot be parsed.
pub fn invariants(schema: &StructType) -> Result<Vec<(ColumnName, String)>> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn collect(
    fields: &StructType,
    above: &mut Vec<String>,
    found: &mut Vec<(ColumnName, String)>,
) -> Result<()> {
    for field in &fields.fields {
        above.push(field.name.clone());
        if let Some(expression) = field.invariant()? {
            found.push((ColumnName::from_parts(above.clone()), expression));
        }
        if let DataType::Struct(below) = &field.data_type {
            collect(below, above, found)?;
        }
        above.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::metadata;

    #[test]
    fn every_constraint_is_found_by_its_name() {
        let mut table = metadata(&[
            ("delta.constraints.b.c", "x > 1"),
            ("delta.constraints.a", "birthDate > '1900-01-01'"),
            ("delta.constraint.a", "no"),
        ]);
        table
            .configuration
            .insert("delta.constraints.null".to_owned(), None);
        let found: Vec<(&str, &str)> = check_constraints(&table)
            .map(|check| (check.name, check.expression))
            .collect();
        assert_eq!(found, [("a", "birthDate > '1900-01-01'"), ("b.c", "x > 1")]);
    }

    #[test]
    fn invariants_are_found_in_structs_too() -> Result<()> {
        let schema = StructType::from_json(
            r#"{"type":"struct","fields":[
                {"name":"a","type":"long","nullable":true,"metadata":{"delta.invariants":"{\"expression\":{\"expression\":\"a > 3\"}}"}},
                {"name":"s","nullable":true,"metadata":{},"type":{"type":"struct","fields":[
                    {"name":"x.y","type":"long","nullable":true,"metadata":{"delta.invariants":{"expression":{"expression":"b"}}}}]}}]}"#,
        )?;
        let found: Vec<(String, String)> = invariants(&schema)?
            .into_iter()
            .map(|(column, expression)| (column.to_string(), expression))
            .collect();
        let expected = [("a", "a > 3"), ("s.`x.y`", "b")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(found, expected);
        Ok(())
    }
}
