//! Finds a column, a nested field or an element, key or value by name.

use crate::error::nearest;
use crate::schema::{ColumnName, DataType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// A part of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The path to the nearest field, as spelled in the schema.
    pub(crate) field: Vec<String>,
    /// The part of the field: `element`, `key`, `value`; empty for the field itself.
    pub(crate) part: Vec<String>,
    /// The type of the part.
    pub(crate) data_type: DataType,
}

impl Found {
    /// The complete path.
    pub(crate) fn path(&self) -> Vec<String> {
        self.field.iter().chain(&self.part).cloned().collect()
    }

    /// Verifies that the part is a field, not an element, a key or a value.
    pub(crate) fn ensure_field(&self, verb: &str) -> Result<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        let path = self.path().join(".");
        Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("{path} is neither a column nor a field of a struct, and cannot be {verb}"),
        )
        .with("field", path))
    }

    /// The name of the field and the path to the struct that contains it.
    pub(crate) fn split(&self) -> Result<(&str, &[String])> {
        match self.field.split_last() {
            Some((name, parents)) => Ok((name, parents)),
            None => Err(Error::new(ErrorKind::InvalidArgument, "a column name is empty")),
        }
    }
}

/// Finds a column, a nested field or a part of one.
pub(crate) fn find(schema: &StructType, column: &ColumnName) -> Result<Found> {
    let mut found = Found {
        field: Vec::new(),
        part: Vec::new(),
        data_type: DataType::Struct(schema.clone()),
    };
    let mut whole: Vec<String> = Vec::new();
    for name in column.parts() {
        let below = match &found.data_type {
            DataType::Struct(fields) => fields.field_ignoring_case(name).map(|field| {
                whole.push(field.name.clone());
                found.field.clone_from(&whole);
                found.part.clear();
                field.data_type.clone()
            }),
            DataType::Array(array) if name.eq_ignore_ascii_case("element") => {
                whole.push("element".to_owned());
                found.part.push("element".to_owned());
                Some(array.element_type.clone())
            }
            DataType::Map(map) if name.eq_ignore_ascii_case("key") => {
                whole.push("key".to_owned());
                found.part.push("key".to_owned());
                Some(map.key_type.clone())
            }
            DataType::Map(map) if name.eq_ignore_ascii_case("value") => {
                whole.push("value".to_owned());
                found.part.push("value".to_owned());
                Some(map.value_type.clone())
            }
            _ => None,
        };
        match below {
            Some(below) => found.data_type = below,
            None => return Err(no_such_column(column, name, &found.data_type)),
        }
    }
    if found.field.is_empty() {
        return Err(Error::new(ErrorKind::InvalidArgument, "a column name is empty"));
    }
    Ok(found)
}

/// The error for a column that does not exist, with the most similar name.
fn no_such_column(column: &ColumnName, part: &str, within: &DataType) -> Error {
    let names: Vec<&str> = match within {
        DataType::Struct(fields) => fields.names().collect(),
        DataType::Array(_) => vec!["element"],
        DataType::Map(_) => vec!["key", "value"],
        DataType::Primitive(_) | DataType::Unknown(_) => Vec::new(),
    };
    let hint = match nearest(part, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None if names.is_empty() => format!("a {within} has no parts"),
        None => format!("there are: {}", names.join(", ")),
    };
    Error::new(ErrorKind::InvalidArgument, format!("there is no column {column}"))
        .with("field", column.to_string())
        .hint(hint)
}

/// The fields of the struct at a path returned by [`find`]; `None` if there is no struct.
pub(crate) fn fields_mut<'a>(
    schema: &'a mut StructType,
    path: &[String],
) -> Option<&'a mut Vec<StructField>> {
    let mut parts = path.iter();
    let mut fields = schema;
    while let Some(name) = parts.next() {
        let field = fields.fields.iter_mut().find(|field| field.name == *name)?;
        let mut data_type = &mut field.data_type;
        fields = loop {
            data_type = match data_type {
                DataType::Struct(below) => break below,
                DataType::Array(array) if parts.next()? == "element" => &mut array.element_type,
                DataType::Map(map) => match parts.next()?.as_str() {
                    "key" => &mut map.key_type,
                    "value" => &mut map.value_type,
                    _ => return None,
                },
                _ => return None,
            };
        };
    }
    Some(&mut fields.fields)
}

/// The field at a path returned by [`find`].
pub(super) fn field_mut<'a>(schema: &'a mut StructType, path: &[String]) -> Result<&'a mut StructField> {
    let (name, parents) = path.split_last().ok_or_else(lost)?;
    fields_mut(schema, parents)
        .and_then(|fields| fields.iter_mut().find(|field| field.name == *name))
        .ok_or_else(lost)
}

/// The type of a part of a field; the type of the field itself if the part is empty.
pub(super) fn part_mut<'a>(field: &'a mut StructField, part: &[String]) -> Option<&'a mut DataType> {
    let mut data_type = &mut field.data_type;
    for name in part {
        data_type = match (data_type, name.as_str()) {
            (DataType::Array(array), "element") => &mut array.element_type,
            (DataType::Map(map), "key") => &mut map.key_type,
            (DataType::Map(map), "value") => &mut map.value_type,
            _ => return None,
        };
    }
    Some(data_type)
}

pub(super) fn lost() -> Error {
    Error::internal("a column that was found no longer exists")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NESTED: &str = r#"{"type":"struct","fields":[
        {"name":"Id","type":"long","nullable":true,"metadata":{}},
        {"name":"l","nullable":true,"metadata":{},"type":{"type":"array","containsNull":true,"elementType":
            {"type":"struct","fields":[{"name":"X.y","type":"long","nullable":true,"metadata":{}}]}}},
        {"name":"m","nullable":true,"metadata":{},"type":{"type":"map","keyType":"string","valueContainsNull":true,"valueType":
            {"type":"array","containsNull":true,"elementType":"long"}}}]}"#;

    #[test]
    fn parts_are_found_as_the_schema_spells_them() -> Result<()> {
        let mut schema = StructType::from_json(NESTED)?;
        for (name, field, part, data_type) in [
            ("id", "Id", "", "bigint"),
            ("l.element", "l", "element", "struct<X.y:bigint>"),
            ("L.ELEMENT.`x.Y`", "l/element/X.y", "", "bigint"),
            ("m.key", "m", "key", "string"),
            ("m.value.element", "m", "value/element", "bigint"),
        ] {
            let found = find(&schema, &ColumnName::parse(name)?)?;
            assert_eq!(
                (found.field.join("/"), found.part.join("/")),
                (field.to_owned(), part.to_owned())
            );
            assert_eq!(found.data_type.to_string(), data_type);
            let held = field_mut(&mut schema, &found.field)?;
            assert_eq!(
                part_mut(held, &found.part)
                    .map(|part| part.to_string())
                    .as_deref(),
                Some(data_type)
            );
        }
        let path = |parts: &[&str]| parts.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            fields_mut(&mut schema, &path(&["l", "element"])).map(|fields| fields.len()),
            Some(1)
        );
        assert!(fields_mut(&mut schema, &path(&["l"])).is_none());
        assert!(fields_mut(&mut schema, &path(&["m", "value"])).is_none());
        assert!(fields_mut(&mut schema, &path(&["l", "key"])).is_none());
        Ok(())
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_nearest_one() -> Result<()> {
        let schema = StructType::from_json(NESTED)?;
        for (name, hint) in [
            ("idd", "did you mean Id?"),
            ("l.elemen", "did you mean element?"),
            ("m.x", "there are: key, value"),
            ("Id.x", "a bigint has no parts"),
            ("zzzzzz", "there are: Id, l, m"),
        ] {
            let error = find(&schema, &ColumnName::parse(name)?).err();
            assert_eq!(error.as_ref().map(Error::kind), Some(ErrorKind::InvalidArgument));
            assert_eq!(error.as_ref().and_then(Error::hint_text), Some(hint), "{name}");
        }
        assert!(find(&schema, &ColumnName::from_parts(Vec::new())).is_err());
        Ok(())
    }
}
