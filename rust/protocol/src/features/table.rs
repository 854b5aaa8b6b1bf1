//! The table of features, one row each, from which every protocol check is derived.

use super::drop_rule::{Drop, PROTECTED_BEFORE, checks, clustered, domains, mapped, metadata_of, of_type};
use super::use_in_table::{
    always, has_constraints, has_default_columns, has_generated_columns, has_identity_columns,
    has_invariants, has_key, has_type, has_v2_checkpoints, maps_columns, never,
};
use crate::actions::Metadata;
use crate::clustering;
use crate::schema::{PrimitiveType, StructType};

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

/// What is done with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read the log: open the table, list files, read metadata and history.
    Open,
    /// Read rows.
    Read,
    /// Append rows.
    Append,
    /// Remove files, or rows by deletion vectors, without adding rows.
    Remove,
    /// Change the protocol, metadata and domains.
    Alter,
    /// Write checkpoints.
    Checkpoint,
    /// Maintain the log: checksums, compaction files and metadata cleanup.
    Maintain,
}

/// Support for tables with a feature, by verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerbSupport {
    /// For [`Verb::Open`].
    pub open: Support,
    /// For [`Verb::Read`].
    pub read: Support,
    /// For [`Verb::Append`].
    pub append: Support,
    /// For [`Verb::Remove`].
    pub remove: Support,
    /// For [`Verb::Alter`].
    pub alter: Support,
    /// For [`Verb::Checkpoint`].
    pub checkpoint: Support,
    /// For [`Verb::Maintain`].
    pub maintain: Support,
}

/// A row of the table of features: everything that the checks and changes of a protocol need to know of one.
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
    /// Support for tables with the feature.
    pub support: VerbSupport,
    /// Whether a table that supports the feature also uses it.
    pub active: Use,
    /// Whether a table uses the feature in another way than by its property, so that its protocol must support it.
    pub needed: Use,
    /// How it is dropped; `None` if it cannot be dropped.
    pub(super) drop: Option<Drop>,
}

/// Whether metadata and schema use a feature.
type Use = fn(&Metadata, &StructType) -> bool;

impl Feature {
    /// Support for a verb.
    #[must_use]
    pub const fn support(&self, verb: Verb) -> Support {
        match verb {
            Verb::Open => self.support.open,
            Verb::Read => self.support.read,
            Verb::Append => self.support.append,
            Verb::Remove => self.support.remove,
            Verb::Alter => self.support.alter,
            Verb::Checkpoint => self.support.checkpoint,
            Verb::Maintain => self.support.maintain,
        }
    }

    /// Whether files show that they use the feature, so that dropping it must check or rewrite them.
    #[must_use]
    pub fn is_in_files(&self) -> bool {
        self.drop.is_some_and(|drop| drop.in_files)
    }

    const fn property(self, property: &'static str) -> Self {
        Self {
            property: Some(property),
            ..self
        }
    }

    const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn requires(self, requires: &'static [&'static str]) -> Self {
        Self { requires, ..self }
    }

    const fn excludes(self, excludes: &'static [&'static str]) -> Self {
        Self { excludes, ..self }
    }

    const fn active(self, active: Use) -> Self {
        Self { active, ..self }
    }

    const fn needed(self, needed: Use) -> Self {
        Self { needed, ..self }
    }

    const fn dropped(self, drop: Drop) -> Self {
        Self {
            drop: Some(drop),
            ..self
        }
    }

    /// Only readers of the log support it.
    const fn read_only(self) -> Self {
        let support = VerbSupport {
            alter: NONE,
            checkpoint: NONE,
            ..self.support
        };
        Self { support, ..self }
    }

    /// Other clients stage commits, or store them elsewhere: deltaic does not maintain the log.
    const fn unmaintained(self) -> Self {
        let support = VerbSupport {
            maintain: NONE,
            ..self.support
        };
        Self { support, ..self }
    }

    const fn unaltered(self) -> Self {
        let support = VerbSupport {
            alter: NONE,
            ..self.support
        };
        Self { support, ..self }
    }

    const fn opened(self, open: Support) -> Self {
        let support = VerbSupport { open, ..self.support };
        Self { support, ..self }
    }
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
        support: VerbSupport {
            open: FULL,
            read: FULL,
            append,
            remove: append,
            alter: FULL,
            checkpoint: FULL,
            maintain: FULL,
        },
        active: always,
        needed: never,
        drop: None,
    }
}

/// A feature that restricts the rows that are written: constraints, defaults, generated values. Rows may be removed
/// without evaluating it.
const fn row_rule(name: &'static str, legacy_writer: i32, used: Use) -> Feature {
    let feature = writer(name, legacy_writer, WHILE_INACTIVE);
    let support = VerbSupport {
        remove: FULL,
        ..feature.support
    };
    Feature { support, ..feature }.active(used).needed(used)
}

const fn both(name: &'static str, read: Support, append: Support) -> Feature {
    let feature = writer(name, 0, append);
    let support = VerbSupport {
        read,
        ..feature.support
    };
    Feature {
        support,
        kind: Kind::ReaderWriter,
        ..feature
    }
}

const FULL: Support = Support::Full;
const WHILE_INACTIVE: Support = Support::WhileInactive;
const WITH_TAIL: Support = Support::WithTail;
const NONE: Support = Support::None;

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
    Feature { legacy: (2, 5), ..both("columnMapping", FULL, WHILE_INACTIVE) }.property("delta.columnMapping.mode")
        .active(maps_columns).needed(maps_columns)
        .dropped(Drop { properties: &["delta.columnMapping.maxColumnId"], ..Drop::if_unused(mapped) }.seen_in_files().protecting_history()),
    row_rule("identityColumns", 6, has_identity_columns)
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "delta.identity.start", "identity columns"))),
    row_rule("allowColumnDefaults", 0, has_default_columns)
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "CURRENT_DEFAULT", "columns with defaults"))),
    both("deletionVectors", FULL, FULL).property("delta.enableDeletionVectors")
        .dropped(Drop::PLAIN.seen_in_files().protecting_history()),
    // Row ids are assigned as soon as the feature is supported, enabled or not.
    writer("rowTracking", 0, FULL).property("delta.enableRowTracking").requires(&["domainMetadata"])
        .dropped(Drop { properties: &["delta.rowTrackingSuspended", "delta.rowTracking.materializedRowIdColumnName", "delta.rowTracking.materializedRowCommitVersionColumnName"], domains: &["delta.rowTracking"], ..Drop::PLAIN.seen_in_files() }),
    both("timestampNtz", FULL, FULL).aliases(&["timestampWithoutTimezone"])
        .needed(|_, schema| has_type(schema, PrimitiveType::TimestampNtz))
        .dropped(Drop::if_unused(|_, schema| of_type(schema, PrimitiveType::TimestampNtz)).protecting_history()),
    both("timestampNanos", NONE, NONE).aliases(&["timestampNanos-dev"]).requires(&["timestampNtz"]).read_only(),
    writer("domainMetadata", 0, FULL).dropped(Drop::if_unused(|table, _| domains(table))),
    // It binds writers of checkpoints; an append writes none.
    both("v2Checkpoint", FULL, FULL).needed(has_v2_checkpoints)
        .dropped(Drop::if_unused(|table, _| has_v2_checkpoints(table.metadata(), &StructType::default()).then(|| "the property delta.checkpointPolicy, which is v2".to_owned())).seen_in_files().protecting_history()),
    writer("icebergCompatV1", 0, NONE).property("delta.enableIcebergCompatV1").requires(&["columnMapping"]).excludes(&["deletionVectors"]).dropped(Drop::PLAIN),
    writer("icebergCompatV2", 0, NONE).property("delta.enableIcebergCompatV2").requires(&["columnMapping"]).dropped(Drop::PLAIN),
    writer("icebergCompatV3", 0, NONE).property("delta.enableIcebergCompatV3").requires(&["columnMapping", "rowTracking"]).unaltered(),
    writer("icebergWriterCompatV1", 0, NONE).property("delta.enableIcebergWriterCompatV1").requires(&["icebergCompatV2"]).unaltered(),
    writer("icebergWriterCompatV3", 0, NONE).property("delta.enableIcebergWriterCompatV3").requires(&["icebergCompatV3"]).unaltered(),
    writer("clustering", 0, NONE).requires(&["domainMetadata"])
        .dropped(Drop { domains: &[clustering::DOMAIN], ..Drop::if_unused(|table, _| clustered(table)) }),
    both("vacuumProtocolCheck", FULL, FULL).dropped(Drop::PLAIN),
    writer("inCommitTimestamp", 0, FULL).aliases(&["inCommitTimestamps", "inCommitTimestamp-preview"]).property("delta.enableInCommitTimestamps").dropped(Drop::PLAIN),
    both("typeWidening", FULL, NONE).aliases(&["typeWidening-preview"]).property("delta.enableTypeWidening")
        .needed(|_, schema| has_key(schema, "delta.typeChanges"))
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "delta.typeChanges", "columns whose type was changed: rewrite the files that have the older types")).seen_in_files().protecting_history()),
    both("variantType", FULL, NONE).aliases(&["variantType-preview"])
        .needed(|_, schema| has_type(schema, PrimitiveType::Variant))
        .dropped(Drop::if_unused(|_, schema| of_type(schema, PrimitiveType::Variant)).protecting_history()),
    both("variantShredding", FULL, NONE).aliases(&["variantShredding-preview"]).property("delta.enableVariantShredding").requires(&["variantType"])
        .dropped(Drop::PLAIN.seen_in_files().protecting_history()),
    both("catalogManaged", NONE, NONE).aliases(&["catalogOwned-preview"]).requires(&["inCommitTimestamp", "vacuumProtocolCheck"]).opened(WITH_TAIL).unaltered(),
    // It binds checkpoints and metadata cleanup, which an append does not affect.
    writer("checkpointProtection", 0, FULL).dropped(Drop { properties: &[PROTECTED_BEFORE], ..Drop::PLAIN }),
    writer("collations", 0, NONE).aliases(&["collations-preview"]).requires(&["domainMetadata"])
        .needed(|_, schema| has_key(schema, "__COLLATIONS"))
        .dropped(Drop::if_unused(|_, schema| metadata_of(schema, "__COLLATIONS", "columns with a collation"))),
    writer("materializePartitionColumns", 0, NONE).property("delta.enableMaterializePartitionColumnsFeature").unaltered(),
    writer("columnMappingUsageTracking", 0, NONE).unaltered(),
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
