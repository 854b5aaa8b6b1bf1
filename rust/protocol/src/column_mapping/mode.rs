//! How the columns of a table are mapped.

use serde::{Deserialize, Serialize};

use super::corrupt::corrupt;
use super::field_metadata::MODE;
use crate::{Result, TableConfiguration};

/// How columns are resolved in data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnMappingMode {
    /// By their logical names.
    None,
    /// By their ids.
    Id,
    /// By their physical names.
    Name,
}

impl ColumnMappingMode {
    /// The mode of a table. The property applies only if the protocol has the feature for readers.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` if the mode does not exist.
    pub fn of(table: &TableConfiguration) -> Result<Self> {
        let (protocol, metadata) = (table.protocol(), table.metadata());
        let supported = protocol.min_reader_version == 2
            || protocol
                .reader_features
                .iter()
                .flatten()
                .any(|name| name == "columnMapping");
        let Some(text) = metadata.property(MODE).filter(|_| supported) else {
            return Ok(Self::None);
        };
        match text.to_ascii_lowercase().as_str() {
            "none" => Ok(Self::None),
            "id" => Ok(Self::Id),
            "name" => Ok(Self::Name),
            _ => Err(corrupt(
                MODE,
                format!("{MODE} is {text:?}, and can be none, id or name"),
            )),
        }
    }

    /// Whether the log and data files use physical names.
    #[must_use]
    pub fn is_mapped(self) -> bool {
        self != Self::None
    }
}
