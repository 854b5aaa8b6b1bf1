//! A file that a version changed.

use std::collections::BTreeMap;

use deltaic_protocol::deletion_vector::Descriptor;

/// Partition values as in the log, by their physical names.
pub type PartitionValues = BTreeMap<String, Option<String>>;

/// A file that was added or removed together with its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path as in the log.
    pub path: String,
    /// The partition values.
    pub partition_values: PartitionValues,
    /// Size in bytes, if the action has it.
    pub size: Option<i64>,
    /// The deletion vector of the file.
    pub deletion_vector: Option<Descriptor>,
    /// The row id of its first row.
    pub base_row_id: Option<i64>,
    /// The version that added it.
    pub default_row_commit_version: Option<i64>,
    /// `numRecords` of its statistics.
    pub num_records: Option<i64>,
    /// The live file at its path before and after the commit, if requested.
    pub live_files: Option<LiveFiles>,
}

/// The live file at a path before and after a commit; `None` if there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFiles {
    /// Before the commit.
    pub before: Option<Live>,
    /// After the commit.
    pub after: Option<Live>,
}

/// A live file, identified by its deletion vector.
pub type Live = Option<Descriptor>;
