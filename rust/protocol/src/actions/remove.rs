//! The `remove` action. Protocol: *Add File and Remove File*.

use serde::Deserialize;

use super::{PartitionText, Text};
use crate::deletion_vector::DescriptorText;

/// A `remove` as a line of a commit holds it.
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
    /// The partition values, where the writer kept them.
    #[serde(borrow)]
    pub partition_values: Option<PartitionText<'a>>,
    /// Bytes, where the writer kept them.
    pub size: Option<i64>,
    /// The rows that were deleted.
    #[serde(borrow)]
    pub deletion_vector: Option<DescriptorText<'a>>,
}
