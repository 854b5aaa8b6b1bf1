//! Column mapping: the physical names and ids of columns in the log and in data files.
//!
//! Protocol: *Column Mapping*, *Reader Requirements for Column Mapping*.

mod assign;
mod corrupt;
mod field_metadata;
mod mode;
mod validate;

use crate::schema::{ArrayType, DataType, MapType, StructField, StructType};
use crate::{Result, TableConfiguration};

pub(crate) use assign::{Names, assign, each_field, ids_in, is_unused, lacks_nested_ids, strip};
pub use field_metadata::{COLUMN_ID, field_id, nested_ids, physical_name};
pub(crate) use field_metadata::{MAX_COLUMN_ID, MODE, PHYSICAL_NAME};
pub use mode::ColumnMappingMode;
pub use validate::validate;

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

#[cfg(test)]
mod tests;
