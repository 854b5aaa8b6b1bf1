//! Constraints: conditions that every row of a table must satisfy.
//!
//! Protocol: *CHECK Constraints*, *Column Invariants*.

mod change;
mod check;
mod invariants;

pub(crate) use change::{add, drop};
pub use check::{CheckConstraint, check_constraints};
pub use invariants::invariants;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;
    use crate::samples::metadata;
    use crate::schema::StructType;

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
