//! Column mapping: the names and ids that the log and the data files know a column by.
//!
//! Protocol: *Column Mapping*, *Reader Requirements for Column Mapping*.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::actions::{Metadata, Protocol};
use crate::schema::{ArrayType, DataType, MapType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

const MODE: &str = "delta.columnMapping.mode";
const MAX_COLUMN_ID: &str = "delta.columnMapping.maxColumnId";
const PHYSICAL_NAME: &str = "delta.columnMapping.physicalName";
const ID: &str = "delta.columnMapping.id";
/// The ids of elements, keys and values, as the text spells the key and as files do.
const NESTED_IDS: [&str; 2] = ["delta.columnMapping.nested.ids", "parquet.field.nested.ids"];

/// How columns are found in data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnMappingMode {
    /// By their names in the schema.
    None,
    /// By their ids.
    Id,
    /// By their physical names.
    Name,
}

impl ColumnMappingMode {
    /// The mode of a table. The property counts only where the protocol has the feature for readers.
    ///
    /// # Errors
    ///
    /// `CorruptLog` for a mode that does not exist.
    pub fn of(protocol: &Protocol, metadata: &Metadata) -> Result<Self> {
        let supported = protocol.min_reader_version == 2
            || protocol
                .reader_features
                .iter()
                .flatten()
                .any(|name| name == "columnMapping");
        let Some(text) = metadata.property(MODE).filter(|_| supported) else {
            return Ok(Self::None);
        };
        match text.to_ascii_lowercase().as_str() {
            "none" => Ok(Self::None),
            "id" => Ok(Self::Id),
            "name" => Ok(Self::Name),
            _ => Err(corrupt(
                MODE,
                format!("{MODE} is {text:?}, and can be none, id or name"),
            )),
        }
    }

    /// Whether the log and the files use names of their own.
    #[must_use]
    pub fn is_mapped(self) -> bool {
        self != Self::None
    }
}

/// The name by which partition values, statistics and checkpoints know a column or a field in one.
///
/// ```
/// use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
/// use deltaic_protocol::schema::StructType;
/// let schema = StructType::from_json(
///     r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,
///         "metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-7"}}]}"#,
/// )?;
/// assert_eq!(name_in_log(&schema.fields[0], ColumnMappingMode::Name), "col-7");
/// assert_eq!(name_in_log(&schema.fields[0], ColumnMappingMode::None), "a");
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[must_use]
pub fn name_in_log(field: &StructField, mode: ColumnMappingMode) -> &str {
    match mode {
        ColumnMappingMode::None => &field.name,
        ColumnMappingMode::Id | ColumnMappingMode::Name => physical_name(field).unwrap_or(&field.name),
    }
}

/// The physical name that the schema gives a field.
#[must_use]
pub fn physical_name(field: &StructField) -> Option<&str> {
    field
        .metadata
        .get(PHYSICAL_NAME)?
        .as_str()
        .filter(|name| !name.is_empty())
}

/// The id that the schema gives a field: Parquet's `field_id`.
#[must_use]
pub fn field_id(field: &StructField) -> Option<i32> {
    field.metadata.get(ID).and_then(id_of)
}

/// The ids of a field's elements, keys and values by their path below the field, such as `element.key`.
#[must_use]
pub fn nested_ids(field: &StructField) -> BTreeMap<&str, i32> {
    let mut found = BTreeMap::new();
    for ids in NESTED_IDS
        .iter()
        .filter_map(|key| field.metadata.get(*key)?.as_object())
    {
        for (path, id) in ids {
            // The path starts with the name of the field, or with the one that the log has for it.
            let below = [Some(field.name.as_str()), physical_name(field)]
                .into_iter()
                .flatten()
                .find_map(|name| path.strip_prefix(name)?.strip_prefix('.'));
            if let (Some(below), Some(id)) = (below, id_of(id)) {
                found.insert(below, id);
            }
        }
    }
    found
}

fn id_of(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|id| i32::try_from(id).ok())
}

/// The schema under the names of the log: what statistics and the columns of checkpoints are spelled in.
#[must_use]
pub fn physical_schema(schema: &StructType, mode: ColumnMappingMode) -> StructType {
    if !mode.is_mapped() {
        return schema.clone();
    }
    StructType {
        fields: schema
            .fields
            .iter()
            .map(|field| StructField {
                name: name_in_log(field, mode).to_owned(),
                data_type: physical_type(&field.data_type, mode),
                nullable: field.nullable,
                metadata: field.metadata.clone(),
            })
            .collect(),
    }
}

fn physical_type(data_type: &DataType, mode: ColumnMappingMode) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(physical_schema(fields, mode)),
        DataType::Array(array) => DataType::Array(Box::new(ArrayType {
            element_type: physical_type(&array.element_type, mode),
            contains_null: array.contains_null,
        })),
        DataType::Map(map) => DataType::Map(Box::new(MapType {
            key_type: physical_type(&map.key_type, mode),
            value_type: physical_type(&map.value_type, mode),
            value_contains_null: map.value_contains_null,
        })),
        other => other.clone(),
    }
}

/// The names that users know a column by, the outermost first, of a path that the log knows; none where the schema
/// has no such column.
#[must_use]
pub fn logical_path<'a>(
    schema: &'a StructType,
    path_in_log: &[impl AsRef<str>],
    mode: ColumnMappingMode,
) -> Option<Vec<&'a str>> {
    let mut fields = Some(schema);
    let mut names = Vec::with_capacity(path_in_log.len());
    for part in path_in_log {
        let field = fields?
            .fields
            .iter()
            .find(|field| name_in_log(field, mode) == part.as_ref())?;
        names.push(field.name.as_str());
        fields = match &field.data_type {
            DataType::Struct(below) => Some(below),
            _ => None,
        };
    }
    (!names.is_empty()).then_some(names)
}

/// Proves that a mapped table's names and ids tell its columns apart. In a table that maps none, nothing is asked.
///
/// # Errors
///
/// `CorruptLog` with the `field`: without a physical name, without an id in mode `id`, with either of another, or
/// with an id above `delta.columnMapping.maxColumnId`.
pub fn validate(schema: &StructType, metadata: &Metadata, mode: ColumnMappingMode) -> Result<()> {
    if !mode.is_mapped() {
        return Ok(());
    }
    let highest = match metadata.property(MAX_COLUMN_ID) {
        None => None,
        Some(text) => Some(text.trim().parse::<i64>().map_err(|_| {
            corrupt(
                MAX_COLUMN_ID,
                format!("{MAX_COLUMN_ID} is {text:?}, which is no number"),
            )
        })?),
    };
    let mut columns = Columns {
        mode,
        highest,
        ids: HashMap::new(),
    };
    columns.enter_fields(schema, "")
}

/// The columns seen so far.
struct Columns {
    mode: ColumnMappingMode,
    highest: Option<i64>,
    /// Each id with the column that has it.
    ids: HashMap<i32, String>,
}

impl Columns {
    fn enter_fields(&mut self, fields: &StructType, above: &str) -> Result<()> {
        // Names are unique among siblings: a table that was mapped later keeps the names that it had.
        let mut names = HashSet::with_capacity(fields.fields.len());
        for field in &fields.fields {
            let path = if above.is_empty() {
                field.name.clone()
            } else {
                format!("{above}.{}", field.name)
            };
            let Some(name) = physical_name(field) else {
                return Err(corrupt(&path, "a column of a mapped table has no physical name"));
            };
            if !names.insert(name) {
                return Err(corrupt(
                    &path,
                    format!("two columns have the physical name {name:?}"),
                ));
            }
            match (field.metadata.get(ID), field_id(field)) {
                (_, Some(id)) => self.enter_id(id, &path)?,
                (Some(value), None) => {
                    return Err(corrupt(
                        &path,
                        format!("the column's id is {value}, which is no id"),
                    ));
                }
                (None, None) if self.mode == ColumnMappingMode::Id => {
                    return Err(corrupt(&path, "a column of a table mapped by ids has no id"));
                }
                (None, None) => {}
            }
            for (below, id) in nested_ids(field) {
                self.enter_id(id, &format!("{path}.{below}"))?;
            }
            self.enter_type(&field.data_type, &path)?;
        }
        Ok(())
    }

    fn enter_type(&mut self, data_type: &DataType, path: &str) -> Result<()> {
        match data_type {
            DataType::Struct(fields) => self.enter_fields(fields, path),
            DataType::Array(array) => self.enter_type(&array.element_type, &format!("{path}.element")),
            DataType::Map(map) => {
                self.enter_type(&map.key_type, &format!("{path}.key"))?;
                self.enter_type(&map.value_type, &format!("{path}.value"))
            }
            _ => Ok(()),
        }
    }

    fn enter_id(&mut self, id: i32, path: &str) -> Result<()> {
        if let Some(highest) = self.highest.filter(|highest| i64::from(id) > *highest) {
            let message = format!("the column's id {id} is above {MAX_COLUMN_ID}, which is {highest}");
            return Err(corrupt(path, message));
        }
        match self.ids.insert(id, path.to_owned()) {
            Some(other) => Err(corrupt(
                path,
                format!("the columns {other} and {path} have the id {id}"),
            )),
            None => Ok(()),
        }
    }
}

fn corrupt(field: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .with("field", field)
        .hint("the metadata are damaged: restore the commit that holds them from a backup of the table")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn column(name: &str, data_type: &Value, metadata: &Value) -> Value {
        json!({"name": name, "type": data_type, "nullable": true, "metadata": metadata})
    }

    fn mapped(name: &str, data_type: &Value, id: i64, physical: &str) -> Value {
        column(name, data_type, &json!({ID: id, PHYSICAL_NAME: physical}))
    }

    fn structure(fields: &[Value]) -> Value {
        json!({"type": "struct", "fields": fields})
    }

    fn schema(fields: &[Value]) -> Result<StructType> {
        StructType::from_json(&structure(fields).to_string())
    }

    fn metadata(properties: &[(&str, &str)]) -> Metadata {
        Metadata {
            id: "m".to_owned(),
            name: None,
            description: None,
            format: crate::actions::Format {
                provider: "parquet".to_owned(),
                options: BTreeMap::new(),
            },
            schema_string: String::new(),
            partition_columns: Vec::new(),
            configuration: properties
                .iter()
                .map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned())))
                .collect(),
            created_time: None,
        }
    }

    fn protocol(reader: i32, features: Option<&[&str]>) -> Protocol {
        Protocol {
            min_reader_version: reader,
            min_writer_version: 7,
            reader_features: features.map(|names| names.iter().map(ToString::to_string).collect()),
            writer_features: Some(vec!["columnMapping".to_owned()]),
        }
    }

    /// protocol: column-mapping.1, reader-requirements-for-column-mapping.1
    #[test]
    fn the_mode_counts_where_the_protocol_has_the_feature() -> Result<()> {
        for (text, mode) in [
            ("none", ColumnMappingMode::None),
            ("id", ColumnMappingMode::Id),
            ("name", ColumnMappingMode::Name),
            ("NAME", ColumnMappingMode::Name),
        ] {
            let properties = metadata(&[(MODE, text)]);
            for supporting in [protocol(2, None), protocol(3, Some(&["columnMapping"]))] {
                assert_eq!(ColumnMappingMode::of(&supporting, &properties)?, mode, "{text}");
            }
            for other in [protocol(1, None), protocol(3, Some(&[]))] {
                assert_eq!(
                    ColumnMappingMode::of(&other, &properties)?,
                    ColumnMappingMode::None
                );
            }
        }
        let wrong = ColumnMappingMode::of(&protocol(2, None), &metadata(&[(MODE, "position")]));
        assert!(wrong.is_err_and(|error| error.kind() == ErrorKind::CorruptLog));
        assert_eq!(
            ColumnMappingMode::of(&protocol(2, None), &metadata(&[]))?,
            ColumnMappingMode::None
        );
        Ok(())
    }

    /// Structs in arrays and maps are mapped too, and nothing but the names changes.
    #[test]
    fn the_physical_schema_has_the_names_of_the_log_at_every_depth() -> Result<()> {
        let inner = structure(&[mapped("d", &json!("integer"), 3, "p-d")]);
        let array = json!({"type": "array", "elementType": inner, "containsNull": true});
        let map = json!({"type": "map", "keyType": inner, "valueType": array, "valueContainsNull": true});
        let logical = schema(&[
            mapped("a", &json!("long"), 1, "p-a"),
            mapped("s", &inner, 2, "p-s"),
            mapped("m", &map, 4, "p-m"),
        ])?;
        let physical = physical_schema(&logical, ColumnMappingMode::Id);
        let mut parts = Vec::new();
        physical.for_each_part(&mut |path, _| parts.push(path.to_owned()));
        assert_eq!(
            parts,
            [
                "p-a",
                "p-s",
                "p-s.p-d",
                "p-m",
                "p-m.key",
                "p-m.key.p-d",
                "p-m.value",
                "p-m.value.element",
                "p-m.value.element.p-d"
            ]
        );
        assert_eq!(physical_schema(&logical, ColumnMappingMode::None), logical);
        assert_eq!(
            logical_path(&logical, &["p-s", "p-d"], ColumnMappingMode::Name),
            Some(vec!["s", "d"])
        );
        assert_eq!(logical_path(&logical, &["s", "d"], ColumnMappingMode::Name), None);
        assert_eq!(
            logical_path(&logical, &["s", "d"], ColumnMappingMode::None),
            Some(vec!["s", "d"])
        );
        assert_eq!(
            logical_path(&logical, &["p-a", "x"], ColumnMappingMode::Name),
            None
        );
        assert_eq!(
            logical_path(&logical, &[] as &[&str], ColumnMappingMode::Name),
            None
        );
        Ok(())
    }

    /// Both keys are read, and both names before the path.
    #[test]
    fn nested_ids_are_read_in_both_spellings() -> Result<()> {
        for key in NESTED_IDS {
            for name in ["x.y", "p-x"] {
                let ids = json!({ID: 1, PHYSICAL_NAME: "p-x", key: {
                    (format!("{name}.element")): 100,
                    (format!("{name}.element.element")): 101,
                    "other.element": 7,
                }});
                let field = column(
                    "x.y",
                    &json!({"type": "array", "containsNull": true,
                        "elementType": {"type": "array", "elementType": "integer", "containsNull": true}}),
                    &ids,
                );
                let schema = schema(&[field])?;
                let found: Vec<(&str, i32)> = schema.fields.iter().flat_map(nested_ids).collect();
                assert_eq!(found, [("element", 100), ("element.element", 101)], "{key}");
            }
        }
        Ok(())
    }

    #[test]
    fn names_and_ids_that_do_not_tell_columns_apart_are_damage() -> Result<()> {
        let long = json!("long");
        let nested = |id: i64| structure(&[mapped("d", &long, id, "p-a")]);
        let good = schema(&[mapped("a", &long, 1, "p-a"), mapped("s", &nested(3), 2, "p-s")])?;
        let limit = metadata(&[(MAX_COLUMN_ID, "3")]);
        validate(&good, &limit, ColumnMappingMode::Id)?;
        validate(&good, &metadata(&[]), ColumnMappingMode::Name)?;
        // In mode `name`, ids are not used.
        let named = schema(&[column("a", &long, &json!({PHYSICAL_NAME: "p-a"}))])?;
        validate(&named, &limit, ColumnMappingMode::Name)?;
        let bare = schema(&[column("a", &long, &json!({}))])?;
        validate(&bare, &limit, ColumnMappingMode::None)?;
        let elements = json!({ID: 1, PHYSICAL_NAME: "p-a", "parquet.field.nested.ids": {"a.element": 1}});
        let array = json!({"type": "array", "elementType": "long", "containsNull": true});
        for (fields, mode, field) in [
            (vec![column("a", &long, &json!({}))], ColumnMappingMode::Name, "a"),
            (
                vec![column("a", &long, &json!({PHYSICAL_NAME: "", ID: 1}))],
                ColumnMappingMode::Name,
                "a",
            ),
            (
                vec![column("a", &long, &json!({PHYSICAL_NAME: "p"}))],
                ColumnMappingMode::Id,
                "a",
            ),
            (
                vec![column("a", &long, &json!({PHYSICAL_NAME: "p", ID: "one"}))],
                ColumnMappingMode::Name,
                "a",
            ),
            (
                vec![mapped("a", &long, 4_294_967_297, "p")],
                ColumnMappingMode::Id,
                "a",
            ),
            (vec![mapped("a", &long, 4, "p")], ColumnMappingMode::Id, "a"),
            (
                vec![mapped("a", &long, 1, "p"), mapped("b", &long, 2, "p")],
                ColumnMappingMode::Name,
                "b",
            ),
            (
                vec![mapped("a", &long, 1, "p"), mapped("s", &nested(1), 2, "q")],
                ColumnMappingMode::Id,
                "s.d",
            ),
            (
                vec![column("a", &array, &elements)],
                ColumnMappingMode::Id,
                "a.element",
            ),
        ] {
            let error = validate(&schema(&fields)?, &limit, mode).err();
            assert!(
                error.as_ref().is_some_and(|error| {
                    error.kind() == ErrorKind::CorruptLog
                        && error.context().contains(&("field", field.into()))
                }),
                "{fields:?}: {error:?}"
            );
        }
        assert!(
            validate(
                &good,
                &metadata(&[(MAX_COLUMN_ID, "many")]),
                ColumnMappingMode::Id
            )
            .is_err()
        );
        Ok(())
    }
}
