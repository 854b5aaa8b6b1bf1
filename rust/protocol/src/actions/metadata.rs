//! The `metaData` action. Protocol: *Change Metadata*.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::object::object;
use crate::schema::{DataType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// The format of the data files. Protocol: *Format Specification*.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// The format; only `parquet` is supported.
    pub provider: String,
    /// Options of the format.
    #[serde(default)]
    pub options: BTreeMap<String, Option<String>>,
}

/// The metadata of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The unique id of the table.
    pub id: String,
    /// A user-provided name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A user-provided description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The format of the data files.
    #[serde(deserialize_with = "object")]
    pub format: Format,
    /// The schema as JSON; empty if the writer omitted it because the columns were not known yet.
    #[serde(default, deserialize_with = "text_or_null")]
    pub schema_string: String,
    /// The partition columns.
    pub partition_columns: Vec<String>,
    /// The table properties.
    #[serde(default)]
    pub configuration: BTreeMap<String, Option<String>>,
    /// Creation time of this metadata in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_time: Option<i64>,
}

fn text_or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Metadata {
    /// Parses the schema and verifies that the format is Parquet and that all partition columns exist.
    /// Without a `schemaString`, the schema has no columns.
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
        let schema = if self.schema_string.is_empty() {
            StructType::default()
        } else {
            StructType::from_json(&self.schema_string)?
        };
        for (index, column) in self.partition_columns.iter().enumerate() {
            let wrong = |message: String| {
                Err(Error::new(ErrorKind::CorruptLog, message).with("field", "partitionColumns"))
            };
            match schema.field(column) {
                None => return wrong(format!("the partition column {column:?} is not in the schema")),
                // Values of an unknown type cannot be compared, but the rest of the log is readable.
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
                    return wrong(format!("the partition column {column:?} is listed twice"));
                }
                Some(_) => {}
            }
        }
        Ok(schema)
    }

    /// A table property; `None` if it is absent or null.
    #[must_use]
    pub fn property(&self, key: &str) -> Option<&str> {
        self.configuration.get(key)?.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_may_be_absent_or_null_and_nothing_else_but_text() -> Result<(), serde_json::Error> {
        let read = |schema: &str| -> Result<Metadata, serde_json::Error> {
            serde_json::from_str(&format!(
                r#"{{"id":"t","format":{{"provider":"parquet"}},{schema}"partitionColumns":[]}}"#
            ))
        };
        for schema in ["", r#""schemaString":null,"#] {
            let metadata = read(schema)?;
            assert_eq!(metadata.schema_string, "");
            assert!(metadata.schema().is_ok_and(|schema| schema.fields.is_empty()));
        }
        assert!(read(r#""schemaString":[{}],"#).is_err());
        assert!(read(r#""schemaString":"{}","#)?.schema().is_err());
        let partitioned = Metadata {
            partition_columns: vec!["p".to_owned()],
            ..read("")?
        };
        assert!(
            partitioned
                .schema()
                .is_err_and(|error| error.kind() == ErrorKind::CorruptLog)
        );
        Ok(())
    }
}
