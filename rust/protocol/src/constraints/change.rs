//! Adds and drops CHECK constraints.
//!
//! Protocol: *CHECK Constraints*. The caller verifies that every row of the table satisfies a new
//! constraint.

use super::check::{PREFIX, check_constraints};
use crate::TableConfiguration;
use crate::error::nearest;
use crate::expr::{Predicate, Subject};
use crate::if_absent::IfAbsent;
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result};

/// Adds a constraint. Its name is stored in lower case, as other writers expect.
///
/// # Errors
///
/// Returns `InvalidArgument` if the name is invalid or in use; `InvalidPredicate` if the expression is
/// not a condition on the columns of the table; `UnsupportedExpression` if its SQL is not implemented,
/// because deltaic could not enforce it.
pub(crate) fn add(
    table: &mut TableConfiguration,
    schema: &StructType,
    name: &str,
    expression: &str,
) -> Result<()> {
    let wrong = |message: String, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, message).hint(hint));
    let key = name.trim().to_lowercase();
    if key.is_empty() || key.chars().any(char::is_control) {
        return wrong(
            format!("{name:?} cannot be the name of a constraint"),
            "choose a name such as amount_is_positive",
        );
    }
    if let Some(known) = check_constraints(table.metadata()).find(|check| check.name.to_lowercase() == key) {
        return wrong(
            format!(
                "there is a constraint {} already: {}",
                known.name, known.expression
            ),
            "drop it first, or choose another name",
        );
    }
    let expression = expression.trim();
    Predicate::parse_as(expression, Subject::Constraint)?.bind(schema)?;
    table.require(&["checkConstraints"])?;
    table.set_property(&format!("{PREFIX}{key}"), expression);
    Ok(())
}

/// Drops a constraint; case is ignored.
///
/// # Errors
///
/// Returns `InvalidArgument` with the most similar name if the constraint does not exist, unless that is
/// to be ignored.
pub(crate) fn drop(table: &mut TableConfiguration, name: &str, if_absent: IfAbsent) -> Result<()> {
    let wanted = name.trim().to_lowercase();
    let names: Vec<String> = check_constraints(table.metadata())
        .map(|check| check.name.to_owned())
        .collect();
    match names.iter().find(|known| known.to_lowercase() == wanted) {
        Some(known) => {
            table
                .metadata_mut()
                .configuration
                .remove(&format!("{PREFIX}{known}"));
            Ok(())
        }
        None if if_absent == IfAbsent::Ignore => Ok(()),
        None => {
            let near = nearest(name, names.iter().map(String::as_str));
            let hint = match near {
                Some(near) => format!("did you mean {near}?"),
                None if names.is_empty() => "the table has no constraints".to_owned(),
                None => format!("its constraints are: {}", names.join(", ")),
            };
            Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("the table has no constraint {name:?}"),
            )
            .hint(hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::samples::{metadata, protocol};

    fn table(writer: i32) -> Result<(TableConfiguration, Arc<StructType>)> {
        let mut table = TableConfiguration::new(protocol(1, writer, &["appendOnly"]), metadata(&[]));
        table.metadata_mut().schema_string =
            r#"{"type":"struct","fields":[{"name":"Id","type":"long","nullable":true,"metadata":{}},
                {"name":"birthDate","type":"date","nullable":true,"metadata":{}}]}"#
                .to_owned();
        let schema = table.schema()?;
        Ok((table, schema))
    }

    /// protocol: check-constraints.1, check-constraints.2, check-constraints.6, check-constraints.8
    #[test]
    fn a_constraint_is_a_property_and_the_table_has_the_feature() -> Result<()> {
        for (writer, expected) in [
            (2, protocol(1, 3, &[])),
            (3, protocol(1, 3, &[])),
            (6, protocol(1, 6, &[])),
            (7, protocol(1, 7, &["appendOnly", "checkConstraints"])),
        ] {
            let (mut table, schema) = table(writer)?;
            add(
                &mut table,
                &schema,
                " birthDateCheck",
                " birthDate > '1900-01-01' ",
            )?;
            assert_eq!(*table.protocol(), expected);
            let checks: Vec<(&str, &str)> = check_constraints(table.metadata())
                .map(|check| (check.name, check.expression))
                .collect();
            assert_eq!(checks, [("birthdatecheck", "birthDate > '1900-01-01'")]);
        }
        Ok(())
    }

    /// protocol: check-constraints.3
    #[test]
    fn unverifiable_constraints_are_refused() -> Result<()> {
        let (mut table, schema) = table(3)?;
        add(&mut table, &schema, "taken", "id > 0")?;
        let before = table.clone();
        for (name, expression, kind) in [
            ("", "id > 0", ErrorKind::InvalidArgument),
            ("  ", "id > 0", ErrorKind::InvalidArgument),
            ("a\nb", "id > 0", ErrorKind::InvalidArgument),
            ("TAKEN", "id > 1", ErrorKind::InvalidArgument),
            ("c", "nothing > 0", ErrorKind::InvalidPredicate),
            ("c", "id", ErrorKind::InvalidPredicate),
            ("c", "id + 1", ErrorKind::InvalidPredicate),
            ("c", "id >", ErrorKind::InvalidPredicate),
            ("c", "", ErrorKind::InvalidPredicate),
            ("c", "frobnicate(id) > 0", ErrorKind::UnsupportedExpression),
        ] {
            let found = add(&mut table, &schema, name, expression)
                .err()
                .map(|error| error.kind());
            assert_eq!(found, Some(kind), "{name} {expression}");
            assert_eq!(table, before);
        }
        Ok(())
    }

    #[test]
    fn a_constraint_is_dropped_whatever_the_case_of_its_name() -> Result<()> {
        let (mut table, _) = table(3)?;
        table.set_property("delta.constraints.isPositive", "id > 0");
        let near = drop(&mut table, "isPositiv", IfAbsent::Error).err();
        assert!(near.is_some_and(|error| error.hint_text() == Some("did you mean isPositive?")));
        drop(&mut table, "isPositiv", IfAbsent::Ignore)?;
        drop(&mut table, "ISPOSITIVE", IfAbsent::Error)?;
        assert!(check_constraints(table.metadata()).next().is_none());
        assert!(drop(&mut table, "isPositive", IfAbsent::Error).is_err());
        Ok(())
    }
}
