//! One row per feature. Every check of a protocol is made from this table.

use crate::actions::Metadata;
use crate::schema::{StructField, StructType};

/// Whom a feature binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Writers only.
    Writer,
    /// Readers and writers.
    ReaderWriter,
}

/// What deltaic can do with a table that has the feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Everything that the feature asks.
    Full,
    /// Nothing is asked as long as the feature is supported by the table but not active in it.
    WhileInactive,
    /// Not implemented: the table is refused.
    None,
}

/// A row of the table of features.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// The name in the protocol action.
    pub name: &'static str,
    /// Whom it binds.
    pub kind: Kind,
    /// The legacy reader and writer versions that imply it; 0 where none does.
    pub legacy: (i32, i32),
    /// The table property whose value `true` turns it on, where there is one.
    pub property: Option<&'static str>,
    /// What we can do as a reader.
    pub read: Support,
    /// What we can do when appending.
    pub append: Support,
    /// Whether a table that supports the feature also uses it.
    pub active: fn(&Metadata, &StructType) -> bool,
}

const fn writer(name: &'static str, legacy_writer: i32, append: Support) -> Feature {
    Feature {
        name,
        kind: Kind::Writer,
        legacy: (0, legacy_writer),
        property: None,
        read: Support::Full,
        append,
        active: always,
    }
}

const fn reader_writer(name: &'static str, read: Support, append: Support) -> Feature {
    Feature {
        name,
        kind: Kind::ReaderWriter,
        legacy: (0, 0),
        property: None,
        read,
        append,
        active: always,
    }
}

/// Every feature that deltaic knows by name. One that is not here is refused by the name it has.
pub static FEATURES: &[Feature] = &[
    Feature {
        property: Some("delta.appendOnly"),
        ..writer("appendOnly", 2, Support::Full)
    },
    Feature {
        active: has_invariants,
        ..writer("invariants", 2, Support::WhileInactive)
    },
    Feature {
        active: has_constraints,
        ..writer("checkConstraints", 3, Support::WhileInactive)
    },
    // Appended rows need no change data files: a version without them is its own change feed.
    Feature {
        property: Some("delta.enableChangeDataFeed"),
        ..writer("changeDataFeed", 4, Support::Full)
    },
    Feature {
        active: has_generated_columns,
        ..writer("generatedColumns", 4, Support::WhileInactive)
    },
    Feature {
        legacy: (2, 5),
        property: Some("delta.columnMapping.mode"),
        active: maps_columns,
        ..reader_writer("columnMapping", Support::None, Support::None)
    },
    Feature {
        active: has_identity_columns,
        ..writer("identityColumns", 6, Support::WhileInactive)
    },
    Feature {
        active: has_default_columns,
        ..writer("allowColumnDefaults", 0, Support::WhileInactive)
    },
    Feature {
        property: Some("delta.enableDeletionVectors"),
        ..reader_writer("deletionVectors", Support::None, Support::None)
    },
    // Row ids are handed out from the moment the feature is supported, enabled or not.
    Feature {
        property: Some("delta.enableRowTracking"),
        ..writer("rowTracking", 0, Support::None)
    },
    reader_writer("timestampNtz", Support::Full, Support::Full),
    writer("domainMetadata", 0, Support::Full),
    reader_writer("v2Checkpoint", Support::None, Support::None),
    Feature {
        property: Some("delta.enableIcebergCompatV1"),
        ..writer("icebergCompatV1", 0, Support::None)
    },
    Feature {
        property: Some("delta.enableIcebergCompatV2"),
        ..writer("icebergCompatV2", 0, Support::None)
    },
    Feature {
        property: Some("delta.enableIcebergCompatV3"),
        ..writer("icebergCompatV3", 0, Support::None)
    },
    writer("clustering", 0, Support::None),
    reader_writer("vacuumProtocolCheck", Support::Full, Support::Full),
    Feature {
        property: Some("delta.enableInCommitTimestamps"),
        active: has_in_commit_timestamps,
        ..writer("inCommitTimestamp", 0, Support::WhileInactive)
    },
    Feature {
        property: Some("delta.enableTypeWidening"),
        ..reader_writer("typeWidening", Support::None, Support::None)
    },
    reader_writer("variantType", Support::None, Support::None),
    reader_writer("variantShredding", Support::None, Support::None),
    reader_writer("catalogManaged", Support::None, Support::None),
    // It binds checkpoints and cleanup, which an append does not touch.
    writer("checkpointProtection", 0, Support::Full),
    writer("collations", 0, Support::None),
    writer("materializePartitionColumns", 0, Support::None),
];

/// The row of a feature.
#[must_use]
pub fn feature(name: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| feature.name == name)
}

fn always(_: &Metadata, _: &StructType) -> bool {
    true
}

fn is_true(metadata: &Metadata, key: &str) -> bool {
    metadata
        .property(key)
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

fn has_in_commit_timestamps(metadata: &Metadata, _: &StructType) -> bool {
    is_true(metadata, "delta.enableInCommitTimestamps")
}

fn maps_columns(metadata: &Metadata, _: &StructType) -> bool {
    metadata
        .property("delta.columnMapping.mode")
        .is_some_and(|mode| !mode.eq_ignore_ascii_case("none"))
}

fn has_constraints(metadata: &Metadata, _: &StructType) -> bool {
    metadata
        .configuration
        .keys()
        .any(|key| key.starts_with("delta.constraints."))
}

fn has_invariants(_: &Metadata, schema: &StructType) -> bool {
    any_field(schema, &|field| field.metadata.contains_key("delta.invariants"))
}

fn has_generated_columns(_: &Metadata, schema: &StructType) -> bool {
    any_field(schema, &|field| {
        field.metadata.contains_key("delta.generationExpression")
    })
}

fn has_identity_columns(_: &Metadata, schema: &StructType) -> bool {
    any_field(schema, &|field| {
        field
            .metadata
            .keys()
            .any(|key| key.starts_with("delta.identity."))
    })
}

fn has_default_columns(_: &Metadata, schema: &StructType) -> bool {
    any_field(schema, &|field| field.metadata.contains_key("CURRENT_DEFAULT"))
}

fn any_field(schema: &StructType, test: &dyn Fn(&StructField) -> bool) -> bool {
    let mut found = schema.fields.iter().any(test);
    schema.for_each_part(&mut |_, data_type| {
        if let crate::schema::DataType::Struct(fields) = data_type {
            found = found || fields.fields.iter().any(test);
        }
    });
    found
}
