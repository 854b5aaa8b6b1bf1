//! The `remove` action. Protocol: *Add File and Remove File*.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::object::optional_object;
use super::{Add, LogicalFileKey, PartitionText};
use crate::deletion_vector::{Descriptor, DescriptorText};
use crate::json_string::Text;

/// A `remove` action as parsed from a commit line: borrowed, with unparsed statistics.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveLine<'a> {
    /// Path of the data file, URI-encoded.
    #[serde(borrow)]
    pub path: Text<'a>,
    /// Deletion time in milliseconds since the epoch.
    pub deletion_timestamp: Option<i64>,
    /// Whether this action changes the rows of the table.
    pub data_change: bool,
    /// Whether partition values, size and tags are present.
    pub extended_file_metadata: Option<bool>,
    /// Partition values, if the writer recorded them.
    #[serde(borrow)]
    pub partition_values: Option<PartitionText<'a>>,
    /// Size in bytes, if the writer recorded it.
    pub size: Option<i64>,
    /// Statistics as JSON inside a JSON string, still escaped; some writers record only the number of
    /// rows.
    #[serde(borrow)]
    pub stats: Option<&'a RawValue>,
    /// Tags of the writer: a map of strings, unparsed.
    #[serde(borrow)]
    pub tags: Option<&'a RawValue>,
    /// Deletion vector of the removed file.
    #[serde(borrow, default, deserialize_with = "optional_object")]
    pub deletion_vector: Option<DescriptorText<'a>>,
    /// Row id of the first row.
    pub base_row_id: Option<i64>,
    /// The version that added the file.
    pub default_row_commit_version: Option<i64>,
}

/// An owned `remove` action, as written in commits.
///
/// ```
/// use deltaic_protocol::actions::{Add, Remove};
/// let add = Add { path: "a.parquet".to_owned(), size: 3, data_change: true, ..Add::default() };
/// let text = r#"{"path":"a.parquet","deletionTimestamp":7,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":3}"#;
/// assert_eq!(serde_json::to_string(&Remove::of(&add, 7))?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remove {
    /// Path of the data file, URI-encoded.
    pub path: String,
    /// Deletion time in milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<i64>,
    /// Whether this action changes the rows of the table.
    pub data_change: bool,
    /// Whether partition values, size and tags are present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_file_metadata: Option<bool>,
    /// Partition values; `None` is NULL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_values: Option<BTreeMap<String, Option<String>>>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Statistics as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
    /// Tags of the writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
    /// Deletion vector of the removed file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<Descriptor>,
    /// Row id of the first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    /// The version that added the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
}

impl Remove {
    /// Creates the action that removes a file at a time in milliseconds since the epoch. `dataChange` is
    /// true unless the caller changes it.
    #[must_use]
    pub fn of(add: &Add, deletion_timestamp: i64) -> Self {
        Self {
            path: add.path.clone(),
            deletion_timestamp: Some(deletion_timestamp),
            data_change: true,
            extended_file_metadata: Some(true),
            partition_values: Some(add.partition_values.clone()),
            size: Some(add.size),
            stats: add.stats.clone(),
            tags: add.tags.clone(),
            deletion_vector: add.deletion_vector.clone(),
            base_row_id: add.base_row_id,
            default_row_commit_version: add.default_row_commit_version,
        }
    }

    /// The primary key of the logical file.
    #[must_use]
    pub fn key(&self) -> LogicalFileKey<'_> {
        LogicalFileKey::new(&self.path, self.deletion_vector.as_ref().map(Descriptor::key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{ActionLine, parse_line};
    use crate::{Error, Result};

    /// protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
    #[test]
    fn written_adds_are_read_with_all_their_fields() -> Result<()> {
        let vector = Descriptor {
            storage_type: "u".to_owned(),
            path_or_inline_dv: "ab^-aqEH.-t@S}K{vb[*k^".to_owned(),
            offset: Some(4),
            size_in_bytes: 40,
            cardinality: 6,
        };
        let add = Add {
            path: "p=1/a%20b.parquet".to_owned(),
            partition_values: BTreeMap::from([
                ("p".to_owned(), Some("1".to_owned())),
                ("q".to_owned(), None),
            ]),
            size: 3,
            modification_time: 5,
            data_change: true,
            stats: Some(r#"{"numRecords":9}"#.to_owned()),
            tags: Some(BTreeMap::from([("k".to_owned(), Some("v".to_owned()))])),
            deletion_vector: Some(vector.clone()),
            base_row_id: Some(70),
            default_row_commit_version: Some(2),
            clustering_provider: None,
        };
        let remove = Remove::of(&add, 11);
        assert_eq!(remove.key(), add.key());
        let failed = |error: serde_json::Error| Error::internal(error.to_string());
        let line = serde_json::to_string(&serde_json::json!({ "remove": remove })).map_err(failed)?;
        let ActionLine::Remove(read) = parse_line(line.as_bytes())? else {
            return Err(Error::internal("it is read as another action"));
        };
        assert_eq!((&*read.path, read.data_change), ("p=1/a%20b.parquet", true));
        assert_eq!((read.deletion_timestamp, read.size), (Some(11), Some(3)));
        assert_eq!(read.extended_file_metadata, Some(true));
        assert_eq!(read.partition_values.map(|values| values.0.len()), Some(2));
        assert_eq!(read.deletion_vector.as_ref().map(Descriptor::from), Some(vector));
        assert_eq!(
            (read.base_row_id, read.default_row_commit_version),
            (Some(70), Some(2))
        );
        assert!(read.stats.is_some() && read.tags.is_some());
        Ok(())
    }
}
