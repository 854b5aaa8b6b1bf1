//! The table of features, one row each, from which every protocol check is derived.

use crate::actions::Metadata;
use crate::schema::{StructField, StructType};

/// Which clients a feature binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Writers only.
    Writer,
    /// Readers and writers.
    ReaderWriter,
}

/// How far deltaic supports tables with the feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Fully supported.
    Full,
    /// Supported while the feature is not active in the table.
    WhileInactive,
    /// Fully supported once the catalog has provided the tail of the log.
    WithTail,
    /// Not implemented: the table is refused.
    None,
}

/// A row of the table of features.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// The name in the protocol action.
    pub name: &'static str,
    /// Which clients it binds.
    pub kind: Kind,
    /// The legacy reader and writer versions that imply it; 0 if none does.
    pub legacy: (i32, i32),
    /// Names of the feature before it was finished, or in some writers.
    pub aliases: &'static [&'static str],
    /// Features that a table must also have.
    pub requires: &'static [&'static str],
    /// Features that a table must not have as well.
    pub excludes: &'static [&'static str],
    /// The table property that enables the feature if `true`.
    pub property: Option<&'static str>,
    /// Support for reading the log: opening it, listing files, reading metadata and history.
    pub open: Support,
    /// Support for reading rows.
    pub read: Support,
    /// Support for appending.
    pub append: Support,
    /// Support for removing files, or rows by deletion vectors, without adding rows.
    pub remove: Support,
    /// Support for writing checkpoints.
    pub checkpoint: Support,
    /// Support for changing the protocol, metadata and domains of the table.
    pub change: Support,
    /// Whether a table that supports the feature also uses it.
    pub active: fn(&Metadata, &StructType) -> bool,
}

const fn writer(name: &'static str, legacy_writer: i32, append: Support) -> Feature {
    Feature {
        name,
        kind: Kind::Writer,
        legacy: (0, legacy_writer),
        aliases: &[],
        requires: &[],
        excludes: &[],
        property: None,
        open: Support::Full,
        read: Support::Full,
        append,
        remove: append,
        checkpoint: Support::Full,
        change: Support::Full,
        active: always,
    }
}

/// A feature that restricts the rows that are written: constraints, defaults, generated values. Rows may be removed
/// without evaluating it.
const fn row_rule(name: &'static str, legacy_writer: i32) -> Feature {
    Feature {
        remove: Support::Full,
        ..writer(name, legacy_writer, Support::WhileInactive)
    }
}

const fn both(name: &'static str, read: Support, append: Support) -> Feature {
    Feature {
        name,
        kind: Kind::ReaderWriter,
        legacy: (0, 0),
        aliases: &[],
        requires: &[],
        excludes: &[],
        property: None,
        open: Support::Full,
        read,
        append,
        remove: append,
        checkpoint: Support::Full,
        change: Support::Full,
        active: always,
    }
}

const FULL: Support = Support::Full;
const WHILE_INACTIVE: Support = Support::WhileInactive;
const WITH_TAIL: Support = Support::WithTail;
const NONE: Support = Support::None;

/// Every feature that deltaic knows. Other features are refused by name.
#[rustfmt::skip] // a table: one row a line
pub static FEATURES: &[Feature] = &[
    Feature { property: Some("delta.appendOnly"), ..writer("appendOnly", 2, FULL) },
    Feature { active: has_invariants, ..row_rule("invariants", 2) },
    Feature { active: has_constraints, ..row_rule("checkConstraints", 3) },
    // Appended rows need no change data files: a version without them is its own change feed.
    Feature { property: Some("delta.enableChangeDataFeed"), ..writer("changeDataFeed", 4, FULL) },
    Feature { active: has_generated_columns, ..row_rule("generatedColumns", 4) },
    Feature { legacy: (2, 5), property: Some("delta.columnMapping.mode"), active: maps_columns, ..both("columnMapping", FULL, WHILE_INACTIVE) },
    Feature { active: has_identity_columns, ..row_rule("identityColumns", 6) },
    Feature { active: has_default_columns, ..row_rule("allowColumnDefaults", 0) },
    Feature { property: Some("delta.enableDeletionVectors"), ..both("deletionVectors", FULL, FULL) },
    // Row ids are assigned as soon as the feature is supported, enabled or not.
    Feature { property: Some("delta.enableRowTracking"), requires: &["domainMetadata"], ..writer("rowTracking", 0, FULL) },
    Feature { aliases: &["timestampWithoutTimezone"], ..both("timestampNtz", FULL, FULL) },
    Feature { change: NONE, checkpoint: NONE, aliases: &["timestampNanos-dev"], requires: &["timestampNtz"], ..both("timestampNanos", NONE, NONE) },
    writer("domainMetadata", 0, FULL),
    // It binds writers of checkpoints; an append writes none.
    both("v2Checkpoint", FULL, FULL),
    Feature { property: Some("delta.enableIcebergCompatV1"), requires: &["columnMapping"], excludes: &["deletionVectors"], ..writer("icebergCompatV1", 0, NONE) },
    Feature { property: Some("delta.enableIcebergCompatV2"), requires: &["columnMapping"], ..writer("icebergCompatV2", 0, NONE) },
    Feature { change: NONE, property: Some("delta.enableIcebergCompatV3"), requires: &["columnMapping", "rowTracking"], ..writer("icebergCompatV3", 0, NONE) },
    Feature { change: NONE, property: Some("delta.enableIcebergWriterCompatV1"), requires: &["icebergCompatV2"], ..writer("icebergWriterCompatV1", 0, NONE) },
    Feature { change: NONE, property: Some("delta.enableIcebergWriterCompatV3"), requires: &["icebergCompatV3"], ..writer("icebergWriterCompatV3", 0, NONE) },
    Feature { requires: &["domainMetadata"], ..writer("clustering", 0, NONE) },
    both("vacuumProtocolCheck", FULL, FULL),
    Feature { aliases: &["inCommitTimestamps", "inCommitTimestamp-preview"], property: Some("delta.enableInCommitTimestamps"), ..writer("inCommitTimestamp", 0, FULL) },
    Feature { aliases: &["typeWidening-preview"], property: Some("delta.enableTypeWidening"), ..both("typeWidening", FULL, NONE) },
    Feature { aliases: &["variantType-preview"], ..both("variantType", FULL, NONE) },
    Feature { aliases: &["variantShredding-preview"], property: Some("delta.enableVariantShredding"), requires: &["variantType"], ..both("variantShredding", FULL, NONE) },
    Feature { change: NONE, open: WITH_TAIL, aliases: &["catalogOwned-preview"], requires: &["inCommitTimestamp", "vacuumProtocolCheck"], ..both("catalogManaged", NONE, NONE) },
    // It binds checkpoints and metadata cleanup, which an append does not affect.
    writer("checkpointProtection", 0, FULL),
    Feature { aliases: &["collations-preview"], requires: &["domainMetadata"], ..writer("collations", 0, NONE) },
    Feature { change: NONE, property: Some("delta.enableMaterializePartitionColumnsFeature"), ..writer("materializePartitionColumns", 0, NONE) },
    Feature { change: NONE, ..writer("columnMappingUsageTracking", 0, NONE) },
    Feature { change: NONE, ..writer("concurrentIdentityColumns", 0, NONE) },
    Feature { change: NONE, checkpoint: NONE, open: NONE, aliases: &["adaptiveMetadata-preview"], requires: &["columnMapping", "rowTracking", "deletionVectors", "domainMetadata", "inCommitTimestamp"], excludes: &["v2Checkpoint"], ..both("adaptiveMetadata", NONE, NONE) },
    Feature { change: NONE, checkpoint: NONE, aliases: &["geospatial-dev"], ..both("geospatial", NONE, NONE) },
    Feature { change: NONE, checkpoint: NONE, open: NONE, aliases: &["redirectReaderWriter-preview"], ..both("redirectReaderWriter", NONE, NONE) },
    Feature { change: NONE, checkpoint: NONE, aliases: &["redirectWriterOnly-preview"], ..writer("redirectWriterOnly", 0, NONE) },
    Feature { change: NONE, checkpoint: NONE, aliases: &["coordinatedCommits-preview", "managedCommit-preview"], requires: &["inCommitTimestamp", "vacuumProtocolCheck"], ..writer("coordinatedCommits", 0, NONE) },
];

/// The row of a feature, found by its name or an alias.
#[must_use]
pub fn feature(name: &str) -> Option<&'static Feature> {
    FEATURES
        .iter()
        .find(|feature| feature.name == name || feature.aliases.contains(&name))
}

fn always(_: &Metadata, _: &StructType) -> bool {
    true
}

pub(super) fn is_true(metadata: &Metadata, key: &str) -> bool {
    metadata
        .property(key)
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
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

pub(super) fn any_field(schema: &StructType, test: &dyn Fn(&StructField) -> bool) -> bool {
    let mut found = schema.fields.iter().any(test);
    schema.for_each_part(&mut |_, data_type| {
        if let crate::schema::DataType::Struct(fields) = data_type {
            found = found || fields.fields.iter().any(test);
        }
    });
    found
}
