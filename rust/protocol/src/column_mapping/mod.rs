//! Column mapping: the names and ids that the log and the data files know a column by.
//!
//! Protocol: *Column Mapping*, *Reader Requirements for Column Mapping*.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
mod tests;
