//! Validates the names and types of new columns.
//!
//! Protocol: *Column Mapping* (which lifts the restrictions on names), *Default Columns*.

use std::collections::HashSet;

use crate::column_mapping::ColumnMappingMode;
use crate::schema::{DataType, PrimitiveType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// Characters in names that many Parquet readers do not accept.
const FORBIDDEN: &[char] = &[' ', ',', ';', '{', '}', '(', ')', '\n', '\t', '='];

/// Metadata keys that a writer sets only on existing columns.
const NOT_OF_NEW_COLUMNS: &[&str] = &[
    "delta.",
    "parquet.",
    "CURRENT_DEFAULT",
    "EXISTS_DEFAULT",
    "__COLLATIONS",
];

/// Verifies that a field may get this name among its siblings.
pub(super) fn ensure_new_name<'a>(
    name: &str,
    siblings: impl IntoIterator<Item = &'a str>,
    mode: ColumnMappingMode,
) -> Result<()> {
    let wrong = |message: String, hint: &str| {
        Err(Error::new(ErrorKind::InvalidArgument, message)
            .with("field", name)
            .hint(hint))
    };
    if name.is_empty() {
        return wrong("a column's name is empty".to_owned(), "give it a name");
    }
    if let Some(other) = siblings
        .into_iter()
        .find(|other| other.to_lowercase() == name.to_lowercase())
    {
        return wrong(
            format!("there is a column {other:?} already (case does not count)"),
            "choose another name",
        );
    }
    if !mode.is_mapped()
        && let Some(forbidden) = name.chars().find(|c| FORBIDDEN.contains(c))
    {
        return wrong(
            format!("a column's name cannot contain {forbidden:?}: {name:?}"),
            "set the property delta.columnMapping.mode to name first",
        );
    }
    Ok(())
}

/// Verifies that a field can be added to a table with rows: they are NULL in it, and its metadata contain
/// only keys that users may set.
pub(crate) fn ensure_new_field(
    field: &StructField,
    siblings: &[StructField],
    mode: ColumnMappingMode,
) -> Result<()> {
    ensure_new_name(
        &field.name,
        siblings.iter().map(|field| field.name.as_str()),
        mode,
    )?;
    let wrong = |message: String, hint: &str| {
        Err(Error::new(ErrorKind::InvalidArgument, message)
            .with("field", field.name.as_str())
            .hint(hint))
    };
    if !field.nullable {
        return wrong(
            format!(
                "the column {} is new and NOT NULL, but existing rows would be NULL in it",
                field.name
            ),
            "add it as nullable",
        );
    }
    let inner = StructType {
        fields: vec![field.clone()],
    };
    ensure_free_of_reserved(&inner)?;
    ensure_type(&field.data_type, &field.name, mode)
}

/// Verifies that the columns of a new table can be written under their names.
pub(crate) fn ensure_names(schema: &StructType, mode: ColumnMappingMode) -> Result<()> {
    for (index, field) in schema.fields.iter().enumerate() {
        let siblings = schema.fields.iter().take(index).map(|field| field.name.as_str());
        ensure_new_name(&field.name, siblings, mode)?;
        ensure_type(&field.data_type, &field.name, mode)?;
    }
    Ok(())
}

/// Verifies that no part of a new field has metadata that only the table may assign.
fn ensure_free_of_reserved(fields: &StructType) -> Result<()> {
    let reserved = |field: &StructField| {
        field
            .metadata
            .keys()
            .find(|key| NOT_OF_NEW_COLUMNS.iter().any(|prefix| key.starts_with(prefix)))
            .map(|key| (field.name.clone(), key.clone()))
    };
    let mut found = fields.fields.iter().find_map(reserved);
    fields.for_each_part(&mut |_, part| {
        if let DataType::Struct(below) = part {
            found = found.take().or_else(|| below.fields.iter().find_map(reserved));
        }
    });
    match found {
        None => Ok(()),
        Some((name, key)) => {
            let hint = if key.ends_with("_DEFAULT") {
                "add the column first, then set its default: existing rows stay NULL"
            } else {
                "add the column without it"
            };
            Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("a column cannot be added with {key} in its metadata"),
            )
            .with("field", name)
            .hint(hint))
        }
    }
}

/// Verifies that a type, including the names in it, can be written.
fn ensure_type(data_type: &DataType, path: &str, mode: ColumnMappingMode) -> Result<()> {
    let part = |inner: &DataType, name: &str| {
        if inner.as_primitive() == Some(PrimitiveType::Void) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("{path}.{name} is void: arrays and maps cannot contain void"),
            )
            .with("field", format!("{path}.{name}"))
            .hint("give it a type, for example string"));
        }
        ensure_type(inner, &format!("{path}.{name}"), mode)
    };
    match data_type {
        DataType::Primitive(_) => Ok(()),
        DataType::Unknown(_) => Err(data_type.unknown().with("field", path)),
        DataType::Struct(fields) => {
            let mut seen: HashSet<String> = HashSet::new();
            for field in &fields.fields {
                let siblings = seen
                    .contains(&field.name.to_lowercase())
                    .then_some(field.name.as_str());
                ensure_new_name(&field.name, siblings, mode)?;
                seen.insert(field.name.to_lowercase());
                ensure_type(&field.data_type, &format!("{path}.{}", field.name), mode)?;
            }
            Ok(())
        }
        DataType::Array(array) => part(&array.element_type, "element"),
        DataType::Map(map) => {
            part(&map.key_type, "key")?;
            part(&map.value_type, "value")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(name: &str, data_type: &str) -> Result<StructField> {
        let text = json!({"type": "struct", "fields": [
            {"name": name, "type": serde_json::from_str::<serde_json::Value>(data_type).unwrap_or(json!(data_type)),
             "nullable": true, "metadata": {}}]});
        StructType::from_json(&text.to_string())?
            .fields
            .pop()
            .ok_or_else(crate::schema_evolution::find::lost)
    }

    #[test]
    fn names_are_new_and_can_be_written() -> Result<()> {
        let there = [field("Amount", "long")?];
        let new = |name: &str, mode| ensure_new_field(&field(name, "long")?, &there, mode);
        new("a", ColumnMappingMode::None)?;
        new("a.b`c", ColumnMappingMode::None)?;
        for name in ["", "amount", "AMOUNT"] {
            for mode in [ColumnMappingMode::None, ColumnMappingMode::Name] {
                assert!(new(name, mode).is_err(), "{name}");
            }
        }
        for forbidden in FORBIDDEN {
            let name = format!("a{forbidden}b");
            assert!(new(&name, ColumnMappingMode::None).is_err(), "{name:?}");
            new(&name, ColumnMappingMode::Name)?;
        }
        Ok(())
    }

    /// protocol: default-columns.1
    #[test]
    fn a_new_column_has_no_default_and_nothing_that_only_tables_give() -> Result<()> {
        for key in [
            "CURRENT_DEFAULT",
            "EXISTS_DEFAULT",
            "delta.columnMapping.id",
            "delta.generationExpression",
            "delta.identity.start",
            "delta.invariants",
            "delta.typeChanges",
            "parquet.field.nested.ids",
            "__COLLATIONS",
        ] {
            let mut marked = field("a", "long")?;
            marked.metadata.insert(key.to_owned(), json!("1"));
            assert!(
                ensure_new_field(&marked, &[], ColumnMappingMode::Name).is_err(),
                "{key}"
            );
            let outer = StructField::new("s", DataType::Struct(StructType { fields: vec![marked] }), true);
            assert!(
                ensure_new_field(&outer, &[], ColumnMappingMode::Name).is_err(),
                "s.{key}"
            );
        }
        let mut noted = field("a", "long")?;
        noted.metadata.insert("comment".to_owned(), json!("mine"));
        ensure_new_field(&noted, &[], ColumnMappingMode::None)
    }

    /// protocol: beyond:void.2
    #[test]
    fn types_can_be_written() -> Result<()> {
        let check = |data_type: &str| ensure_new_field(&field("a", data_type)?, &[], ColumnMappingMode::None);
        check("void")?;
        check(r#"{"type":"struct","fields":[{"name":"x","type":"void","nullable":false,"metadata":{}}]}"#)?;
        for wrong in [
            "quaternion",
            r#"{"type":"array","elementType":"void","containsNull":true}"#,
            r#"{"type":"map","keyType":"string","valueType":"void","valueContainsNull":true}"#,
            r#"{"type":"map","keyType":"void","valueType":"string","valueContainsNull":true}"#,
            r#"{"type":"struct","fields":[{"name":"a b","type":"long","nullable":true,"metadata":{}}]}"#,
            r#"{"type":"array","containsNull":true,"elementType":{"type":"struct","fields":[{"name":"","type":"long","nullable":true,"metadata":{}}]}}"#,
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        let mut strict = field("a", "long")?;
        strict.nullable = false;
        assert!(ensure_new_field(&strict, &[], ColumnMappingMode::None).is_err());
        Ok(())
    }
}
