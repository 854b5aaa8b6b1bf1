//! Column mapping: the physical names and ids of columns in the log and in data files.
//!
//! Protocol: *Column Mapping*, *Reader Requirements for Column Mapping*.

mod assign;
mod validate;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{ArrayType, DataType, MapType, StructField, StructType};
use crate::{Error, ErrorKind, Result, TableConfiguration};

pub(crate) const MODE: &str = "delta.columnMapping.mode";
pub(crate) const MAX_COLUMN_ID: &str = "delta.columnMapping.maxColumnId";
pub(crate) const PHYSICAL_NAME: &str = "delta.columnMapping.physicalName";
/// The key of a field's id in its metadata.
pub const COLUMN_ID: &str = "delta.columnMapping.id";
const ID: &str = COLUMN_ID;
/// The keys of the ids of elements, keys and values: as existing tables spell it, and as the protocol does.
const NESTED_IDS: [&str; 2] = ["delta.columnMapping.nested.ids", "parquet.field.nested.ids"];

pub(crate) use assign::{Names, assign, each_field, ids_in, is_unused, lacks_nested_ids, strip};
pub use validate::validate;

/// How columns are resolved in data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnMappingMode {
    /// By their logical names.
    None,
    /// By their ids.
    Id,
    /// By their physical names.
    Name,
}

impl TableConfiguration {
    /// How columns are resolved in data files.
    ///
    /// # Errors
    ///
    /// As [`ColumnMappingMode::of`].
    pub fn column_mapping(&self) -> Result<ColumnMappingMode> {
        ColumnMappingMode::of(self)
    }

    /// The highest column id that was ever assigned.
    pub(crate) fn highest_column_id(&self) -> Result<i64> {
        let recorded = self
            .metadata()
            .property(MAX_COLUMN_ID)
            .and_then(|text| text.trim().parse().ok());
        let found = ids_in(&*self.schema()?).into_iter().max();
        Ok(recorded.unwrap_or(0).max(found.unwrap_or(0)))
    }
}

impl ColumnMappingMode {
    /// The mode of a table. The property applies only if the protocol has the feature for readers.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` if the mode does not exist.
    pub fn of(table: &TableConfiguration) -> Result<Self> {
        let (protocol, metadata) = (table.protocol(), table.metadata());
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

    /// Whether the log and data files use physical names.
    #[must_use]
    pub fn is_mapped(self) -> bool {
        self != Self::None
    }
}

/// The physical name of a column or nested field in partition values, statistics and checkpoints.
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

/// The physical name of a field in the schema.
#[must_use]
pub fn physical_name(field: &StructField) -> Option<&str> {
    field
        .metadata
        .get(PHYSICAL_NAME)?
        .as_str()
        .filter(|name| !name.is_empty())
}

/// The id of a field in the schema: the `field_id` in Parquet.
#[must_use]
pub fn field_id(field: &StructField) -> Option<i32> {
    field.metadata.get(ID).and_then(id_of)
}

/// The ids of the elements, keys and values of a field by their path below the field, such as
/// `element.key`.
#[must_use]
pub fn nested_ids(field: &StructField) -> BTreeMap<&str, i32> {
    let mut found = BTreeMap::new();
    for ids in NESTED_IDS
        .iter()
        .filter_map(|key| field.metadata.get(*key)?.as_object())
    {
        for (path, id) in ids {
            // The path starts with the logical or the physical name of the field.
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

/// The schema under physical names, which statistics and the columns of checkpoints use.
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

/// The logical names, outermost first, of a physical path; `None` if the schema has no such column.
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

fn corrupt(field: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .with("field", field)
        .hint("the metadata is damaged: restore the commit that contains it from a backup of the table")
}

#[cfg(test)]
mod tests;
