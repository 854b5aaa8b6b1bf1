//! The table of features, one row each, from which every protocol check is derived.

use super::drop_rule::{
    Drop, FileUse, PROTECTED_BEFORE, checks, clustered, domains, mapped, metadata_of, of_type,
};
use super::row::{CompatibleIf, FULL, Feature, NONE, WITH_TAIL, both, row_rule, writer};
use super::use_in_table::{
    has_constraints, has_default_columns, has_generated_columns, has_identity_columns, has_invariants,
    has_key, has_type, has_v2_checkpoints, maps_columns,
};
use crate::clustering;
use crate::schema::{PrimitiveType, StructType};

/// Every feature that deltaic knows. Other features are refused by name.
#[rustfmt::skip] // a table: a row each
pub static FEATURES: &[Feature] = &[
    writer("appendOnly", 2, FULL).property("delta.appendOnly").dropped(Drop::PLAIN),
    row_rule("invariants", 2, has_invariants)
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "delta.invariants", "columns with invariants"))),
    row_rule("checkConstraints", 3, has_constraints).dropped(Drop::if_unused(|table, _| checks(table))),
    // Appended rows need no change data files: a version without them is its own change feed.
    writer("changeDataFeed", 4, FULL).property("delta.enableChangeDataFeed").dropped(Drop::PLAIN),
    row_rule("generatedColumns", 4, has_generated_columns)
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "delta.generationExpression", "generated columns"))),
    Feature { legacy: (2, 5), ..both("columnMapping", FULL, FULL) }.property("delta.columnMapping.mode")
        .active(maps_columns).needed(maps_columns)
        .compatible(&[("delta.columnMapping.mode", CompatibleIf::MapsColumns), ("delta.columnMapping.maxColumnId", CompatibleIf::Set)])
        .dropped(Drop { properties: &["delta.columnMapping.maxColumnId"], ..Drop::if_unused(mapped) }.seen_in_files(FileUse::Schema).protecting_history()),
    row_rule("identityColumns", 6, has_identity_columns)
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "delta.identity.start", "identity columns"))),
    row_rule("allowColumnDefaults", 0, has_default_columns)
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "CURRENT_DEFAULT", "columns with defaults"))),
    both("deletionVectors", FULL, FULL).property("delta.enableDeletionVectors")
        // Deletion vectors are optional for a commit.
        .compatible(&[("delta.enableDeletionVectors", CompatibleIf::Becomes("true"))])
        .dropped(Drop::PLAIN.seen_in_files(FileUse::DeletionVectors).protecting_history()),
    // Row ids are assigned as soon as the feature is supported, enabled or not.
    writer("rowTracking", 0, FULL).property("delta.enableRowTracking").requires(&["domainMetadata"])
        // Rows have ids from then on; a commit that did not read the change records that it kept no row ids.
        .compatible(&[("delta.enableRowTracking", CompatibleIf::Becomes("true")), ("delta.rowTracking.materializedRowIdColumnName", CompatibleIf::Enabled), ("delta.rowTracking.materializedRowCommitVersionColumnName", CompatibleIf::Enabled)])
        .dropped(Drop { properties: &["delta.rowTrackingSuspended", "delta.rowTracking.materializedRowIdColumnName", "delta.rowTracking.materializedRowCommitVersionColumnName"], domains: &["delta.rowTracking"], ..Drop::PLAIN.seen_in_files(FileUse::RowIds) }),
    both("timestampNtz", FULL, FULL).aliases(&["timestampWithoutTimezone"])
        .needed(|_, schema| has_type(schema, PrimitiveType::TimestampNtz))
        .dropped(Drop::if_unused(|_, schema| of_type(schema, PrimitiveType::TimestampNtz)).protecting_history()),
    both("timestampNanos", NONE, NONE).aliases(&["timestampNanos-dev"]).requires(&["timestampNtz"]).read_only(),
    writer("domainMetadata", 0, FULL).dropped(Drop::if_unused(|table, _| domains(table))),
    // It binds writers of checkpoints; an append writes none.
    both("v2Checkpoint", FULL, FULL).needed(has_v2_checkpoints)
        .compatible(&[("delta.checkpointPolicy", CompatibleIf::Becomes("v2"))])
        .dropped(Drop::if_unused(|table, _| has_v2_checkpoints(table.metadata(), &StructType::default()).then(|| "the property delta.checkpointPolicy, which is v2".to_owned())).seen_in_files(FileUse::Checkpoints).protecting_history()),
    writer("icebergCompatV1", 0, FULL).property("delta.enableIcebergCompatV1").requires(&["columnMapping"]).excludes(&["deletionVectors"]).dropped(Drop::PLAIN),
    writer("icebergCompatV2", 0, FULL).property("delta.enableIcebergCompatV2").requires(&["columnMapping"]).dropped(Drop::PLAIN),
    writer("icebergCompatV3", 0, FULL).property("delta.enableIcebergCompatV3").requires(&["columnMapping", "rowTracking"]).dropped(Drop::PLAIN),
    writer("icebergWriterCompatV1", 0, NONE).property("delta.enableIcebergWriterCompatV1").requires(&["icebergCompatV2"]).unaltered(),
    writer("icebergWriterCompatV3", 0, NONE).property("delta.enableIcebergWriterCompatV3").requires(&["icebergCompatV3"]).unaltered(),
    writer("clustering", 0, FULL).requires(&["domainMetadata"])
        .dropped(Drop { domains: &[clustering::DOMAIN], ..Drop::if_unused(|table, _| clustered(table)) }),
    both("vacuumProtocolCheck", FULL, FULL).dropped(Drop::PLAIN),
    writer("inCommitTimestamp", 0, FULL).aliases(&["inCommitTimestamps", "inCommitTimestamp-preview"]).property("delta.enableInCommitTimestamps")
        // The in-commit timestamp is set for each attempt.
        .compatible(&[("delta.enableInCommitTimestamps", CompatibleIf::Becomes("true")), ("delta.inCommitTimestampEnablementVersion", CompatibleIf::New), ("delta.inCommitTimestampEnablementTimestamp", CompatibleIf::New)])
        .dropped(Drop::PLAIN),
    both("typeWidening", FULL, FULL).aliases(&["typeWidening-preview"]).property("delta.enableTypeWidening")
        .needed(|_, schema| has_key(schema, "delta.typeChanges"))
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "delta.typeChanges", "columns whose type was changed: rewrite the files that have the older types")).seen_in_files(FileUse::Schema).protecting_history()),
    both("variantType", FULL, FULL).aliases(&["variantType-preview"])
        .needed(|_, schema| has_type(schema, PrimitiveType::Variant))
        .dropped(Drop::if_unused(|_, schema| of_type(schema, PrimitiveType::Variant)).protecting_history()),
    both("variantShredding", FULL, FULL).aliases(&["variantShredding-preview"]).property("delta.enableVariantShredding").requires(&["variantType"])
        .dropped(Drop::PLAIN.seen_in_files(FileUse::ShreddedVariants).protecting_history()),
    both("catalogManaged", NONE, NONE).aliases(&["catalogOwned-preview"]).requires(&["inCommitTimestamp", "vacuumProtocolCheck"]).opened(WITH_TAIL).unaltered()
        .cleaned_up_by_catalog().compatible(&[("io.unitycatalog.tableId", CompatibleIf::New), ("ucTableId", CompatibleIf::New)]),
    // It binds checkpoints and metadata cleanup, which an append does not affect.
    writer("checkpointProtection", 0, FULL).dropped(Drop { properties: &[PROTECTED_BEFORE], needs_truncated_history: true, ..Drop::PLAIN }),
    writer("collations", 0, FULL).aliases(&["collations-preview"]).requires(&["domainMetadata"])
        .needed(|_, schema| has_key(schema, "__COLLATIONS"))
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "__COLLATIONS", "columns with a collation"))),
    writer("materializePartitionColumns", 0, FULL).property("delta.enableMaterializePartitionColumnsFeature").dropped(Drop::PLAIN),
    // It binds changes of columns alone.
    writer("columnMappingUsageTracking", 0, FULL).unaltered(),
    writer("concurrentIdentityColumns", 0, NONE).unaltered(),
    both("adaptiveMetadata", NONE, NONE).aliases(&["adaptiveMetadata-preview"]).requires(&["columnMapping", "rowTracking", "deletionVectors", "domainMetadata", "inCommitTimestamp"]).excludes(&["v2Checkpoint"]).opened(NONE).read_only().unmaintained(),
    both("geospatial", NONE, NONE).aliases(&["geospatial-dev"]).read_only(),
    both("redirectReaderWriter", NONE, NONE).aliases(&["redirectReaderWriter-preview"]).opened(NONE).read_only().unmaintained(),
    writer("redirectWriterOnly", 0, NONE).aliases(&["redirectWriterOnly-preview"]).read_only().unmaintained(),
    writer("coordinatedCommits", 0, NONE).aliases(&["coordinatedCommits-preview", "managedCommit-preview"]).requires(&["inCommitTimestamp", "vacuumProtocolCheck"]).read_only().unmaintained(),
];

/// The row of a feature, found by its name or an alias.
#[must_use]
pub fn feature(name: &str) -> Option<&'static Feature> {
    FEATURES
        .iter()
        .find(|feature| feature.name == name || feature.aliases.contains(&name))
}
