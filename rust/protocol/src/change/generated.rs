//! Generation expressions: whether they can be computed, and have the types of their columns.
//!
//! Protocol: *Generated Columns*. delta-spark refuses every later change of the metadata if the types differ.

use crate::TableConfiguration;
use crate::expr::{BoundValue, Subject, ValueExpr};
use crate::features::supports_for_writers;
use crate::schema::{DataType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// Verifies that each expression of a new table can be computed from the columns that have values of their
/// own, and has the type of its column.
///
/// # Errors
///
/// `SchemaMismatch` with the `field` if the types differ; `InvalidPredicate` or `UnsupportedExpression` for
/// an expression.
pub(super) fn ensure_generated(schema: &StructType) -> Result<()> {
    let sources = sources(schema);
    for (field, expression) in generated(schema) {
        let bound = bind(expression, &sources).map_err(|error| error.with("field", field.name.as_str()))?;
        if !is_same(bound.data_type(), &field.data_type) {
            let hint = match field.data_type {
                DataType::Primitive(to) => format!("write CAST({expression} AS {to})"),
                _ => "use an expression of the column's own type".to_owned(),
            };
            return Err(mismatch(field, expression, bound.data_type()).hint(hint));
        }
        bound.assigned_to(&field.name, &field.data_type)?;
    }
    Ok(())
}

/// Verifies that a change gives no column another type than that of its expression. A table of another
/// writer may already have such columns.
///
/// # Errors
///
/// `SchemaMismatch` with the `field`.
pub(super) fn ensure_types_agree(before: &TableConfiguration, after: &TableConfiguration) -> Result<()> {
    let (old, new) = (before.schema()?, after.schema()?);
    if old == new || !supports_for_writers(after.protocol(), "generatedColumns") {
        return Ok(());
    }
    let known: Vec<&str> = mismatches(&old).map(|(_, expression, _)| expression).collect();
    let found = mismatches(&new).find(|(_, expression, _)| !known.contains(expression));
    match found {
        None => Ok(()),
        Some((field, expression, data_type)) => Err(mismatch(field, expression, &data_type)
            .hint("drop the generated column first, or rewrite the table")),
    }
}

/// The generated columns whose types are not those of their expressions. Expressions that cannot be computed
/// are skipped.
fn mismatches(schema: &StructType) -> impl Iterator<Item = (&StructField, &str, DataType)> {
    let sources = sources(schema);
    generated(schema).filter_map(move |(field, expression)| {
        let found = bind(expression, &sources).ok()?.data_type().clone();
        (!is_same(&found, &field.data_type)).then_some((field, expression, found))
    })
}

fn generated(schema: &StructType) -> impl Iterator<Item = (&StructField, &str)> {
    let fields = schema.fields.iter();
    fields.filter_map(|field| Some((field, field.generation_expression()?)))
}

/// The columns that an expression may use.
fn sources(schema: &StructType) -> StructType {
    let has_values = |field: &&StructField| {
        field.generation_expression().is_none() && !matches!(field.identity(), Ok(Some(_)))
    };
    StructType {
        fields: schema.fields.iter().filter(has_values).cloned().collect(),
    }
}

fn bind(expression: &str, sources: &StructType) -> Result<BoundValue> {
    ValueExpr::parse_as(expression, Subject::GenerationExpression)?.bind(sources)
}

fn mismatch(field: &StructField, expression: &str, found: &DataType) -> Error {
    let what = format!(
        "the generated column {} is {}, but its expression {expression} is {found}",
        field.name, field.data_type
    );
    Error::new(ErrorKind::SchemaMismatch, what)
        .with("field", field.name.as_str())
        .with("expression", expression)
}

/// Whether two types differ at most in what may be NULL, in metadata and in the case of names.
fn is_same(one: &DataType, other: &DataType) -> bool {
    match (one, other) {
        (DataType::Array(one), DataType::Array(other)) => is_same(&one.element_type, &other.element_type),
        (DataType::Map(one), DataType::Map(other)) => {
            is_same(&one.key_type, &other.key_type) && is_same(&one.value_type, &other.value_type)
        }
        (DataType::Struct(one), DataType::Struct(other)) => {
            let same = |(one, other): (&StructField, &StructField)| {
                one.name.to_lowercase() == other.name.to_lowercase()
                    && is_same(&one.data_type, &other.data_type)
            };
            one.fields.len() == other.fields.len() && one.fields.iter().zip(&other.fields).all(same)
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::change::columns_from_json;

    /// A schema with the column `made` of a type and an expression.
    fn created(data_type: &str, expression: &str) -> Result<StructType> {
        let of = |name: &str, data_type: &str, generated: Option<&str>, nullable: bool| {
            json!({"name": name, "type": data_type, "nullable": nullable, "generated": generated,
                   "default": null, "identity": null, "comment": "of a ride"})
        };
        let columns = json!([
            of("n", "int", None, false),
            of("price", "decimal(10,2)", None, true),
            of("at", "timestamp", None, true),
            of("s", "struct<a: int, b: array<string>>", None, true),
            of("made", data_type, Some(expression), true),
        ]);
        columns_from_json(&columns.to_string(), &[])
    }

    /// protocol: generated-columns.2
    #[test]
    fn an_expression_has_the_type_of_its_column() -> Result<()> {
        for (data_type, expression) in [
            ("int", "n"),
            ("int", "n + n"),
            ("bigint", "CAST(n AS bigint)"),
            ("decimal(11,2)", "price + price"),
            ("date", "CAST(at AS DATE)"),
            ("varchar(9)", "CAST(n AS string)"),
            ("int", "CAST(NULL AS INT)"),
            ("struct<a: int COMMENT 'of s', b: array<string>>", "s"),
            ("struct<A: int, b: array<string>>", "s"),
        ] {
            created(data_type, expression)?;
        }
        for (data_type, expression, found) in [
            ("bigint", "n", "int"),
            ("bigint", "n + 1", "int"),
            ("double", "n", "int"),
            ("int", "NULL", "void"),
            ("tinyint", "7", "int"),
            ("decimal(10,2)", "price + price", "decimal(11,2)"),
            ("decimal(10,2)", "n", "int"),
            ("timestamp", "CAST(at AS DATE)", "date"),
            ("string", "n", "int"),
            (
                "struct<a:bigint,b:array<string>>",
                "s",
                "struct<a:int,b:array<string>>",
            ),
            (
                "struct<b:array<string>,a:int>",
                "s",
                "struct<a:int,b:array<string>>",
            ),
            ("array<int>", "s.b", "array<string>"),
        ] {
            let error = created(data_type, expression).expect_err(expression);
            assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
            let what = format!("made is {data_type}, but its expression {expression} is {found}");
            assert_eq!(error.what(), format!("the generated column {what}"));
            assert!(error.context().contains(&("field", "made".into())));
            let cast = format!("write CAST({expression} AS {data_type})");
            let is_nested = data_type.contains('<');
            assert_eq!(error.hint_text() == Some(cast.as_str()), !is_nested, "{error:?}");
        }
        Ok(())
    }

    #[test]
    fn errors_name_the_generation_expression() {
        let error = created("int", "foo(").expect_err("it ends too early");
        let message = "the generation expression cannot be read: it ends where a value is expected";
        assert!(error.what().starts_with(message), "{error}");
    }
}
