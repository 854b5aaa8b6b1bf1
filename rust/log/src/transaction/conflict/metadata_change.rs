//! Metadata changes of a winning commit that are compatible with a commit that does not change metadata: properties
//! that do not concern existing files, and the column mapping metadata of the schema.

use deltaic_protocol::TableConfiguration;
use std::collections::BTreeSet;

use deltaic_protocol::actions::{Metadata, Protocol};
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::features::{CompatibleIf, FEATURES, Feature, supports_for_writers};
use deltaic_protocol::schema::{DataType, StructType};

/// A property that the winning commit changed.
struct PropertyChange<'a> {
    protocol: &'a Protocol,
    old: &'a Metadata,
    new: &'a Metadata,
    before: Option<&'a str>,
    value: &'a str,
}

impl PropertyChange<'_> {
    fn is_compatible(&self, row: &Feature, condition: CompatibleIf) -> bool {
        match condition {
            CompatibleIf::Set => true,
            CompatibleIf::New => self.before.is_none(),
            CompatibleIf::Becomes(value) => {
                is_equal(self.value, value) && supports_for_writers(self.protocol, row.name)
            }
            CompatibleIf::Enabled => row
                .property
                .and_then(|key| self.new.property(key))
                .is_some_and(|value| is_equal(value, "true")),
            CompatibleIf::MapsColumns => turns_mapping_on(self.protocol, self.old, self.new),
        }
    }
}

fn is_equal(value: &str, expected: &str) -> bool {
    value.trim().eq_ignore_ascii_case(expected)
}

/// The rows of features that let a winning commit change a property, each with its condition.
fn conditions(key: &str) -> impl Iterator<Item = (&'static Feature, CompatibleIf)> {
    FEATURES.iter().flat_map(move |row| {
        let conditions = row.compatible.iter();
        conditions.filter_map(move |(property, condition)| (*property == key).then_some((row, *condition)))
    })
}

/// Returns the first field or property whose change is incompatible; `None` if all changes are compatible.
pub(super) fn hindrance(protocol: &Protocol, old: &Metadata, new: &Metadata) -> Option<String> {
    for (field, is_same) in [
        ("id", old.id == new.id),
        ("name", old.name == new.name),
        ("description", old.description == new.description),
        ("format", old.format == new.format),
        ("partitionColumns", old.partition_columns == new.partition_columns),
        ("createdTime", old.created_time == new.created_time),
    ] {
        if !is_same {
            return Some(field.to_owned());
        }
    }
    let keys: BTreeSet<&String> = old.configuration.keys().chain(new.configuration.keys()).collect();
    for key in keys {
        let (before, after) = (old.property(key), new.property(key));
        if before == after {
            continue;
        }
        let allowed = after.is_some_and(|value| {
            let change = PropertyChange {
                protocol,
                old,
                new,
                before,
                value,
            };
            conditions(key).any(|(row, condition)| change.is_compatible(row, condition))
        });
        if !allowed {
            return Some(key.clone());
        }
    }
    let schema_may_change =
        old.schema_string == new.schema_string || only_mapping_changed(protocol, old, new);
    (!schema_may_change).then(|| "schemaString".to_owned())
}

/// Whether column mapping by name was enabled in a table without it.
fn turns_mapping_on(protocol: &Protocol, old: &Metadata, new: &Metadata) -> bool {
    let mode =
        |metadata: &Metadata| TableConfiguration::new(protocol.clone(), metadata.clone()).column_mapping();
    let (was, is) = (mode(old), mode(new));
    matches!(
        (was, is),
        (Ok(ColumnMappingMode::None), Ok(ColumnMappingMode::Name))
    ) && supports_for_writers(protocol, "columnMapping")
}

/// Whether the schemas differ only in column mapping metadata, and column mapping was enabled.
fn only_mapping_changed(protocol: &Protocol, old: &Metadata, new: &Metadata) -> bool {
    let (Ok(mut before), Ok(mut after)) = (old.schema(), new.schema()) else {
        return false;
    };
    if before == after {
        return true;
    }
    strip(&mut before);
    strip(&mut after);
    before == after && turns_mapping_on(protocol, old, new)
}

/// Column mapping metadata of a field.
const NOTES: [&str; 5] = [
    "delta.columnMapping.id",
    "delta.columnMapping.physicalName",
    "delta.columnMapping.nested.ids",
    "parquet.field.id",
    "parquet.field.nested.ids",
];

fn strip(fields: &mut StructType) {
    for field in &mut fields.fields {
        field.metadata.retain(|key, _| !NOTES.contains(&key.as_str()));
        strip_type(&mut field.data_type);
    }
}

fn strip_type(data_type: &mut DataType) {
    match data_type {
        DataType::Struct(fields) => strip(fields),
        DataType::Array(array) => strip_type(&mut array.element_type),
        DataType::Map(map) => {
            strip_type(&mut map.key_type);
            strip_type(&mut map.value_type);
        }
        DataType::Primitive(_) | DataType::Unknown(_) => {}
    }
}
