//! Type widening: the change of the type, and its record, which reports to readers which types files may
//! have.
//!
//! Protocol: *Type Widening*, *Type Change Metadata*.

use serde_json::{Map, Value};

use super::find::{Found, field_mut, lost, part_mut};
use crate::schema::type_changes::KEY;
use crate::schema::{DataType, PrimitiveType, StructField, StructType, is_widening};
use crate::{Error, ErrorKind, Result};

/// Widens the type of a part of the schema and records the change in the nearest field. A `void` column
/// has no values, so every type is wider and no change is recorded.
///
/// # Errors
///
/// Returns `SchemaMismatch` with the `field` if the new type cannot represent every value of the current
/// one.
pub(crate) fn widen(schema: &mut StructType, found: &Found, to: PrimitiveType) -> Result<()> {
    let from = found.data_type.as_primitive();
    let path = found.path().join(".");
    let Some(from) = from.filter(|from| *from == PrimitiveType::Void || is_widening(*from, to)) else {
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!(
                "the type of {path} cannot change from {} to {to}",
                found.data_type
            ),
        )
        .with("field", path)
        .hint("a type changes to a wider one: int to bigint, float to double, a decimal to more digits"));
    };
    let field = field_mut(schema, &found.field)?;
    *part_mut(field, &found.part).ok_or_else(lost)? = DataType::Primitive(to);
    if from != PrimitiveType::Void {
        record(field, &found.part, from, to);
    }
    Ok(())
}

/// Records a type change of a field or of a part of it.
pub(super) fn record(field: &mut StructField, part: &[String], from: PrimitiveType, to: PrimitiveType) {
    let mut change = Map::new();
    change.insert("fromType".to_owned(), Value::String(from.delta_name()));
    change.insert("toType".to_owned(), Value::String(to.delta_name()));
    if !part.is_empty() {
        change.insert("fieldPath".to_owned(), Value::String(part.join(".")));
    }
    match field.metadata.get_mut(KEY) {
        Some(Value::Array(changes)) => changes.push(Value::Object(change)),
        _ => {
            let changes = Value::Array(vec![Value::Object(change)]);
            field.metadata.insert(KEY.to_owned(), changes);
        }
    }
}

/// Verifies that Iceberg supports a type change.
///
/// # Errors
///
/// Returns `SchemaMismatch` with the `field` if it does not.
pub(crate) fn ensure_iceberg_has(path: &str, from: PrimitiveType, to: PrimitiveType) -> Result<()> {
    use PrimitiveType::{Byte, Date, Decimal, Double, Integer, Long, Short, TimestampNtz};
    let lacks = match (from, to) {
        (Byte | Short | Integer, Double)
        | (Date, TimestampNtz)
        | (Byte | Short | Integer | Long, Decimal { .. }) => true,
        (Decimal { scale: before, .. }, Decimal { scale, .. }) => before != scale,
        _ => false,
    };
    if lacks {
        return Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("the type of {path} cannot change from {from} to {to}: Iceberg compatibility is enabled, and Iceberg has no such change"),
        )
        .with("field", path)
        .hint("set the property delta.enableIcebergCompatV1 or delta.enableIcebergCompatV2 to false first"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ColumnName;
    use crate::schema_evolution::find::find;

    const TYPED: &str = r#"{"type":"struct","fields":[
        {"name":"a","type":"byte","nullable":true,"metadata":{"mine":1}},
        {"name":"v","type":"void","nullable":true,"metadata":{}},
        {"name":"m","nullable":true,"metadata":{},"type":{"type":"map","keyType":"float","valueContainsNull":true,"valueType":
            {"type":"array","containsNull":true,"elementType":"decimal(6,2)"}}},
        {"name":"l","nullable":true,"metadata":{},"type":{"type":"array","containsNull":true,"elementType":
            {"type":"struct","fields":[{"name":"x","type":"date","nullable":true,"metadata":{}}]}}}]}"#;

    fn widened(changes: &[(&str, PrimitiveType)]) -> Result<StructType> {
        let mut schema = StructType::from_json(TYPED)?;
        for (column, to) in changes {
            let found = find(&schema, &ColumnName::parse(column)?)?;
            widen(&mut schema, &found, *to)?;
        }
        Ok(schema)
    }

    /// protocol: beyond:type-widening.3, beyond:type-widening.5
    #[test]
    fn changes_are_recorded_with_the_nearest_field_in_their_order() -> Result<()> {
        let decimal = |precision, scale| PrimitiveType::Decimal { precision, scale };
        let schema = widened(&[
            ("a", PrimitiveType::Short),
            ("A", PrimitiveType::Long),
            ("m.key", PrimitiveType::Double),
            ("m.value.element", decimal(10, 4)),
            ("l.element.x", PrimitiveType::TimestampNtz),
        ])?;
        assert_eq!(
            schema.to_json(),
            StructType::from_json(
                r#"{"type":"struct","fields":[
                {"name":"a","type":"long","nullable":true,"metadata":{"mine":1,"delta.typeChanges":[
                    {"fromType":"byte","toType":"short"},{"fromType":"short","toType":"long"}]}},
                {"name":"v","type":"void","nullable":true,"metadata":{}},
                {"name":"m","nullable":true,"metadata":{"delta.typeChanges":[
                    {"fromType":"float","toType":"double","fieldPath":"key"},
                    {"fromType":"decimal(6,2)","toType":"decimal(10,4)","fieldPath":"value.element"}]},
                 "type":{"type":"map","keyType":"double","valueContainsNull":true,"valueType":
                    {"type":"array","containsNull":true,"elementType":"decimal(10,4)"}}},
                {"name":"l","nullable":true,"metadata":{},"type":{"type":"array","containsNull":true,"elementType":
                    {"type":"struct","fields":[{"name":"x","type":"timestamp_ntz","nullable":true,"metadata":{"delta.typeChanges":[
                        {"fromType":"date","toType":"timestamp_ntz"}]}}]}}}]}"#
            )?
            .to_json()
        );
        schema.ensure_known_type_changes()
    }

    /// protocol: beyond:void.3
    #[test]
    fn void_columns_change_to_any_type_without_a_record() -> Result<()> {
        let schema = widened(&[("v", PrimitiveType::String)])?;
        assert_eq!(schema, StructType::from_json(&TYPED.replace("void", "string"))?);
        Ok(())
    }

    #[test]
    fn nothing_becomes_narrower_and_nothing_with_parts_another_type() {
        for (column, to) in [
            ("a", PrimitiveType::String),
            ("a", PrimitiveType::Float),
            ("m.key", PrimitiveType::Integer),
            ("m", PrimitiveType::Long),
            ("l.element", PrimitiveType::Long),
            ("l.element.x", PrimitiveType::Timestamp),
            (
                "m.value.element",
                PrimitiveType::Decimal {
                    precision: 7,
                    scale: 4,
                },
            ),
            ("a", PrimitiveType::Void),
        ] {
            let error = widened(&[(column, to)]).err().map(|error| error.kind());
            assert_eq!(error, Some(ErrorKind::SchemaMismatch), "{column} {to}");
        }
    }

    /// protocol: beyond:type-widening.6
    #[test]
    fn iceberg_lacks_some_changes() {
        use PrimitiveType::{Byte, Date, Double, Float, Integer, Long, Short, TimestampNtz};
        let decimal = |precision, scale| PrimitiveType::Decimal { precision, scale };
        for (from, to, has) in [
            (Byte, Short, true),
            (Integer, Long, true),
            (Float, Double, true),
            (decimal(5, 2), decimal(9, 2), true),
            (Byte, Double, false),
            (Short, Double, false),
            (Integer, Double, false),
            (Date, TimestampNtz, false),
            (decimal(5, 2), decimal(9, 3), false),
            (Integer, decimal(12, 0), false),
            (Long, decimal(20, 0), false),
        ] {
            assert_eq!(ensure_iceberg_has("a", from, to).is_ok(), has, "{from} {to}");
        }
    }
}
