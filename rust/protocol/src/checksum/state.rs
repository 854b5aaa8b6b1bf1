//! The state of a version as needed by version checksums.

use std::collections::BTreeMap;

use crate::actions::{DomainMetadata, LogicalFileKey, Metadata, Protocol, Txn};

/// A live file as needed by checksums.
pub struct FileSummary<'a> {
    /// The key of the file: its path and deletion vector.
    pub key: LogicalFileKey<'a>,
    /// Size in bytes.
    pub size: i64,
    /// Modification time in milliseconds since the epoch.
    pub modification_time: i64,
    /// The cardinality of its deletion vector; `None` without one.
    pub deleted_records: Option<i64>,
    /// Its partition values; called only for files that the checksum lists.
    pub partition_values: &'a dyn Fn() -> BTreeMap<String, Option<String>>,
}

/// Calls its argument with every live file.
pub type ForEachFile<'a> = &'a dyn Fn(&mut dyn FnMut(&FileSummary<'_>));

/// The state of a version after action reconciliation.
pub struct StateSummary<'a> {
    /// Number of live files.
    pub num_files: i64,
    /// Total bytes of all live files.
    pub size_in_bytes: i64,
    /// The protocol.
    pub protocol: &'a Protocol,
    /// The metadata.
    pub metadata: &'a Metadata,
    /// The transaction identifiers.
    pub txns: &'a [Txn],
    /// The domains that are not removed.
    pub domains: &'a [DomainMetadata],
    /// The in-commit timestamp of the version in milliseconds; `None` if it is unknown.
    pub in_commit_timestamp: Option<i64>,
    /// The transaction id of the commit of the version; `None` if it has none or its file was deleted.
    pub txn_id: Option<&'a str>,
    /// Calls its argument with every live file. It is called only if the checksum has a field that needs it.
    pub for_each_file: ForEachFile<'a>,
}
