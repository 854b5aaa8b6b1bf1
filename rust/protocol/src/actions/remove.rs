//! The `remove` action. Protocol: *Add File and Remove File*.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::object::optional_object;
use super::{PartitionText, Text};
use crate::deletion_vector::DescriptorText;

/// A `remove` as a line of a commit holds it: borrowed, with the statistics not looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveLine<'a> {
    /// Where the data file is, URI-encoded.
    #[serde(borrow)]
    pub path: Text<'a>,
    /// Milliseconds since the epoch.
    pub deletion_timestamp: Option<i64>,
    /// Whether the commit changed the table's rows by this.
    pub data_change: bool,
    /// Whether the partition values, the size and the tags are there.
    pub extended_file_metadata: Option<bool>,
    /// The partition values, where the writer kept them.
    #[serde(borrow)]
    pub partition_values: Option<PartitionText<'a>>,
    /// Bytes, where the writer kept them.
    pub size: Option<i64>,
    /// Statistics as JSON inside a JSON string, still escaped; some writers keep the number of rows alone.
    #[serde(borrow)]
    pub stats: Option<&'a RawValue>,
    /// What the writer noted about the file: a map of texts, not looked at.
    #[serde(borrow)]
    pub tags: Option<&'a RawValue>,
    /// The rows that were deleted.
    #[serde(borrow, default, deserialize_with = "optional_object")]
    pub deletion_vector: Option<DescriptorText<'a>>,
    /// The row id of the first row.
    pub base_row_id: Option<i64>,
    /// The version that brought the file.
    pub default_row_commit_version: Option<i64>,
}
