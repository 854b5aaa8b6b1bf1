//! Parses and serializes `metaData.schemaString`.

use serde_json::{Map, Value, json};

use super::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
use crate::strict_json::ensure_strict;
use crate::{Error, ErrorKind, Result};

impl StructType {
    /// Parses a `schemaString`. Names that differ only by case and missing parts are errors with the
    /// field; an unknown type is preserved as spelled.
    ///
    /// ```
    /// use deltaic_protocol::schema::StructType;
    /// let text = r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}"#;
    /// assert_eq!(StructType::from_json(text)?.to_json(), text);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| corrupt("schemaString", format!("the schema is not JSON: {error}")))?;
        ensure_strict(text, None).map_err(|error| corrupt("schemaString", error.to_string()))?;
        match parse_type(&value, "schemaString")? {
            DataType::Struct(fields) => Ok(fields),
            other => Err(corrupt(
                "schemaString",
                format!("the schema is {other}, not a struct"),
            )),
        }
    }

    /// Serializes the schema as a `schemaString`, without a limit on its depth.
    #[must_use]
    pub fn to_json(&self) -> String {
        struct_to_value(self).to_string()
    }

    /// Serializes the schema as a `schemaString` that can be parsed again.
    ///
    /// # Errors
    ///
    /// Returns `SchemaMismatch` with the `field` whose type would make the JSON deeper than 127 levels.
    pub fn to_schema_string(&self) -> Result<String> {
        for field in &self.fields {
            let levels = LEVELS_ABOVE_FIELDS + levels_of(&field_to_value(field));
            if levels > MAX_JSON_LEVELS {
                return Err(Error::new(
                    ErrorKind::SchemaMismatch,
                    format!(
                        "the type of column {} is nested too deeply: the table's schema would be JSON of {levels} \
                         levels, and {MAX_JSON_LEVELS} can be read back",
                        field.name
                    ),
                )
                .with("field", field.name.as_str())
                .hint("nest fewer types: 41 structs fit into each other, or more arrays and maps"));
            }
        }
        Ok(self.to_json())
    }
}

/// Maximum nesting of objects and arrays in the JSON of a schema. JSON parsers limit the depth so that
/// input cannot overflow the stack: ours and those of other readers in Rust stop before level 128.
const MAX_JSON_LEVELS: usize = 127;
/// The schema itself and its array of fields.
const LEVELS_ABOVE_FIELDS: usize = 2;

fn levels_of(value: &Value) -> usize {
    match value {
        Value::Object(parts) => 1 + parts.values().map(levels_of).max().unwrap_or(0),
        Value::Array(parts) => 1 + parts.iter().map(levels_of).max().unwrap_or(0),
        _ => 0,
    }
}

fn corrupt(path: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .with("field", path)
        .hint("the metadata is damaged: restore the commit that contains it from a backup of the table")
}

fn parse_type(value: &Value, path: &str) -> Result<DataType> {
    match value {
        Value::String(name) => Ok(match parse_primitive(name) {
            Some(primitive) => DataType::Primitive(primitive),
            None => DataType::Unknown(Box::new(value.clone())),
        }),
        Value::Object(parts) => match parts.get("type").and_then(Value::as_str) {
            Some("struct") => parse_struct(parts, path).map(DataType::Struct),
            Some("array") => Ok(DataType::Array(Box::new(ArrayType {
                element_type: parse_type(part(parts, "elementType", path)?, &format!("{path}.element"))?,
                contains_null: boolean(parts, "containsNull", path)?,
            }))),
            Some("map") => Ok(DataType::Map(Box::new(MapType {
                key_type: parse_type(part(parts, "keyType", path)?, &format!("{path}.key"))?,
                value_type: parse_type(part(parts, "valueType", path)?, &format!("{path}.value"))?,
                value_contains_null: boolean(parts, "valueContainsNull", path)?,
            }))),
            Some(_) => Ok(DataType::Unknown(Box::new(value.clone()))),
            None => Err(corrupt(path, "a type is an object without a name")),
        },
        _ => Err(corrupt(path, "a type is neither a name nor an object")),
    }
}

fn parse_struct(parts: &Map<String, Value>, path: &str) -> Result<StructType> {
    let Some(Value::Array(values)) = parts.get("fields") else {
        return Err(corrupt(path, "a struct has no list of fields"));
    };
    let mut fields = Vec::with_capacity(values.len());
    let mut seen = std::collections::HashSet::with_capacity(values.len());
    for value in values {
        let Value::Object(field) = value else {
            return Err(corrupt(path, "a field is not an object"));
        };
        let Some(name) = field.get("name").and_then(Value::as_str) else {
            return Err(corrupt(path, "a field has no name"));
        };
        let below = if path == "schemaString" {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        };
        if !seen.insert(name.to_lowercase()) {
            return Err(corrupt(
                &below,
                format!("the name {name:?} occurs twice in one struct (ignoring case)"),
            ));
        }
        let metadata = match field.get("metadata") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(metadata)) => metadata.clone(),
            Some(_) => return Err(corrupt(&below, "a field's metadata is not an object")),
        };
        fields.push(StructField {
            data_type: parse_type(part(field, "type", &below)?, &below)?,
            nullable: boolean(field, "nullable", &below)?,
            name: name.to_owned(),
            metadata,
        });
    }
    Ok(StructType { fields })
}

fn part<'a>(parts: &'a Map<String, Value>, key: &str, path: &str) -> Result<&'a Value> {
    parts
        .get(key)
        .ok_or_else(|| corrupt(path, format!("{key:?} is missing in the schema")))
}

fn boolean(parts: &Map<String, Value>, key: &str, path: &str) -> Result<bool> {
    part(parts, key, path)?
        .as_bool()
        .ok_or_else(|| corrupt(path, format!("{key:?} is not true or false")))
}

pub(super) fn parse_primitive(name: &str) -> Option<PrimitiveType> {
    Some(match name {
        "string" => PrimitiveType::String,
        "long" => PrimitiveType::Long,
        "integer" => PrimitiveType::Integer,
        "short" => PrimitiveType::Short,
        "byte" => PrimitiveType::Byte,
        "float" => PrimitiveType::Float,
        "double" => PrimitiveType::Double,
        "boolean" => PrimitiveType::Boolean,
        "binary" => PrimitiveType::Binary,
        "date" => PrimitiveType::Date,
        "timestamp" => PrimitiveType::Timestamp,
        "timestamp_ntz" => PrimitiveType::TimestampNtz,
        "void" => PrimitiveType::Void,
        "variant" => PrimitiveType::Variant,
        "decimal" => PrimitiveType::Decimal {
            precision: 10,
            scale: 0,
        },
        other => match parse_decimal(other) {
            Some(decimal) => decimal,
            // A length limit or a collation restricts a string for its engine, but does not change how
            // it is stored.
            None if is_narrowed_string(other) => PrimitiveType::String,
            None => return None,
        },
    })
}

fn is_narrowed_string(name: &str) -> bool {
    let bounded = |prefix: &str| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(')'))
            .is_some_and(|length| !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit()))
    };
    bounded("varchar(") || bounded("char(") || name.starts_with("string collate ")
}

fn parse_decimal(name: &str) -> Option<PrimitiveType> {
    let (precision, scale) = name
        .strip_prefix("decimal(")?
        .strip_suffix(')')?
        .split_once(',')?;
    let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    ((1..=38).contains(&precision) && scale <= precision)
        .then_some(PrimitiveType::Decimal { precision, scale })
}

fn type_to_value(data_type: &DataType) -> Value {
    match data_type {
        DataType::Unknown(spelled) => (**spelled).clone(),
        DataType::Primitive(primitive) => Value::String(primitive.delta_name()),
        DataType::Struct(fields) => struct_to_value(fields),
        DataType::Array(array) => json!({
            "type": "array",
            "elementType": type_to_value(&array.element_type),
            "containsNull": array.contains_null,
        }),
        DataType::Map(map) => json!({
            "type": "map",
            "keyType": type_to_value(&map.key_type),
            "valueType": type_to_value(&map.value_type),
            "valueContainsNull": map.value_contains_null,
        }),
    }
}

fn struct_to_value(fields: &StructType) -> Value {
    let fields: Vec<Value> = fields.fields.iter().map(field_to_value).collect();
    json!({ "type": "struct", "fields": fields })
}

fn field_to_value(field: &StructField) -> Value {
    json!({
        "name": field.name,
        "type": type_to_value(&field.data_type),
        "nullable": field.nullable,
        "metadata": field.metadata,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NESTED: &str = r#"{"type":"struct","fields":[
        {"name":"a","type":"integer","nullable":false,"metadata":{}},
        {"name":"b","type":{"type":"struct","fields":[{"name":"d","type":"decimal(10,2)","nullable":false,"metadata":{"k":1}}]},"nullable":true,"metadata":{}},
        {"name":"c","type":{"type":"array","elementType":"integer","containsNull":false},"nullable":true,"metadata":{}},
        {"name":"f","type":{"type":"map","keyType":"string","valueType":"string","valueContainsNull":true},"nullable":true,"metadata":{}}]}"#;

    #[test]
    fn a_schema_survives_the_round_trip() -> Result<()> {
        let schema = StructType::from_json(NESTED)?;
        assert_eq!(StructType::from_json(&schema.to_json())?, schema);
        let mut parts = Vec::new();
        schema.for_each_part(&mut |path, data_type| parts.push(format!("{path}: {data_type}")));
        assert_eq!(
            parts,
            [
                "a: int",
                "b: struct<d:decimal(10,2)>",
                "b.d: decimal(10,2)",
                "c: array<int>",
                "c.element: int",
                "f: map<string,string>",
                "f.key: string",
                "f.value: string"
            ]
        );
        Ok(())
    }

    /// The deepest schema that can be written is read again; one level more could not be.
    #[test]
    fn a_schema_is_written_as_deep_as_it_can_be_read() -> Result<()> {
        let in_struct = |inner: DataType| {
            DataType::Struct(StructType {
                fields: vec![StructField::new("a", inner, true)],
            })
        };
        let in_array = |inner: DataType| {
            DataType::Array(Box::new(ArrayType {
                element_type: inner,
                contains_null: true,
            }))
        };
        let nested = |wrap: &dyn Fn(DataType) -> DataType, levels: usize| StructType {
            fields: vec![StructField::new(
                "deep",
                (0..levels).fold(DataType::Primitive(PrimitiveType::Long), |inner, _| wrap(inner)),
                true,
            )],
        };
        for (wrap, most) in [
            (&in_struct as &dyn Fn(DataType) -> DataType, 41),
            (&in_array, 124),
        ] {
            let deepest = nested(wrap, most);
            assert_eq!(StructType::from_json(&deepest.to_schema_string()?)?, deepest);
            let deeper = nested(wrap, most + 1);
            assert!(StructType::from_json(&deeper.to_json()).is_err());
            let error = deeper.to_schema_string().expect_err("it cannot be read");
            assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
            assert!(error.context().contains(&("field", "deep".into())), "{error}");
        }
        Ok(())
    }

    /// Everything except the rows of such a column is readable, so the schema is accepted and reading its
    /// rows is refused.
    #[test]
    fn a_type_that_is_not_known_is_retained_as_it_is_spelled() -> Result<()> {
        for (spelled, shown) in [
            ("\"quaternion\"", "quaternion"),
            ("\"decimal(39,2)\"", "decimal(39,2)"),
            ("\"interval day to second\"", "interval day to second"),
            ("\"geometry(OGC:CRS84)\"", "geometry(OGC:CRS84)"),
            ("\"timestamp_nanos\"", "timestamp_nanos"),
            (r#"{"type":"udt","class":"c","sqlType":"long"}"#, "udt"),
        ] {
            let text = NESTED.replacen("\"decimal(10,2)\"", spelled, 1);
            let schema = StructType::from_json(&text)?;
            assert_eq!(StructType::from_json(&schema.to_json())?, schema, "{spelled}");
            assert!(schema.to_json().contains(spelled), "{spelled}");
            let (path, data_type) = schema
                .first_unknown()
                .ok_or_else(|| corrupt("b.d", "not found"))?;
            assert_eq!((path.as_str(), data_type.to_string().as_str()), ("b.d", shown));
            let refused = schema.to_arrow().err();
            assert!(
                refused.as_ref().is_some_and(|error| {
                    error.kind() == ErrorKind::UnsupportedFeature
                        && error.context().contains(&("feature", shown.into()))
                }),
                "{refused:?}"
            );
        }
        assert!(StructType::from_json(NESTED)?.first_unknown().is_none());
        Ok(())
    }

    #[test]
    fn damage_names_the_field() {
        for (from, to, field, kind) in [
            (
                "\"type\":\"array\"",
                "\"tip\":\"array\"",
                "c",
                ErrorKind::CorruptLog,
            ),
            (
                "\"containsNull\":false",
                "\"containsNull\":3",
                "c",
                ErrorKind::CorruptLog,
            ),
            ("\"name\":\"c\"", "\"name\":\"A\"", "A", ErrorKind::CorruptLog),
            ("\"keyType\":\"string\",", "", "f", ErrorKind::CorruptLog),
        ] {
            let error = StructType::from_json(&NESTED.replacen(from, to, 1)).err();
            let found = error.as_ref().map(|error| {
                (
                    error.kind(),
                    error
                        .context()
                        .iter()
                        .any(|(key, value)| *key == "field" && *value == field.into()),
                )
            });
            assert_eq!(found, Some((kind, true)), "{from} -> {to}: {error:?}");
        }
    }
}
