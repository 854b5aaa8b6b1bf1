//! The columns of a new table, as callers in other languages define them.
//!
//! Protocol: *Generated Columns*, *Default Columns*, *Identity Columns*.

use arrow_schema::Field;
use serde::Deserialize;
use serde_json::Value;

use super::generated::ensure_generated;
use super::json_type::{JsonType, wrong};
use crate::schema::{ColumnName, PrimitiveType, StructField, StructType};
use crate::schema_evolution::set_default;
use crate::{Error, ErrorKind, Result};

/// A column in JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonColumn {
    name: String,
    r#type: JsonType,
    nullable: bool,
    default: Option<String>,
    generated: Option<String>,
    identity: Option<JsonIdentity>,
    comment: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonIdentity {
    start: i64,
    step: i64,
    always: bool,
}

/// Parses the columns of a new table. Arrow types are passed as fields, which the text refers to by index.
///
/// # Errors
///
/// `InvalidArgument` if the text is not such a list, or a column has several sources of values;
/// `SchemaMismatch` with the `field` for a type that does not fit, also of an expression; `InvalidPredicate`
/// or `UnsupportedExpression` for an expression.
///
/// ```
/// use deltaic_protocol::change::columns_from_json;
/// let schema = columns_from_json(
///     r#"[{"name":"id","type":"bigint","nullable":false,"default":null,"generated":null,
///          "identity":{"start":10,"step":2,"always":true},"comment":"of the ride"}]"#,
///     &[],
/// )?;
/// assert_eq!(schema.fields[0].identity()?.map(|identity| identity.step), Some(2));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn columns_from_json(text: &str, types: &[Field]) -> Result<StructType> {
    let columns: Vec<JsonColumn> =
        serde_json::from_str(text).map_err(|error| wrong(format!("the columns are not valid: {error}")))?;
    let mut schema = StructType::default();
    for column in &columns {
        if schema.field_ignoring_case(&column.name).is_some() {
            return Err(
                wrong(format!("there are two columns {:?}", column.name)).with("field", column.name.as_str())
            );
        }
        schema.fields.push(declared(column, types)?);
    }
    for column in columns.iter().filter(|column| column.default.is_some()) {
        let name = ColumnName::from_parts(vec![column.name.clone()]);
        set_default(&mut schema, &name, column.default.as_deref())?;
    }
    ensure_generated(&schema)?;
    Ok(schema)
}

fn declared(column: &JsonColumn, types: &[Field]) -> Result<StructField> {
    let sources = [
        column.default.is_some(),
        column.generated.is_some(),
        column.identity.is_some(),
    ];
    if sources.iter().filter(|is_given| **is_given).count() > 1 {
        let what = format!(
            "the column {:?} can have one of default, generated and identity, not several",
            column.name
        );
        return Err(wrong(what).with("field", column.name.as_str()));
    }
    let mut field = column.r#type.column(&column.name, types)?;
    field.nullable = column.nullable;
    if let Some(comment) = &column.comment {
        field
            .metadata
            .insert("comment".to_owned(), Value::String(comment.clone()));
    }
    if let Some(expression) = &column.generated {
        let key = "delta.generationExpression".to_owned();
        field
            .metadata
            .insert(key, Value::String(expression.trim().to_owned()));
    }
    if let Some(identity) = &column.identity {
        if field.data_type.as_primitive() != Some(PrimitiveType::Long) {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!(
                    "the identity column {} is {}, and must be bigint",
                    column.name, field.data_type
                ),
            )
            .with("field", column.name.as_str()));
        }
        if identity.step == 0 {
            return Err(wrong("the step of an identity column cannot be 0".to_owned())
                .with("field", column.name.as_str()));
        }
        for (key, value) in [
            ("delta.identity.start", Value::from(identity.start)),
            ("delta.identity.step", Value::from(identity.step)),
            (
                "delta.identity.allowExplicitInsert",
                Value::from(!identity.always),
            ),
        ] {
            field.metadata.insert(key.to_owned(), value);
        }
    }
    Ok(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(parts: &[&str]) -> Result<StructType> {
        let all = ["nullable", "default", "generated", "identity", "comment"];
        let whole: Vec<String> = parts
            .iter()
            .map(|part| {
                let missing = all.iter().filter(|key| !part.contains(&format!("\"{key}\":")));
                let missing = missing.map(|key| match *key {
                    "nullable" => r#","nullable":true"#.to_owned(),
                    other => format!(r#","{other}":null"#),
                });
                format!("{{{part}{}}}", missing.collect::<String>())
            })
            .collect();
        columns_from_json(&format!("[{}]", whole.join(",")), &[])
    }

    /// protocol: generated-columns.2, default-columns.3, identity-columns.5
    #[test]
    fn columns_are_defined_with_the_source_of_their_values() -> Result<()> {
        let schema = columns(&[
            r#""name":"id","type":"bigint","identity":{"start":-5,"step":-1,"always":false}"#,
            r#""name":"at","type":"date","nullable":false,"comment":"local""#,
            r#""name":"n","type":"int","default":"7""#,
            r#""name":"twice","type":"int","generated":"n + n""#,
        ])?;
        let [id, at, n, twice] = schema.fields.as_slice() else {
            panic!("{schema:?}");
        };
        assert!(
            id.identity()?
                .is_some_and(|identity| identity.allow_explicit_insert && identity.start == -5)
        );
        assert_eq!(
            (at.nullable, at.metadata.get("comment")),
            (false, Some(&Value::from("local")))
        );
        assert_eq!(n.current_default(), Some("7"));
        assert_eq!(twice.generation_expression(), Some("n + n"));
        Ok(())
    }

    #[test]
    fn a_column_that_cannot_have_its_values_is_refused() {
        for (parts, kind) in [
            (
                vec![r#""name":"a","type":"int","identity":{"start":1,"step":1,"always":true}"#],
                ErrorKind::SchemaMismatch,
            ),
            (
                vec![r#""name":"a","type":"bigint","identity":{"start":1,"step":0,"always":true}"#],
                ErrorKind::InvalidArgument,
            ),
            (
                vec![r#""name":"a","type":"int","default":"1","generated":"2""#],
                ErrorKind::InvalidArgument,
            ),
            (
                vec![r#""name":"a","type":"int""#, r#""name":"A","type":"int""#],
                ErrorKind::InvalidArgument,
            ),
            (
                vec![r#""name":"a","type":"int","default":"'x'""#],
                ErrorKind::InvalidPredicate,
            ),
            (
                vec![r#""name":"a","type":"int","generated":"b + 1""#],
                ErrorKind::InvalidPredicate,
            ),
            (
                vec![r#""name":"a","type":"int","generated":"a + 1""#],
                ErrorKind::InvalidPredicate,
            ),
            (
                vec![
                    r#""name":"a","type":"string""#,
                    r#""name":"b","type":"int","generated":"a""#,
                ],
                ErrorKind::SchemaMismatch,
            ),
            (
                vec![r#""name":"a","type":"quaternion""#],
                ErrorKind::InvalidArgument,
            ),
            (vec![r#""name":"a","type":0"#], ErrorKind::InvalidArgument),
        ] {
            assert_eq!(
                columns(&parts).err().map(|error| error.kind()),
                Some(kind),
                "{parts:?}"
            );
        }
    }
}
