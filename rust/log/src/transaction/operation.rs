//! Operations of commits, named as in delta-spark.

/// The operation of a commit.
///
/// ```
/// use deltaic_log::transaction::Operation;
/// assert_eq!(Operation::parse("STREAMING UPDATE"), Some(Operation::StreamingUpdate));
/// assert!(Operation::Delete.changes_data() && !Operation::Optimize.changes_data());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Adds rows, and may replace others.
    #[default]
    Write,
    /// Adds the rows of one batch of a stream.
    StreamingUpdate,
    /// Deletes rows that match a predicate.
    Delete,
    /// Changes rows that match a predicate.
    Update,
    /// Changes, deletes and adds rows by comparing them with other rows.
    Merge,
    /// Deletes all rows.
    Truncate,
    /// Rewrites files without changing rows.
    Optimize,
    /// Rewrites files without rows and columns that were deleted.
    Reorg,
    /// Adds live files again with statistics that were computed from their rows.
    ComputeStatistics,
    /// Restores an earlier version.
    Restore,
    /// Removes the entries of data files that are gone.
    Repair,
    /// Makes a shallow clone of another table.
    Clone,
    /// Creates a table of existing files.
    Convert,
    /// Creates a table.
    CreateTable,
    /// Creates a table with rows.
    CreateTableAsSelect,
    /// Replaces the table, or creates it.
    CreateOrReplaceTable,
    /// Replaces the table by the result of a query, or creates it.
    CreateOrReplaceTableAsSelect,
    /// Assigns row ids to every file.
    RowTrackingBackfill,
    /// Removes the row ids from every file.
    RowTrackingUnbackfill,
    /// Sets table properties, the name or the description.
    SetProperties,
    /// Removes table properties.
    UnsetProperties,
    /// Adds a table feature.
    AddFeature,
    /// Drops a table feature.
    DropFeature,
    /// Raises the protocol versions.
    UpgradeProtocol,
    /// Adds columns.
    AddColumns,
    /// Renames a column.
    RenameColumn,
    /// Drops columns.
    DropColumns,
    /// Changes the type, position, nullability, default or comment of a column.
    ChangeColumn,
    /// Adds a CHECK constraint.
    AddConstraint,
    /// Drops a CHECK constraint.
    DropConstraint,
    /// Sets the clustering columns.
    ClusterBy,
    /// Sets domain metadata.
    SetDomainMetadata,
    /// Removes domain metadata.
    RemoveDomainMetadata,
    /// Merges a schema into the table's.
    UpdateSchema,
    /// Several table changes in one commit.
    AlterTable,
    /// Begins to delete files that the table no longer needs.
    VacuumStart,
    /// Ends the deletion of files that the table no longer needs.
    VacuumEnd,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 37] = [
        Self::Write,
        Self::StreamingUpdate,
        Self::Delete,
        Self::Update,
        Self::Merge,
        Self::Truncate,
        Self::Optimize,
        Self::Reorg,
        Self::ComputeStatistics,
        Self::Restore,
        Self::Repair,
        Self::Clone,
        Self::Convert,
        Self::CreateTable,
        Self::CreateTableAsSelect,
        Self::CreateOrReplaceTable,
        Self::CreateOrReplaceTableAsSelect,
        Self::RowTrackingBackfill,
        Self::RowTrackingUnbackfill,
        Self::SetProperties,
        Self::UnsetProperties,
        Self::AddFeature,
        Self::DropFeature,
        Self::UpgradeProtocol,
        Self::AddColumns,
        Self::RenameColumn,
        Self::DropColumns,
        Self::ChangeColumn,
        Self::AddConstraint,
        Self::DropConstraint,
        Self::ClusterBy,
        Self::SetDomainMetadata,
        Self::RemoveDomainMetadata,
        Self::UpdateSchema,
        Self::AlterTable,
        Self::VacuumStart,
        Self::VacuumEnd,
    ];

    /// The name in `commitInfo.operation`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "WRITE",
            Self::StreamingUpdate => "STREAMING UPDATE",
            Self::Delete => "DELETE",
            Self::Update => "UPDATE",
            Self::Merge => "MERGE",
            Self::Truncate => "TRUNCATE",
            Self::Optimize => "OPTIMIZE",
            Self::Reorg => "REORG",
            Self::ComputeStatistics => "COMPUTE STATS",
            Self::Restore => "RESTORE",
            Self::Repair => "FSCK",
            Self::Clone => "CLONE",
            Self::Convert => "CONVERT",
            Self::CreateTable => "CREATE TABLE",
            Self::CreateTableAsSelect => "CREATE TABLE AS SELECT",
            Self::CreateOrReplaceTable => "CREATE OR REPLACE TABLE",
            Self::CreateOrReplaceTableAsSelect => "CREATE OR REPLACE TABLE AS SELECT",
            Self::RowTrackingBackfill => "ROW TRACKING BACKFILL",
            Self::RowTrackingUnbackfill => "ROW TRACKING UNBACKFILL",
            Self::SetProperties => "SET TBLPROPERTIES",
            Self::UnsetProperties => "UNSET TBLPROPERTIES",
            Self::AddFeature => "ADD FEATURE",
            Self::DropFeature => "DROP FEATURE",
            Self::UpgradeProtocol => "UPGRADE PROTOCOL",
            Self::AddColumns => "ADD COLUMNS",
            Self::RenameColumn => "RENAME COLUMN",
            Self::DropColumns => "DROP COLUMNS",
            Self::ChangeColumn => "CHANGE COLUMN",
            Self::AddConstraint => "ADD CONSTRAINT",
            Self::DropConstraint => "DROP CONSTRAINT",
            Self::ClusterBy => "CLUSTER BY",
            Self::SetDomainMetadata => "SET DOMAIN METADATA",
            Self::RemoveDomainMetadata => "REMOVE DOMAIN METADATA",
            Self::UpdateSchema => "UPDATE SCHEMA",
            Self::AlterTable => "ALTER TABLE",
            Self::VacuumStart => "VACUUM START",
            Self::VacuumEnd => "VACUUM END",
        }
    }

    /// Parses an operation name. `None` for names that only other writers record.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// Whether this kind of operation changes rows, even if a single commit does not. Determines the isolation level of
    /// commits that change no rows.
    #[must_use]
    pub const fn changes_data(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::StreamingUpdate
                | Self::Delete
                | Self::Update
                | Self::Merge
                | Self::Truncate
                | Self::Restore
                | Self::Repair
                | Self::Convert
                | Self::CreateTableAsSelect
        ) || self.replaces_table()
    }

    /// Whether the operation replaces the whole table, if there is one.
    #[must_use]
    pub const fn replaces_table(self) -> bool {
        matches!(
            self,
            Self::CreateOrReplaceTable | Self::CreateOrReplaceTableAsSelect | Self::Clone
        )
    }

    /// Whether the caller chooses the staged files, as in user transactions.
    #[must_use]
    pub const fn stages_files(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::StreamingUpdate
                | Self::Delete
                | Self::Update
                | Self::Merge
                | Self::Truncate
                | Self::Optimize
                | Self::Restore
        )
    }
}

/// Parameters that delta-spark records as JSON booleans and numbers, not as strings.
pub(super) const JSON_PARAMETERS: [&str; 9] = [
    "applyPurge",
    "auto",
    "sourceVersion",
    "numFiles",
    "collectStats",
    "isFull",
    "retentionCheckEnabled",
    "defaultRetentionMillis",
    "specifiedRetentionMillis",
];

/// Parameters and metrics of an operation in the `commitInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationDetails {
    /// `operationParameters`: text by name, or JSON for those that delta-spark records as JSON.
    pub parameters: Vec<(&'static str, String)>,
    /// `operationMetrics`.
    pub metrics: Vec<(&'static str, i64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        for operation in Operation::ALL {
            assert_eq!(Operation::parse(operation.name()), Some(operation));
        }
        assert_eq!(Operation::parse("write"), None);
    }
}
