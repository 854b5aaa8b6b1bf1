//! The content of a version checksum file.

use super::histogram::{DeletedRecordCountsHistogram, FileSizeHistogram};
use crate::actions::{Add, DomainMetadata, Metadata, Protocol, Txn};

/// The content of `_delta_log/{version}.crc`.
///
/// ```
/// use deltaic_protocol::checksum::VersionChecksum;
/// let text = br#"{"tableSizeBytes":7,"numFiles":1,"numMetadata":1,"numProtocol":1,
///     "metadata":{"id":"t","format":{"provider":"parquet"},"schemaString":"{}","partitionColumns":[],"configuration":{}},
///     "protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;
/// assert_eq!(VersionChecksum::parse(text)?.num_files, 1);
/// assert!(VersionChecksum::parse(&text[..20]).is_err());
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VersionChecksum {
    /// The unique transaction id of the commit.
    pub txn_id: Option<String>,
    /// Total bytes of all live files.
    pub table_size_bytes: i64,
    /// Number of live files.
    pub num_files: i64,
    /// Milliseconds since the epoch, if in-commit timestamps are enabled.
    pub in_commit_timestamp: Option<i64>,
    /// The live transaction identifiers.
    pub set_transactions: Option<Vec<Txn>>,
    /// The live domains.
    pub domain_metadata: Option<Vec<DomainMetadata>>,
    /// The metadata of the table. The protocol requires it; the oldest writers omit it.
    pub metadata: Option<Metadata>,
    /// The protocol of the table. The protocol requires it; the oldest writers omit it.
    pub protocol: Option<Protocol>,
    /// Sizes of the live files.
    pub file_size_histogram: Option<FileSizeHistogram>,
    /// The live files.
    pub all_files: Option<Vec<Add>>,
    /// Number of rows that deletion vectors delete.
    pub num_deleted_records: Option<i64>,
    /// Number of files with a deletion vector.
    pub num_deletion_vectors: Option<i64>,
    /// Numbers of deleted rows per file.
    pub deleted_record_counts_histogram: Option<DeletedRecordCountsHistogram>,
}
