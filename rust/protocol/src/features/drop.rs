//! Dropping a feature: which features can be dropped, what must be removed first, and how the history
//! that used it stays readable.
//!
//! Protocol: *Supported Features*; the proposal *Checkpoint Protection*.

use std::collections::BTreeSet;

use super::table::{FEATURES, Feature, any_field, feature, is_true};
use super::upgrade::{known, listed, names_in, versions_for, with_features};
use crate::actions::Protocol;
use crate::change::{Form, Moment};
use crate::clustering;
use crate::error::nearest;
use crate::properties::{documented, integer};
use crate::row_tracking;
use crate::schema::{PrimitiveType, StructType};
use crate::{Error, ErrorKind, Result};

const PROTECTED_BEFORE: &str = "delta.requireCheckpointProtectionBeforeVersion";

/// Whether the history still contains versions that use the feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// Some do: the checkpoints after them must be retained.
    InHistory,
    /// The history before the last version that used it is truncated.
    Gone,
}

/// A feature that can be dropped.
struct Droppable {
    name: &'static str,
    /// Whether a client without the feature would read the history incorrectly.
    protects_history: bool,
    /// Returns what must be removed first, if anything.
    in_use: fn(&Form, &StructType) -> Option<String>,
    /// Properties and domains that have no meaning without it.
    properties: &'static [&'static str],
    domains: &'static [&'static str],
}

const fn droppable(name: &'static str, in_use: fn(&Form, &StructType) -> Option<String>) -> Droppable {
    Droppable {
        name,
        protects_history: false,
        in_use,
        properties: &[],
        domains: &[],
    }
}

#[rustfmt::skip] // a table: one row a line
static DROPPABLE: &[Droppable] = &[
    Droppable { properties: &["delta.appendOnly"], ..droppable("appendOnly", |form, _| enabled(form, "delta.appendOnly")) },
    droppable("invariants", |_, schema| metadata_of(schema, "delta.invariants", "columns with invariants")),
    droppable("checkConstraints", |form, _| checks(form)),
    Droppable { properties: &["delta.enableChangeDataFeed"], ..droppable("changeDataFeed", |form, _| enabled(form, "delta.enableChangeDataFeed")) },
    droppable("generatedColumns", |_, schema| metadata_of(schema, "delta.generationExpression", "generated columns")),
    Droppable { protects_history: true, properties: &["delta.columnMapping.mode", "delta.columnMapping.maxColumnId"], ..droppable("columnMapping", mapped) },
    droppable("identityColumns", |_, schema| metadata_of(schema, "delta.identity.start", "identity columns")),
    droppable("allowColumnDefaults", |_, schema| metadata_of(schema, "CURRENT_DEFAULT", "columns with defaults")),
    Droppable { protects_history: true, properties: &["delta.enableDeletionVectors"], ..droppable("deletionVectors", |form, _| enabled(form, "delta.enableDeletionVectors")) },
    Droppable { properties: &["delta.enableRowTracking", "delta.rowTrackingSuspended", row_tracking::ROW_ID_COLUMN, row_tracking::ROW_COMMIT_VERSION_COLUMN], domains: &[row_tracking::DOMAIN], ..droppable("rowTracking", |form, _| enabled(form, "delta.enableRowTracking")) },
    Droppable { protects_history: true, ..droppable("timestampNtz", |_, schema| of_type(schema, PrimitiveType::TimestampNtz)) },
    droppable("domainMetadata", |form, _| domains(form)),
    Droppable { protects_history: true, ..droppable("v2Checkpoint", |form, _| form.property_is("delta.checkpointPolicy", "v2").then(|| "the property delta.checkpointPolicy, which is v2".to_owned())) },
    Droppable { properties: &["delta.enableIcebergCompatV1"], ..droppable("icebergCompatV1", |form, _| enabled(form, "delta.enableIcebergCompatV1")) },
    Droppable { properties: &["delta.enableIcebergCompatV2"], ..droppable("icebergCompatV2", |form, _| enabled(form, "delta.enableIcebergCompatV2")) },
    Droppable { domains: &[clustering::DOMAIN], ..droppable("clustering", |form, _| clustered(form)) },
    droppable("vacuumProtocolCheck", |_, _| None),
    Droppable { properties: &["delta.enableInCommitTimestamps"], ..droppable("inCommitTimestamp", |form, _| enabled(form, "delta.enableInCommitTimestamps")) },
    Droppable { protects_history: true, properties: &["delta.enableTypeWidening"], ..droppable("typeWidening", |form, schema| enabled(form, "delta.enableTypeWidening").or_else(|| metadata_of(schema, "delta.typeChanges", "columns whose type was changed: rewrite the files that have the older types"))) },
    Droppable { protects_history: true, ..droppable("variantType", |_, schema| of_type(schema, PrimitiveType::Variant)) },
    Droppable { protects_history: true, properties: &["delta.enableVariantShredding"], ..droppable("variantShredding", |form, _| enabled(form, "delta.enableVariantShredding")) },
    Droppable { properties: &[PROTECTED_BEFORE], ..droppable("checkpointProtection", |_, _| None) },
    droppable("collations", |_, schema| metadata_of(schema, "__COLLATIONS", "columns with a collation")),
];

/// Returns the configuration of a table without a feature. Nothing in the configuration may use it; the
/// caller verifies that no file uses it ([`crate::change::duties`] lists where to check).
///
/// If old versions use the feature and a client without it would read them incorrectly, the feature
/// `checkpointProtection` is added: only writers that support what was used may then write or delete
/// checkpoints before the version of this change.
///
/// # Errors
///
/// Returns `InvalidArgument` if the feature is unknown or not in the table; `SchemaMismatch` with the
/// `feature` if something uses it or another feature requires it; `UnsupportedFeature` if it cannot be
/// dropped.
pub fn drop_feature(form: &Form, name: &str, traces: Traces, moment: &Moment<'_>) -> Result<Form> {
    let schema = form.schema()?;
    let names = names_in(&form.protocol);
    let row = supported(name, &names)?;
    let Some(droppable) = DROPPABLE.iter().find(|other| other.name == row.name) else {
        return Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the feature {} cannot be dropped by deltaic", row.name),
        )
        .with("feature", row.name)
        .hint("copy the table's rows into a new table that is made without it"));
    };
    let refused = |message: String, hint: &str| {
        Err(Error::new(ErrorKind::SchemaMismatch, message)
            .with("feature", row.name)
            .hint(hint))
    };
    let needing = names
        .iter()
        .filter_map(|other| feature(other))
        .find(|other| other.requires.contains(&row.name));
    if let Some(other) = needing {
        let message = format!("the feature {} is needed by the feature {}", row.name, other.name);
        return refused(message, &format!("drop the feature {} first", other.name));
    }
    if let Some(user) = (droppable.in_use)(form, &schema) {
        let message = format!("the feature {} is in use by {user}", row.name);
        return refused(message, "undo that first: then the feature can be dropped");
    }
    if row.name == "checkpointProtection" && traces == Traces::InHistory {
        return refused(
            "the feature checkpointProtection protects a history that is still there".to_owned(),
            &format!("truncate the history up to the version that {PROTECTED_BEFORE} tells"),
        );
    }
    let mut after = form.clone();
    for key in droppable.properties {
        after.metadata.configuration.remove(*key);
    }
    after
        .domains
        .retain(|domain| !droppable.domains.contains(&domain.domain.as_str()));
    after.protocol = without(&form.protocol, row);
    if droppable.protects_history && traces == Traces::InHistory {
        after.protocol = with_features(&after.protocol, &["checkpointProtection"])?;
        let before = integer(&form.metadata, PROTECTED_BEFORE)?.unwrap_or(0);
        after.set_property(PROTECTED_BEFORE, before.max(moment.version.as_i64()).to_string());
    }
    Ok(after)
}

/// The row of a feature that the table supports.
fn supported(name: &str, names: &BTreeSet<String>) -> Result<&'static Feature> {
    if documented(name).is_some() {
        let of = FEATURES
            .iter()
            .find(|row| row.property.is_some_and(|key| key.eq_ignore_ascii_case(name)));
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("{name} is a property, not a feature"),
        )
        .hint(of.map_or_else(
            || "unset the property".to_owned(),
            |row| format!("unset the property, or drop the feature {}", row.name),
        )));
    }
    let row = known(name)?;
    let has = names
        .iter()
        .any(|listed| feature(listed).is_some_and(|other| other.name == row.name));
    if has {
        return Ok(row);
    }
    let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"));
    Err(Error::new(
        ErrorKind::InvalidArgument,
        format!("the table has no feature {name}"),
    )
    .with("feature", name)
    .hint(near.unwrap_or_else(|| {
        let list: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("its features are: {}", list.join(", "))
    })))
}

/// The minimum protocol without a feature, so that the feature no longer excludes clients.
fn without(protocol: &Protocol, row: &Feature) -> Protocol {
    let is_other = |name: &String| feature(name).is_none_or(|other| other.name != row.name);
    let left: BTreeSet<String> = names_in(protocol).into_iter().filter(is_other).collect();
    let least = Protocol {
        min_reader_version: 1,
        min_writer_version: 1,
        reader_features: None,
        writer_features: None,
    };
    versions_for(&left, &least).unwrap_or_else(|| {
        let mut made = listed(&left, 1);
        // Existing lists keep their order and their unknown names.
        let keep = |list: &Option<Vec<String>>| {
            list.as_ref().map(|list| {
                list.iter()
                    .filter(|name| is_other(name))
                    .cloned()
                    .collect::<Vec<_>>()
            })
        };
        if let Some(writers) = keep(&protocol.writer_features) {
            made.writer_features = Some(writers);
        }
        match keep(&protocol.reader_features) {
            Some(readers) if readers.iter().any(|name| name != "columnMapping") => {
                made.min_reader_version = 3;
                made.reader_features = Some(readers);
            }
            _ => {}
        }
        made
    })
}

fn enabled(form: &Form, key: &str) -> Option<String> {
    is_true(&form.metadata, key).then(|| format!("the property {key}, which is true"))
}

fn metadata_of(schema: &StructType, key: &str, what: &str) -> Option<String> {
    any_field(schema, &|field| field.metadata.contains_key(key)).then(|| what.to_owned())
}

fn of_type(schema: &StructType, wanted: PrimitiveType) -> Option<String> {
    let mut found = None;
    schema.for_each_part(&mut |path, part| {
        if found.is_none() && part.as_primitive() == Some(wanted) {
            found = Some(format!("the column {path}, which is a {wanted}"));
        }
    });
    found
}

fn checks(form: &Form) -> Option<String> {
    crate::constraints::check_constraints(&form.metadata)
        .next()
        .map(|check| format!("the constraint {}", check.name))
}

fn mapped(form: &Form, schema: &StructType) -> Option<String> {
    let mode = form.metadata.property("delta.columnMapping.mode");
    mode.filter(|mode| !mode.eq_ignore_ascii_case("none"))
        .map(|mode| format!("the property delta.columnMapping.mode, which is {mode}"))
        .or_else(|| {
            let key = crate::column_mapping::PHYSICAL_NAME;
            metadata_of(schema, key, "columns with a physical name")
        })
}

fn clustered(form: &Form) -> Option<String> {
    let columns = form.domain(clustering::DOMAIN).map(clustering::columns_in_log)?;
    let is_none = columns.is_ok_and(|columns| columns.is_empty());
    (!is_none).then(|| "the clustering columns".to_owned())
}

fn domains(form: &Form) -> Option<String> {
    form.domains
        .first()
        .map(|domain| format!("the domain {}", domain.domain))
}

#[cfg(test)]
mod tests;
