//! The `metaData` action. Protocol: *Change Metadata*.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::schema::{DataType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// How the data files are encoded. Protocol: *Format Specification*.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// The encoding; only `parquet` is read.
    pub provider: String,
    /// Options of the encoding.
    #[serde(default)]
    pub options: BTreeMap<String, Option<String>>,
}

/// What a table says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The table's unique id.
    pub id: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How the data files are encoded.
    pub format: Format,
    /// The schema as JSON text; empty where a writer left it out, which only a later version may make good.
    #[serde(default)]
    pub schema_string: String,
    /// The columns that the data is partitioned by.
    pub partition_columns: Vec<String>,
    /// The table's properties.
    #[serde(default)]
    pub configuration: BTreeMap<String, Option<String>>,
    /// When this metadata was made, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_time: Option<i64>,
}

impl Metadata {
    /// The schema, proved to hold the partition columns, of a table whose files are Parquet.
    pub fn schema(&self) -> Result<StructType> {
        if self.format.provider != "parquet" {
            return Err(Error::new(
                ErrorKind::UnsupportedFeature,
                format!(
                    "the data files are {:?}; only parquet is read",
                    self.format.provider
                ),
            )
            .with("feature", format!("format {}", self.format.provider))
            .with("field", "format.provider")
            .hint("convert the files to Parquet"));
        }
        if self.schema_string.is_empty() {
            return Err(Error::new(ErrorKind::CorruptLog, "the metadata hold no schema")
                .with("field", "schemaString"));
        }
        let schema = StructType::from_json(&self.schema_string)?;
        for (index, column) in self.partition_columns.iter().enumerate() {
            let wrong = |message: String| {
                Err(Error::new(ErrorKind::CorruptLog, message).with("field", "partitionColumns"))
            };
            match schema.field(column) {
                None => return wrong(format!("the partition column {column:?} is not in the schema")),
                // Its values cannot be told apart, but the rest of the log can be.
                Some(StructField {
                    data_type: DataType::Unknown(_),
                    ..
                }) => {}
                Some(field) if field.data_type.as_primitive().is_none() => {
                    return wrong(format!(
                        "the partition column {column:?} is a {}",
                        field.data_type
                    ));
                }
                Some(_)
                    if self
                        .partition_columns
                        .iter()
                        .take(index)
                        .any(|before| before == column) =>
                {
                    return wrong(format!("the partition column {column:?} stands twice"));
                }
                Some(_) => {}
            }
        }
        Ok(schema)
    }

    /// A table property; none when absent or null.
    #[must_use]
    pub fn property(&self, key: &str) -> Option<&str> {
        self.configuration.get(key)?.as_deref()
    }
}
