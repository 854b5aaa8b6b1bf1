//! The `protocol` action. Protocol: *Protocol Evolution*, *Table Features*.

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Result};

/// The requirements that a client must meet to read and to write the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Protocol {
    /// Minimum reader version.
    pub min_reader_version: i32,
    /// Minimum writer version.
    pub min_writer_version: i32,
    /// Reader features; only with reader version 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader_features: Option<Vec<String>>,
    /// Writer features; only with writer version 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_features: Option<Vec<String>>,
}

impl Protocol {
    /// Verifies that the versions are valid and that feature lists are present only where they are
    /// allowed.
    pub fn validate(&self) -> Result<()> {
        let wrong = |field: &'static str, message: String| {
            Err(Error::new(ErrorKind::CorruptLog, message).with("field", field))
        };
        for (field, version) in [
            ("minReaderVersion", self.min_reader_version),
            ("minWriterVersion", self.min_writer_version),
        ] {
            if version < 1 {
                return wrong(field, format!("{field} is {version}, and versions start at 1"));
            }
        }
        if self.min_reader_version == 3 && self.reader_features.is_none() {
            return wrong(
                "readerFeatures",
                "reader version 3 without a list of reader features".to_owned(),
            );
        }
        if self.min_writer_version == 7 && self.writer_features.is_none() {
            return wrong(
                "writerFeatures",
                "writer version 7 without a list of writer features".to_owned(),
            );
        }
        if self.min_reader_version == 3 && self.min_writer_version != 7 {
            return wrong(
                "minWriterVersion",
                format!(
                    "reader version 3 needs writer version 7, not {}",
                    self.min_writer_version
                ),
            );
        }
        Ok(())
    }
}
