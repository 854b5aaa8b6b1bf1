//! Validates that the physical names and ids of a mapped table are unambiguous.

use std::collections::{HashMap, HashSet};

use super::corrupt::corrupt;
use super::field_metadata::{COLUMN_ID, MAX_COLUMN_ID, field_id, nested_ids, physical_name};
use super::mode::ColumnMappingMode;
use crate::Result;
use crate::actions::Metadata;
use crate::schema::{DataType, StructType};

/// Verifies that the physical names and ids of a mapped table identify its columns. Tables without column
/// mapping are not checked.
///
/// # Errors
///
/// Returns `CorruptLog` with the `field` if it has no physical name or, in mode `id`, no id, shares
/// either with another field, or has an id above `delta.columnMapping.maxColumnId`.
pub fn validate(schema: &StructType, metadata: &Metadata, mode: ColumnMappingMode) -> Result<()> {
    if !mode.is_mapped() {
        return Ok(());
    }
    let highest = match metadata.property(MAX_COLUMN_ID) {
        None => None,
        Some(text) => Some(text.trim().parse::<i64>().map_err(|_| {
            corrupt(
                MAX_COLUMN_ID,
                format!("{MAX_COLUMN_ID} is {text:?}, which is not a number"),
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

/// The columns visited so far.
struct Columns {
    mode: ColumnMappingMode,
    highest: Option<i64>,
    /// Each id with its column.
    ids: HashMap<i32, String>,
}

impl Columns {
    fn enter_fields(&mut self, fields: &StructType, above: &str) -> Result<()> {
        // Names are unique among siblings: a table that was mapped later retains its original names.
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
            match (field.metadata.get(COLUMN_ID), field_id(field)) {
                (_, Some(id)) => self.enter_id(id, &path)?,
                (Some(value), None) => {
                    return Err(corrupt(
                        &path,
                        format!("the column's id is {value}, which is not an id"),
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
