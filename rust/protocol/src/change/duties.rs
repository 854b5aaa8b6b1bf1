//! What a change asks of the files that are there, before it is committed or with it.
//!
//! Protocol: *CHECK Constraints*, *Row Tracking*, *Clustered Table*, *Deletion Vectors*, *Iceberg Compatibility V1* and *V2*.

use super::Form;
use crate::constraints::check_constraints;
use crate::features::supports_for_writers;
use crate::iceberg_compat::IcebergCompat;
use crate::row_tracking::RowTracking;
use crate::schema::ColumnName;
use crate::{Result, clustering};

/// Something that must be true of the table's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Every row makes a new CHECK constraint true.
    RowsSatisfy {
        /// The constraint's name.
        name: String,
        /// Its expression.
        expression: String,
    },
    /// Every live file has a `baseRowId` and a `defaultRowCommitVersion`, and the domain `delta.rowTracking` the
    /// highest id.
    FilesHaveRowIds,
    /// Every live file has statistics of these columns, by which it is clustered from now on.
    FilesHaveStatistics(Vec<ColumnName>),
    /// No live file, and with `v2Checkpoint` no checkpoint that is still needed, uses the feature that is dropped.
    NothingUses(&'static str),
    /// Every live file holds its partition values, timestamps of 64 bits, the ids of all parts, and has `numRecords`.
    FilesAreReadAsIceberg,
    /// Three checkpoints stand right before this change, so that no reader has to go behind it.
    CheckpointsStandBefore,
}

/// Features that files are marked by.
const IN_FILES: &[&str] = &[
    "columnMapping",
    "deletionVectors",
    "rowTracking",
    "v2Checkpoint",
    "typeWidening",
    "variantShredding",
];

/// What a change from one form to another asks of the files that are there. A new table has none, and owes nothing.
///
/// # Errors
///
/// `CorruptLog` for a form that is damaged.
pub fn duties(before: &Form, after: &Form) -> Result<Vec<Duty>> {
    let mut duties = Vec::new();
    for check in check_constraints(&after.metadata) {
        if !check_constraints(&before.metadata).any(|known| known == check) {
            duties.push(Duty::RowsSatisfy {
                name: check.name.to_owned(),
                expression: check.expression.to_owned(),
            });
        }
    }
    let tracked = |form: &Form| -> Result<bool> {
        Ok(matches!(
            RowTracking::of(&form.protocol, &form.metadata)?,
            RowTracking::Enabled(_)
        ))
    };
    if tracked(after)? && !tracked(before)? {
        duties.push(Duty::FilesHaveRowIds);
    }
    let clustered = |form: &Form| match form.domain(clustering::DOMAIN) {
        None => Ok(Vec::new()),
        Some(domain) => clustering::columns_in_log(domain),
    };
    let old = clustered(before)?;
    let new: Vec<Vec<String>> = clustered(after)?
        .into_iter()
        .filter(|column| !old.contains(column))
        .collect();
    if !new.is_empty() {
        let (schema, mode) = (after.schema()?, after.mapping()?);
        let names = new.iter().filter_map(|path| {
            let names = crate::column_mapping::logical_path(&schema, path, mode)?;
            Some(ColumnName::from_parts(
                names.into_iter().map(str::to_owned).collect(),
            ))
        });
        duties.push(Duty::FilesHaveStatistics(names.collect()));
    }
    for name in IN_FILES {
        if supports_for_writers(&before.protocol, name) && !supports_for_writers(&after.protocol, name) {
            duties.push(Duty::NothingUses(name));
        }
    }
    let promises = |form: &Form| IcebergCompat::active(&form.protocol, &form.metadata);
    let kept = promises(before)?;
    if promises(after)?.iter().any(|promise| !kept.contains(promise)) {
        duties.push(Duty::FilesAreReadAsIceberg);
    }
    let key = "delta.requireCheckpointProtectionBeforeVersion";
    let has = |form: &Form| supports_for_writers(&form.protocol, "checkpointProtection");
    if has(after) && before.metadata.property(key) != after.metadata.property(key) {
        duties.push(Duty::CheckpointsStandBefore);
    }
    Ok(duties)
}
