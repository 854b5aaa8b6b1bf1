//! The properties of column mapping, and the physical names and ids in the metadata of fields.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::schema::StructField;

pub(crate) const MODE: &str = "delta.columnMapping.mode";
pub(crate) const MAX_COLUMN_ID: &str = "delta.columnMapping.maxColumnId";
pub(crate) const PHYSICAL_NAME: &str = "delta.columnMapping.physicalName";
/// The key of a field's id in its metadata.
pub const COLUMN_ID: &str = "delta.columnMapping.id";
/// The keys of the ids of elements, keys and values: as existing tables spell it, and as the protocol does.
pub(super) const NESTED_IDS: [&str; 2] = ["delta.columnMapping.nested.ids", "parquet.field.nested.ids"];

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
    field.metadata.get(COLUMN_ID).and_then(id_of)
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
