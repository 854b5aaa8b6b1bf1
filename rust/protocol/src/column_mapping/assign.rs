//! Assigns physical names and ids to columns, and removes them.
//!
//! Protocol: *Writer Requirements for Column Mapping*, *Writer Requirements for IcebergCompatV2*.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::field_metadata::{COLUMN_ID, NESTED_IDS, PHYSICAL_NAME, field_id, nested_ids, physical_name};
use crate::schema::{DataType, StructField, StructType};

/// Which physical names columns get.
pub(crate) enum Names<'a> {
    /// The logical names, because existing files use them.
    Logical,
    /// New unique names.
    New(&'a mut dyn FnMut() -> String),
}

/// Assigns physical names and ids to the fields that do not have them, in schema order, parents before
/// children. Ids continue after `highest`, which is updated. With `nested`, elements, keys and values get
/// ids too.
pub(crate) fn assign(fields: &mut StructType, highest: &mut i64, names: &mut Names<'_>, nested: bool) {
    for field in &mut fields.fields {
        if field_id(field).is_none() {
            *highest += 1;
            field.metadata.insert(COLUMN_ID.to_owned(), json!(*highest));
        }
        if physical_name(field).is_none() {
            let name = match names {
                Names::Logical => field.name.clone(),
                Names::New(new_id) => format!("col-{}", new_id()),
            };
            field
                .metadata
                .insert(PHYSICAL_NAME.to_owned(), Value::String(name));
        }
        if nested {
            assign_nested(field, highest);
        }
        assign_below(&mut field.data_type, highest, names, nested);
    }
}

fn assign_below(data_type: &mut DataType, highest: &mut i64, names: &mut Names<'_>, nested: bool) {
    match data_type {
        DataType::Struct(fields) => assign(fields, highest, names, nested),
        DataType::Array(array) => assign_below(&mut array.element_type, highest, names, nested),
        DataType::Map(map) => {
            assign_below(&mut map.key_type, highest, names, nested);
            assign_below(&mut map.value_type, highest, names, nested);
        }
        DataType::Primitive(_) | DataType::Unknown(_) => {}
    }
}

/// Whether an element, key or value of a field, at any depth outside of structs, has no id.
pub(crate) fn lacks_nested_ids(field: &StructField) -> bool {
    let have = nested_ids(field);
    let mut paths = Vec::new();
    unnamed(&field.data_type, "", &mut paths);
    paths.iter().any(|path| !have.contains_key(path.as_str()))
}

/// Assigns missing ids to the elements, keys and values of a field, without descending into structs. They get the key
/// that other writers use: some readers refuse the one in the protocol's text.
fn assign_nested(field: &mut StructField, highest: &mut i64) {
    if !lacks_nested_ids(field) {
        return;
    }
    let mut paths = Vec::new();
    unnamed(&field.data_type, "", &mut paths);
    let have: BTreeMap<String, i32> = nested_ids(field)
        .into_iter()
        .map(|(path, id)| (path.to_owned(), id))
        .collect();
    // Files are written under physical names, so nested ids use them as well.
    let prefix = physical_name(field).unwrap_or(&field.name).to_owned();
    for path in paths {
        let id = have.get(&path).map_or_else(
            || {
                *highest += 1;
                *highest
            },
            |id| i64::from(*id),
        );
        let [key, _] = NESTED_IDS;
        let entry = field
            .metadata
            .entry(key)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(ids) = entry {
            ids.insert(format!("{prefix}.{path}"), json!(id));
        }
    }
}

fn unnamed(data_type: &DataType, above: &str, paths: &mut Vec<String>) {
    let below = |part: &str| {
        if above.is_empty() {
            part.to_owned()
        } else {
            format!("{above}.{part}")
        }
    };
    match data_type {
        DataType::Array(array) => {
            paths.push(below("element"));
            unnamed(&array.element_type, &below("element"), paths);
        }
        DataType::Map(map) => {
            for (part, part_type) in [("key", &map.key_type), ("value", &map.value_type)] {
                paths.push(below(part));
                unnamed(part_type, &below(part), paths);
            }
        }
        DataType::Struct(_) | DataType::Primitive(_) | DataType::Unknown(_) => {}
    }
}

/// Every id in the schema, including those of elements, keys and values.
pub(crate) fn ids_in(schema: &StructType) -> Vec<i64> {
    let mut ids = Vec::new();
    each_field(schema, &mut |field| {
        ids.extend(field_id(field).map(i64::from));
        ids.extend(nested_ids(field).into_values().map(i64::from));
    });
    ids
}

/// Whether files written under this mapping can be read without it: the physical name of each column is
/// its logical name, and no column was ever dropped, whose values could reappear under a new column of
/// the same name.
pub(crate) fn is_unused(schema: &StructType, highest: i64) -> bool {
    let mut own_names = true;
    each_field(schema, &mut |field| {
        own_names = own_names && physical_name(field).is_none_or(|name| name == field.name);
    });
    own_names && i64::try_from(ids_in(schema).len()).is_ok_and(|count| count == highest)
}

/// Removes physical names and ids from every field.
pub(crate) fn strip(fields: &mut StructType) {
    fn strip_below(data_type: &mut DataType) {
        match data_type {
            DataType::Struct(fields) => strip(fields),
            DataType::Array(array) => strip_below(&mut array.element_type),
            DataType::Map(map) => {
                strip_below(&mut map.key_type);
                strip_below(&mut map.value_type);
            }
            DataType::Primitive(_) | DataType::Unknown(_) => {}
        }
    }
    for field in &mut fields.fields {
        for key in [COLUMN_ID, PHYSICAL_NAME].into_iter().chain(NESTED_IDS) {
            field.metadata.remove(key);
        }
        strip_below(&mut field.data_type);
    }
}

pub(crate) fn each_field(schema: &StructType, visit: &mut dyn FnMut(&StructField)) {
    schema.fields.iter().for_each(&mut *visit);
    schema.for_each_part(&mut |_, part| {
        if let DataType::Struct(fields) = part {
            fields.fields.iter().for_each(&mut *visit);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::Metadata;
    use crate::column_mapping::{ColumnMappingMode, MAX_COLUMN_ID, validate};
    use crate::{Result, samples};

    fn schema() -> Result<StructType> {
        StructType::from_json(
            r#"{"type":"struct","fields":[
                {"name":"a","type":"long","nullable":true,"metadata":{}},
                {"name":"s","nullable":true,"metadata":{},"type":{"type":"struct","fields":[
                    {"name":"x","type":"long","nullable":true,"metadata":{}},
                    {"name":"l","nullable":true,"metadata":{},"type":{"type":"array","containsNull":true,"elementType":
                        {"type":"map","keyType":"string","valueType":"long","valueContainsNull":true}}}]}},
                {"name":"m","nullable":true,"metadata":{},"type":{"type":"map","keyType":"string","valueContainsNull":true,"valueType":
                    {"type":"struct","fields":[{"name":"y","type":"long","nullable":true,"metadata":{}}]}}}]}"#,
        )
    }

    fn metadata(highest: i64) -> Metadata {
        samples::metadata(&[(MAX_COLUMN_ID, &highest.to_string())])
    }

    /// protocol: writer-requirements-for-column-mapping.3
    #[test]
    fn ids_continue_in_the_order_of_the_schema_and_names_are_as_requested() -> Result<()> {
        let mut old = schema()?;
        let mut highest = 0;
        assign(&mut old, &mut highest, &mut Names::Logical, false);
        let mut seen = Vec::new();
        each_field(&old, &mut |field| {
            seen.push((
                field.name.clone(),
                physical_name(field).map(str::to_owned),
                field_id(field),
            ));
        });
        seen.sort_by_key(|(.., id)| *id);
        let expected = ["a", "s", "x", "l", "m", "y"];
        for ((name, physical, id), (index, expected)) in seen.iter().zip(expected.iter().enumerate()) {
            assert_eq!(name, expected);
            assert_eq!(physical.as_deref(), Some(*expected));
            assert_eq!(*id, i32::try_from(index + 1).ok());
        }
        assert_eq!((highest, seen.len()), (6, 6));
        validate(&old, &metadata(highest), ColumnMappingMode::Id)?;
        // Existing names and ids are retained.
        let before = old.clone();
        let mut count = 0;
        let mut ids = || {
            count += 1;
            format!("u{count}")
        };
        old.fields.push(StructField::new(
            "new",
            crate::schema::PrimitiveType::Long.into(),
            true,
        ));
        assign(&mut old, &mut highest, &mut Names::New(&mut ids), false);
        let new = old.fields.pop();
        assert_eq!(old, before);
        assert_eq!(new.as_ref().and_then(physical_name), Some("col-u1"));
        assert_eq!(new.as_ref().and_then(field_id), Some(7));
        strip(&mut old);
        assert_eq!(old, schema()?);
        Ok(())
    }

    /// protocol: writer-requirements-for-icebergcompatv2.2, writer-requirements-for-icebergcompatv2.3
    #[test]
    fn elements_keys_and_values_get_ids_of_their_own_where_they_are_requested() -> Result<()> {
        let mut mapped = schema()?;
        let mut highest = 0;
        assign(&mut mapped, &mut highest, &mut Names::Logical, false);
        assign(&mut mapped, &mut highest, &mut Names::Logical, true);
        validate(&mapped, &metadata(highest), ColumnMappingMode::Id)?;
        let mut ids = ids_in(&mapped);
        ids.sort_unstable();
        assert_eq!(ids, (1..=11).collect::<Vec<_>>());
        let list = mapped.field("s").and_then(|field| match &field.data_type {
            DataType::Struct(below) => below.field("l").map(|list| list.metadata.clone()),
            _ => None,
        });
        let keys: Vec<String> = list
            .as_ref()
            .and_then(|metadata| metadata.get("delta.columnMapping.nested.ids")?.as_object())
            .into_iter()
            .flat_map(|ids| ids.keys().cloned())
            .collect();
        assert_eq!(keys, ["l.element", "l.element.key", "l.element.value"]);
        let again = mapped.clone();
        assign(&mut mapped, &mut highest, &mut Names::Logical, true);
        assert_eq!((mapped, highest), (again, 11));
        Ok(())
    }

    #[test]
    fn a_mapping_is_unused_until_a_column_is_dropped_or_named_otherwise() -> Result<()> {
        let mut mapped = schema()?;
        let mut highest = 0;
        assign(&mut mapped, &mut highest, &mut Names::Logical, false);
        assert!(is_unused(&mapped, highest));
        assert!(!is_unused(&mapped, highest + 1));
        if let Some(field) = mapped.fields.first_mut() {
            field.name = "b".to_owned();
        }
        assert!(!is_unused(&mapped, highest));
        Ok(())
    }
}
