//! How a feature is dropped: what must be removed first, and what goes with it.

use super::use_in_table::has_key;
use crate::TableConfiguration;
use crate::clustering;
use crate::schema::{PrimitiveType, StructType};

pub(super) const PROTECTED_BEFORE: &str = "delta.requireCheckpointProtectionBeforeVersion";

/// How files or checkpoints show that they use a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// Only files that were written under such a schema or property use it.
    Schema,
    /// Files have deletion vectors.
    DeletionVectors,
    /// Files have row ids.
    RowIds,
    /// The newest checkpoint is a V2 checkpoint.
    Checkpoints,
    /// Files may have shredded variants, which only their Parquet schemas show.
    ShreddedVariants,
}

/// How a feature is dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drop {
    /// Whether a client without the feature would read the history incorrectly.
    pub(super) protects_history: bool,
    /// Whether the history must be truncated first.
    pub(super) needs_truncated_history: bool,
    /// How files show that they use the feature; `None` if they do not.
    pub(super) in_files: Option<FileUse>,
    /// Returns what must be removed first, if anything, besides the feature's own property.
    pub(super) in_use: fn(&TableConfiguration, &StructType) -> Option<String>,
    /// Properties and domains that have no meaning without it, besides its own property.
    pub(super) properties: &'static [&'static str],
    pub(super) domains: &'static [&'static str],
}

impl Drop {
    /// Only the feature's property, if it has one, must not be `true`.
    pub(super) const PLAIN: Self = Self::if_unused(|_, _| None);

    pub(super) const fn if_unused(in_use: fn(&TableConfiguration, &StructType) -> Option<String>) -> Self {
        Self {
            protects_history: false,
            needs_truncated_history: false,
            in_files: None,
            in_use,
            properties: &[],
            domains: &[],
        }
    }

    pub(super) const fn seen_in_files(self, files: FileUse) -> Self {
        Self {
            in_files: Some(files),
            ..self
        }
    }

    pub(super) const fn protecting_history(self) -> Self {
        Self {
            protects_history: true,
            ..self
        }
    }
}

pub(super) fn metadata_of(schema: &StructType, key: &str, what: &str) -> Option<String> {
    has_key(schema, key).then(|| what.to_owned())
}

pub(super) fn of_type(schema: &StructType, wanted: PrimitiveType) -> Option<String> {
    let mut found = None;
    schema.for_each_part(&mut |path, part| {
        if found.is_none() && part.as_primitive() == Some(wanted) {
            found = Some(format!("the column {path}, which is a {wanted}"));
        }
    });
    found
}

pub(super) fn checks(table: &TableConfiguration) -> Option<String> {
    crate::constraints::check_constraints(table.metadata())
        .next()
        .map(|check| format!("the constraint {}", check.name))
}

pub(super) fn mapped(table: &TableConfiguration, schema: &StructType) -> Option<String> {
    let mode = table.metadata().property("delta.columnMapping.mode");
    mode.filter(|mode| !mode.eq_ignore_ascii_case("none"))
        .map(|mode| format!("the property delta.columnMapping.mode, which is {mode}"))
        .or_else(|| {
            let key = crate::column_mapping::PHYSICAL_NAME;
            metadata_of(schema, key, "columns with a physical name")
        })
}

pub(super) fn clustered(table: &TableConfiguration) -> Option<String> {
    let columns = table.domain(clustering::DOMAIN).map(clustering::columns_in_log)?;
    let is_none = columns.is_ok_and(|columns| columns.is_empty());
    (!is_none).then(|| "the clustering columns".to_owned())
}

pub(super) fn domains(table: &TableConfiguration) -> Option<String> {
    table
        .domains()
        .values()
        .next()
        .map(|domain| format!("the domain {}", domain.domain))
}
