//! Nullability: it can only be relaxed, because existing rows might violate a stricter one.

use super::find::{field_mut, find, lost, part_mut};
use crate::schema::{ColumnName, DataType, StructType};
use crate::{Error, ErrorKind, Result};

/// Makes a column, a field, an element or a value nullable. Map keys are never nullable.
///
/// # Errors
///
/// Returns `InvalidArgument` if the column does not exist or is a map key.
///
/// ```
/// use deltaic_protocol::schema::{ColumnName, PrimitiveType, StructField, StructType};
/// use deltaic_protocol::schema_evolution::drop_not_null;
/// let id = StructField::new("id", PrimitiveType::Long.into(), false);
/// let mut schema = StructType { fields: vec![id] };
/// drop_not_null(&mut schema, &ColumnName::parse("id")?)?;
/// assert!(schema.fields[0].nullable);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn drop_not_null(schema: &mut StructType, column: &ColumnName) -> Result<()> {
    let found = find(schema, column)?;
    let field = field_mut(schema, &found.field)?;
    let Some((part, above)) = found.part.split_last() else {
        field.nullable = true;
        return Ok(());
    };
    match part_mut(field, above).ok_or_else(lost)? {
        DataType::Array(array) => array.contains_null = true,
        DataType::Map(map) if part == "value" => map.value_contains_null = true,
        _ => {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("{column} is the key of a map, and keys are never NULL"),
            )
            .with("field", column.to_string()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: &str = r#"{"type":"struct","fields":[
        {"name":"a","type":"long","nullable":false,"metadata":{}},
        {"name":"l","nullable":false,"metadata":{},"type":{"type":"array","containsNull":false,"elementType":
            {"type":"struct","fields":[{"name":"x","type":"long","nullable":false,"metadata":{}}]}}},
        {"name":"m","nullable":false,"metadata":{},"type":{"type":"map","keyType":"string","valueContainsNull":false,"valueType":"long"}}]}"#;

    #[test]
    fn one_part_at_a_time_may_be_null_from_now_on() -> Result<()> {
        for (column, from, to) in [
            (
                "a",
                r#""type":"long","nullable":false,"metadata":{}},"#,
                r#""type":"long","nullable":true,"metadata":{}},"#,
            ),
            (
                "l",
                r#""name":"l","nullable":false"#,
                r#""name":"l","nullable":true"#,
            ),
            ("l.element", r#""containsNull":false"#, r#""containsNull":true"#),
            (
                "l.element.x",
                r#""type":"long","nullable":false,"metadata":{}}]"#,
                r#""type":"long","nullable":true,"metadata":{}}]"#,
            ),
            (
                "m.value",
                r#""valueContainsNull":false"#,
                r#""valueContainsNull":true"#,
            ),
        ] {
            let mut schema = StructType::from_json(STRICT)?;
            drop_not_null(&mut schema, &ColumnName::parse(column)?)?;
            assert_eq!(
                schema,
                StructType::from_json(&STRICT.replacen(from, to, 1))?,
                "{column}"
            );
            assert_ne!(schema, StructType::from_json(STRICT)?, "{column}");
        }
        let mut schema = StructType::from_json(STRICT)?;
        assert!(drop_not_null(&mut schema, &ColumnName::parse("m.key")?).is_err());
        assert!(drop_not_null(&mut schema, &ColumnName::parse("b")?).is_err());
        Ok(())
    }
}
