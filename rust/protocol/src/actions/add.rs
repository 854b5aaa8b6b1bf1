//! The `add` action. Protocol: *Add File and Remove File*.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::object::optional_object;
use super::{LogicalFileKey, PartitionText, Text};
use crate::deletion_vector::{Descriptor, DescriptorText};

/// An `add` as a line of a commit holds it: borrowed, with the statistics not looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddLine<'a> {
    /// Where the data file is, URI-encoded.
    #[serde(borrow)]
    pub path: Text<'a>,
    /// The partition values.
    #[serde(borrow)]
    pub partition_values: PartitionText<'a>,
    /// Bytes.
    pub size: i64,
    /// Milliseconds since the epoch.
    pub modification_time: i64,
    /// Whether the commit changed the table's rows by this.
    pub data_change: bool,
    /// Statistics as JSON inside a JSON string, still escaped.
    #[serde(borrow)]
    pub stats: Option<&'a RawValue>,
    /// The rows that are deleted.
    #[serde(borrow, default, deserialize_with = "optional_object")]
    pub deletion_vector: Option<DescriptorText<'a>>,
    /// The row id of the first row.
    pub base_row_id: Option<i64>,
    /// The version that brought the file.
    pub default_row_commit_version: Option<i64>,
    /// What the writer notes about the file: a map of texts, not looked at.
    #[serde(borrow)]
    pub tags: Option<&'a RawValue>,
    /// Which implementation of clustering arranged the file's rows.
    #[serde(borrow)]
    pub clustering_provider: Option<Text<'a>>,
}

/// An `add` on its own, in full: what we write, and what a version checksum lists.
///
/// ```
/// use deltaic_protocol::actions::Add;
/// let add = Add { path: "a.parquet".to_owned(), size: 3, data_change: true, ..Add::default() };
/// let text = r#"{"path":"a.parquet","partitionValues":{},"size":3,"modificationTime":0,"dataChange":true}"#;
/// assert_eq!(serde_json::to_string(&add)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Add {
    /// Where the data file is, URI-encoded.
    pub path: String,
    /// The partition values; an absent text is NULL.
    pub partition_values: BTreeMap<String, Option<String>>,
    /// Bytes.
    pub size: i64,
    /// Milliseconds since the epoch.
    pub modification_time: i64,
    /// Whether the commit changes the table's rows by this.
    pub data_change: bool,
    /// Statistics as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
    /// What the writer notes about the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
    /// The rows that are deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<Descriptor>,
    /// The row id of the first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    /// The version that brought the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
    /// Which implementation of clustering arranged the file's rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clustering_provider: Option<String>,
}

impl Add {
    /// What tells the logical file from others.
    #[must_use]
    pub fn key(&self) -> LogicalFileKey<'_> {
        LogicalFileKey::new(&self.path, self.deletion_vector.as_ref().map(Descriptor::key))
    }
}
