//! The `add` action. Protocol: *Add File and Remove File*.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::object::optional_object;
use super::{LogicalFileKey, PartitionText};
use crate::deletion_vector::{Descriptor, DescriptorText};
use crate::json_string::Text;

/// An `add` action as parsed from a commit line: borrowed, with unparsed statistics.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddLine<'a> {
    /// Path of the data file, URI-encoded.
    #[serde(borrow)]
    pub path: Text<'a>,
    /// Partition values.
    #[serde(borrow)]
    pub partition_values: PartitionText<'a>,
    /// Size in bytes.
    pub size: i64,
    /// Modification time in milliseconds since the epoch.
    pub modification_time: i64,
    /// Whether this action changes the rows of the table.
    pub data_change: bool,
    /// Statistics as JSON inside a JSON string, still escaped.
    #[serde(borrow)]
    pub stats: Option<&'a RawValue>,
    /// Deletion vector of the file.
    #[serde(borrow, default, deserialize_with = "optional_object")]
    pub deletion_vector: Option<DescriptorText<'a>>,
    /// Row id of the first row.
    pub base_row_id: Option<i64>,
    /// The version that added the file.
    pub default_row_commit_version: Option<i64>,
    /// Tags of the writer: a map of strings, unparsed.
    #[serde(borrow)]
    pub tags: Option<&'a RawValue>,
    /// Name of the clustering implementation that wrote the file.
    #[serde(borrow)]
    pub clustering_provider: Option<Text<'a>>,
}

/// An owned `add` action: written in commits and listed in version checksums.
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
    /// Path of the data file, URI-encoded.
    pub path: String,
    /// Partition values; `None` is NULL.
    pub partition_values: BTreeMap<String, Option<String>>,
    /// Size in bytes.
    pub size: i64,
    /// Modification time in milliseconds since the epoch.
    pub modification_time: i64,
    /// Whether this action changes the rows of the table.
    pub data_change: bool,
    /// Statistics as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
    /// Tags of the writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
    /// Deletion vector of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<Descriptor>,
    /// Row id of the first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    /// The version that added the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
    /// Name of the clustering implementation that wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clustering_provider: Option<String>,
}

impl Add {
    /// The primary key of the logical file.
    #[must_use]
    pub fn key(&self) -> LogicalFileKey<'_> {
        LogicalFileKey::new(&self.path, self.deletion_vector.as_ref().map(Descriptor::key))
    }
}
