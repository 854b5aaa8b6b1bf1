//! Preconditions of a change on existing files, which must be met before or with the commit.
//!
//! Protocol: *CHECK Constraints*, *Row Tracking*, *Clustered Table*, *Deletion Vectors*, *Iceberg
//! Compatibility V1* and *V2*.

use crate::TableConfiguration;
use crate::constraints::check_constraints;
use crate::features::{FEATURES, FileUse, supports_for_writers};
use crate::iceberg_compat::IcebergCompat;
use crate::row_tracking::RowTracking;
use crate::schema::ColumnName;
use crate::{Result, clustering};

/// A precondition on the files of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Every row satisfies a new CHECK constraint.
    RowsSatisfy {
        /// Name of the constraint.
        name: String,
        /// Expression of the constraint.
        expression: String,
    },
    /// Every live file has a `baseRowId` and a `defaultRowCommitVersion`, and the domain
    /// `delta.rowTracking` has the highest id.
    FilesHaveRowIds,
    /// Every live file has statistics of these new clustering columns.
    FilesHaveStatistics(Vec<ColumnName>),
    /// No live file uses the dropped feature and, with `v2Checkpoint`, no checkpoint that is still
    /// needed.
    NothingUses {
        /// The dropped feature.
        feature: &'static str,
        /// How files or checkpoints show that they use it.
        shown: FileUse,
    },
    /// Every live file contains its partition columns, 64-bit timestamps and field ids for all parts, and
    /// has `numRecords`, as this version requires.
    FilesAreReadAsIceberg(IcebergCompat),
    /// There are three checkpoints directly before this change, so that no reader needs earlier versions.
    CheckpointsStandBefore,
}

/// The preconditions of a change from one configuration to another. A new table has no files and
/// therefore none.
///
/// # Errors
///
/// Returns `CorruptLog` if a configuration is invalid.
pub fn preconditions(before: &TableConfiguration, after: &TableConfiguration) -> Result<Vec<Precondition>> {
    let mut preconditions = Vec::new();
    for check in check_constraints(after.metadata()) {
        if !check_constraints(before.metadata()).any(|known| known == check) {
            preconditions.push(Precondition::RowsSatisfy {
                name: check.name.to_owned(),
                expression: check.expression.to_owned(),
            });
        }
    }
    let tracked = |table: &TableConfiguration| -> Result<bool> {
        Ok(matches!(RowTracking::of(table)?, RowTracking::Enabled(_)))
    };
    if tracked(after)? && !tracked(before)? {
        preconditions.push(Precondition::FilesHaveRowIds);
    }
    let clustered = |table: &TableConfiguration| match table.domain(clustering::DOMAIN) {
        None => Ok(Vec::new()),
        Some(domain) => clustering::columns_in_log(domain),
    };
    let old = clustered(before)?;
    let new: Vec<Vec<String>> = clustered(after)?
        .into_iter()
        .filter(|column| !old.contains(column))
        .collect();
    if !new.is_empty() {
        let (schema, mode) = (after.schema()?, after.column_mapping()?);
        let names = new.iter().filter_map(|path| {
            let names = crate::column_mapping::logical_path(&schema, path, mode)?;
            Some(ColumnName::from_parts(
                names.into_iter().map(str::to_owned).collect(),
            ))
        });
        preconditions.push(Precondition::FilesHaveStatistics(names.collect()));
    }
    for row in FEATURES {
        let Some(shown) = row.use_in_files() else { continue };
        let has = |table: &TableConfiguration| supports_for_writers(table.protocol(), row.name);
        if has(before) && !has(after) {
            preconditions.push(Precondition::NothingUses {
                feature: row.name,
                shown,
            });
        }
    }
    let promises = |table: &TableConfiguration| IcebergCompat::active(table);
    let kept = promises(before)?;
    if let Some(promise) = promises(after)?
        .into_iter()
        .find(|promise| !kept.contains(promise))
    {
        preconditions.push(Precondition::FilesAreReadAsIceberg(promise));
    }
    let key = "delta.requireCheckpointProtectionBeforeVersion";
    let has = |table: &TableConfiguration| supports_for_writers(table.protocol(), "checkpointProtection");
    if has(after) && before.metadata().property(key) != after.metadata().property(key) {
        preconditions.push(Precondition::CheckpointsStandBefore);
    }
    Ok(preconditions)
}
