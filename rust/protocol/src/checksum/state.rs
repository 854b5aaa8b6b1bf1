//! A version of a table, as far as a version checksum speaks of it.

use std::collections::BTreeMap;

use crate::actions::{DomainMetadata, LogicalFileKey, Metadata, Protocol, Txn};

/// A live file, as far as a checksum speaks of it.
pub struct FileSummary<'a> {
    /// The file's key: its path and deletion vector.
    pub key: LogicalFileKey<'a>,
    /// Bytes.
    pub size: i64,
    /// Milliseconds since the epoch.
    pub modification_time: i64,
    /// The cardinality of its deletion vector; none where it has none.
    pub deleted_records: Option<i64>,
    /// Its partition values; asked only of files that the checksum lists.
    pub partition_values: &'a dyn Fn() -> BTreeMap<String, Option<String>>,
}

/// Calls its argument with every live file.
pub type ForEachFile<'a> = &'a dyn Fn(&mut dyn FnMut(&FileSummary<'_>));

/// A version as the log has it after reconciliation.
pub struct StateSummary<'a> {
    /// How many files are live.
    pub num_files: i64,
    /// The bytes of all live files.
    pub size_in_bytes: i64,
    /// The protocol.
    pub protocol: &'a Protocol,
    /// The metadata.
    pub metadata: &'a Metadata,
    /// The transaction identifiers.
    pub txns: &'a [Txn],
    /// The domains that are not removed.
    pub domains: &'a [DomainMetadata],
    /// The version's in-commit timestamp in milliseconds; none where it is not known.
    pub in_commit_timestamp: Option<i64>,
    /// The id of the version's own commit; none where it has none or its file is gone.
    pub txn_id: Option<&'a str>,
    /// Calls its argument with every live file. It is called only if the checksum has a field that needs it.
    pub for_each_file: ForEachFile<'a>,
}
