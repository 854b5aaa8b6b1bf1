//! Serializes version checksums.
//!
//! Protocol: *Version Checksum File Schema*.

use serde::Serialize;

use super::histogram::{DeletedRecordCountsHistogram, FileSizeHistogram};
use super::version_checksum::VersionChecksum;
use crate::actions::{Add, DomainMetadata, Metadata, Protocol, Txn};
use crate::{Error, ErrorKind, Result};

/// The fields as written; absent fields are omitted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    txn_id: Option<&'a str>,
    table_size_bytes: i64,
    num_files: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_deleted_records_opt: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_deletion_vectors_opt: Option<i64>,
    num_metadata: i64,
    num_protocol: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_commit_timestamp_opt: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_transactions: Option<&'a [Txn]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain_metadata: Option<&'a [DomainMetadata]>,
    metadata: &'a Metadata,
    protocol: &'a Protocol,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size_histogram: Option<&'a FileSizeHistogram>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_record_counts_histogram_opt: Option<&'a DeletedRecordCountsHistogram>,
    #[serde(skip_serializing_if = "Option::is_none")]
    all_files: Option<&'a [Add]>,
}

impl VersionChecksum {
    /// The content of the file: one JSON object on a line, verified to be parsed to the same value.
    ///
    /// # Errors
    ///
    /// Returns `InvalidArgument` if the protocol or the metadata is absent, which the protocol requires,
    /// or if the fields contradict each other.
    ///
    /// ```
    /// use deltaic_protocol::checksum::VersionChecksum;
    /// let text = r#"{"tableSizeBytes":7,"numFiles":1,"numMetadata":1,"numProtocol":1,"metadata":{"id":"t",
    ///     "format":{"provider":"parquet"},"schemaString":"{}","partitionColumns":[],"configuration":{}},
    ///     "protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;
    /// let checksum = VersionChecksum::parse(text.as_bytes())?;
    /// assert_eq!(VersionChecksum::parse(checksum.to_text()?.as_bytes())?, checksum);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn to_text(&self) -> Result<String> {
        let (Some(metadata), Some(protocol)) = (&self.metadata, &self.protocol) else {
            return Err(unwritable("a version checksum needs a protocol and metadata"));
        };
        let written = Written {
            txn_id: self.txn_id.as_deref(),
            table_size_bytes: self.table_size_bytes,
            num_files: self.num_files,
            num_deleted_records_opt: self.num_deleted_records,
            num_deletion_vectors_opt: self.num_deletion_vectors,
            // One, as in every version.
            num_metadata: 1,
            num_protocol: 1,
            in_commit_timestamp_opt: self.in_commit_timestamp,
            set_transactions: self.set_transactions.as_deref(),
            domain_metadata: self.domain_metadata.as_deref(),
            metadata,
            protocol,
            file_size_histogram: self.file_size_histogram.as_ref(),
            deleted_record_counts_histogram_opt: self.deleted_record_counts_histogram.as_ref(),
            all_files: self.all_files.as_deref(),
        };
        let text = serde_json::to_string(&written).map_err(|error| unwritable(&error.to_string()))?;
        match Self::parse(text.as_bytes()) {
            Ok(read) if read == *self => Ok(text + "\n"),
            Ok(_) => Err(unwritable(
                "a version checksum was not read back as it was written",
            )),
            Err(error) => Err(unwritable(error.what())),
        }
    }
}

fn unwritable(why: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("a version checksum cannot be written: {why}"),
    )
    .hint("the table needs none: leave it out")
}
