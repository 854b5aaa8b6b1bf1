//! The changes of one version, and what they are derived from.

use deltaic_protocol::actions::Cdc;
use deltaic_protocol::{TableConfiguration, Version};

use super::changed_file::ChangedFile;

/// The changes of one version.
#[derive(Clone, Debug)]
pub struct CommitChanges {
    /// The version.
    pub version: Version,
    /// Commit time in milliseconds since the epoch. If only adds are requested, the modification time of the
    /// commit file.
    pub timestamp_ms: i64,
    /// Added files with rows that are new to the table.
    pub adds: Vec<ChangedFile>,
    /// Files that were removed together with their rows.
    pub removes: Vec<ChangedFile>,
    /// Change data files; if there are any, they contain all changes of the version.
    pub cdc: Vec<Cdc>,
    /// The table configuration before the version, with which removed files were written; without domains.
    pub before: TableConfiguration,
    /// The table configuration as of the version; without domains.
    pub after: TableConfiguration,
}

/// How much of the log the changes of a version are derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangesFrom {
    /// The actions of its commit.
    Commit,
    /// The live files before and after it: re-adding a live file changes nothing.
    LiveFiles,
    /// The adds of its commit. Of removed files only the paths are needed.
    Adds,
}
