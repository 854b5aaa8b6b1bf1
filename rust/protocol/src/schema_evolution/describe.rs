//! Changes the comment and the default value of a column.
//!
//! Protocol: *Column Metadata*, *Default Columns*.

use serde_json::Value;

use super::find::{field_mut, find};
use crate::expr::{Subject, ValueExpr};
use crate::schema::{ColumnName, DataType, StructType};
use crate::{Error, ErrorKind, Result};

const DEFAULT: &str = "CURRENT_DEFAULT";

/// Sets or removes the comment of a column or field.
///
/// # Errors
///
/// Returns `InvalidArgument` if the column does not exist.
///
/// ```
/// use deltaic_protocol::schema::{ColumnName, PrimitiveType, StructField, StructType};
/// use deltaic_protocol::schema_evolution::set_comment;
/// let id = StructField::new("id", PrimitiveType::Long.into(), true);
/// let mut schema = StructType { fields: vec![id] };
/// set_comment(&mut schema, &ColumnName::parse("id")?, Some("of the customer"))?;
/// assert!(schema.to_json().contains("of the customer"));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn set_comment(schema: &mut StructType, column: &ColumnName, comment: Option<&str>) -> Result<()> {
    let found = find(schema, column)?;
    found.ensure_field("commented on")?;
    let metadata = &mut field_mut(schema, &found.field)?.metadata;
    match comment {
        Some(text) => metadata.insert("comment".to_owned(), Value::String(text.to_owned())),
        None => metadata.shift_remove("comment"),
    };
    Ok(())
}

/// Sets or removes the default expression of a column. Existing rows do not change.
///
/// # Errors
///
/// Returns `InvalidArgument` if the column does not exist, is a nested field or has generated values;
/// `InvalidPredicate` or `UnsupportedExpression` if the expression is not a constant of the type of the
/// column.
pub fn set_default(schema: &mut StructType, column: &ColumnName, expression: Option<&str>) -> Result<()> {
    let found = find(schema, column)?;
    found.ensure_field("given a default")?;
    let wrong = |message: String| {
        Err(Error::new(ErrorKind::InvalidArgument, message).with("field", column.to_string()))
    };
    let field = field_mut(schema, &found.field)?;
    let Some(expression) = expression.map(str::trim) else {
        field.metadata.shift_remove(DEFAULT);
        return Ok(());
    };
    if found.field.len() > 1 {
        return wrong(format!(
            "{column} is a field of a struct, and only columns have defaults"
        ));
    }
    if field.generation_expression().is_some() || field.identity()?.is_some() {
        return wrong(format!(
            "{column} is a generated or identity column, so it has no default"
        ));
    }
    let of_a_default = |error: Error| {
        let hint =
            "write a constant of the column's type as in Spark SQL, for example: 7, 'x' or DATE '2026-11-01'";
        error.hint(hint).with("field", column.to_string())
    };
    // The time of a row is that of its write; whether the expression has a value does not depend on it.
    let constant = ValueExpr::parse_as(expression, Subject::Default).and_then(|value| value.at(0));
    let constant = constant.map_err(of_a_default)?;
    match &field.data_type {
        DataType::Primitive(primitive) => constant.constant(*primitive).and_then(|_| {
            // Each write assigns it to the column.
            let value = constant.bind(&StructType::default())?;
            value
                .assigned_as_default(&field.name, &field.data_type)
                .map(|_| ())
        }),
        // For nested types, only NULL is known to be a valid value.
        _ => constant.constant(crate::schema::PrimitiveType::Void).map(|_| ()),
    }
    .map_err(|error| error.with("field", column.to_string()))?;
    field
        .metadata
        .insert(DEFAULT.to_owned(), Value::String(expression.to_owned()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Result<StructType> {
        StructType::from_json(
            r#"{"type":"struct","fields":[
                {"name":"a","type":"long","nullable":true,"metadata":{"mine":1}},
                {"name":"d","type":"date","nullable":true,"metadata":{}},
                {"name":"g","type":"long","nullable":true,"metadata":{"delta.generationExpression":"a"}},
                {"name":"i","type":"long","nullable":true,"metadata":{"delta.identity.start":1,"delta.identity.step":1,"delta.identity.allowExplicitInsert":true}},
                {"name":"s","nullable":true,"metadata":{},"type":{"type":"struct","fields":[{"name":"x","type":"long","nullable":true,"metadata":{}}]}}]}"#,
        )
    }

    /// protocol: default-columns.3, default-columns.4
    #[test]
    fn a_default_is_an_expression_of_the_columns_type() -> Result<()> {
        let mut changed = schema()?;
        set_default(&mut changed, &ColumnName::parse("A")?, Some(" 40 + 2 "))?;
        assert_eq!(changed.fields[0].current_default(), Some("40 + 2"));
        set_default(&mut changed, &ColumnName::parse("d")?, Some("DATE '2026-11-01'"))?;
        set_default(&mut changed, &ColumnName::parse("s")?, Some("NULL"))?;
        for column in ["a", "d", "s"] {
            set_default(&mut changed, &ColumnName::parse(column)?, None)?;
        }
        assert_eq!(changed, schema()?);
        for (column, expression) in [
            ("a", "'x'"),
            ("a", "d"),
            ("a", "1) OR (1"),
            ("a", ""),
            ("a", "random()"),
            ("d", "7"),
            ("g", "7"),
            ("i", "7"),
            ("s.x", "7"),
            ("s", "7"),
            ("b", "7"),
        ] {
            let error = set_default(&mut changed, &ColumnName::parse(column)?, Some(expression));
            assert!(error.is_err(), "{column} {expression}");
            assert_eq!(changed, schema()?);
        }
        Ok(())
    }

    #[test]
    fn errors_name_the_default_and_quote_its_text() -> Result<()> {
        let column = ColumnName::parse("a")?;
        for (expression, message) in [
            (
                "foo(",
                "the default cannot be read: it ends where a value is expected",
            ),
            ("foo('the predicate')", "foo('the predicate') is not implemented"),
        ] {
            let error = set_default(&mut schema()?, &column, Some(expression)).expect_err(expression);
            assert!(error.what().starts_with(message), "{error}");
        }
        Ok(())
    }

    #[test]
    fn a_comment_remains_beside_what_else_is_reported() -> Result<()> {
        let mut changed = schema()?;
        set_comment(&mut changed, &ColumnName::parse("s.X")?, Some("inner"))?;
        set_comment(&mut changed, &ColumnName::parse("a")?, Some("first"))?;
        set_comment(&mut changed, &ColumnName::parse("a")?, Some("second"))?;
        assert!(
            changed
                .to_json()
                .contains(r#""metadata":{"mine":1,"comment":"second"}"#)
        );
        set_comment(&mut changed, &ColumnName::parse("a")?, None)?;
        set_comment(&mut changed, &ColumnName::parse("s.x")?, None)?;
        assert_eq!(changed, schema()?);
        Ok(())
    }
}
