//! Which changes of a winner's metadata a commit that has none can follow: properties that ask nothing of files that are
//! written already, and what column mapping notes in the schema.

use std::collections::BTreeSet;

use deltaic_protocol::actions::{Metadata, Protocol};
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::schema::{DataType, StructType};

/// A property that a winner set.
struct Change<'a> {
    protocol: &'a Protocol,
    old: &'a Metadata,
    new: &'a Metadata,
    before: Option<&'a str>,
    value: &'a str,
}

impl Change<'_> {
    /// Set to true where the table supports the feature.
    fn turns_on(&self, feature: &str) -> bool {
        is_true(Some(self.value)) && supports_for_writers(self.protocol, feature)
    }

    fn maps_columns(&self) -> bool {
        turns_mapping_on(self.protocol, self.old, self.new)
    }
}

/// Whether a change of a property can be followed.
type MayChange = fn(&Change<'_>) -> bool;

/// The properties that may change, and where each of them may. None may be taken away.
#[rustfmt::skip] // a table: one row a line
const ALLOWED: &[(&str, MayChange)] = &[
    // Rows are numbered from then on; the commit says that it kept no ids.
    ("delta.enableRowTracking", |change| change.turns_on("rowTracking")),
    ("delta.rowTracking.materializedRowIdColumnName", |change| is_true(change.new.property("delta.enableRowTracking"))),
    ("delta.rowTracking.materializedRowCommitVersionColumnName", |change| is_true(change.new.property("delta.enableRowTracking"))),
    // Physical names are the names that the files have.
    ("delta.columnMapping.mode", |change| change.maps_columns()),
    ("delta.columnMapping.maxColumnId", |_| true),
    // A commit may do without vectors where it could write some.
    ("delta.enableDeletionVectors", |change| change.turns_on("deletionVectors")),
    ("delta.checkpointPolicy", |change| change.value == "v2" && supports_for_writers(change.protocol, "v2Checkpoint")),
    // The time of a commit is set at each attempt.
    ("delta.enableInCommitTimestamps", |change| change.turns_on("inCommitTimestamp")),
    ("delta.inCommitTimestampEnablementVersion", is_new),
    ("delta.inCommitTimestampEnablementTimestamp", is_new),
    ("io.unitycatalog.tableId", is_new),
    ("ucTableId", is_new),
];

fn is_new(change: &Change<'_>) -> bool {
    change.before.is_none()
}

fn is_true(value: Option<&str>) -> bool {
    value.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

/// The first field or property whose change a commit without metadata cannot follow; none where it can follow all.
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
            let change = Change {
                protocol,
                old,
                new,
                before,
                value,
            };
            ALLOWED.iter().any(|(name, may)| name == key && may(&change))
        });
        if !allowed {
            return Some(key.clone());
        }
    }
    let schema_may_change =
        old.schema_string == new.schema_string || only_mapping_changed(protocol, old, new);
    (!schema_may_change).then(|| "schemaString".to_owned())
}

/// Whether column mapping by names came to a table that had none.
fn turns_mapping_on(protocol: &Protocol, old: &Metadata, new: &Metadata) -> bool {
    let was = ColumnMappingMode::of(protocol, old);
    let is = ColumnMappingMode::of(protocol, new);
    matches!(
        (was, is),
        (Ok(ColumnMappingMode::None), Ok(ColumnMappingMode::Name))
    ) && supports_for_writers(protocol, "columnMapping")
}

/// Whether both schemas are the same one but for what column mapping notes in it, and that was turned on.
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

/// What column mapping notes of a field.
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
