//! A deletion vector's descriptor as a file action of a commit holds it.
//!
//! Protocol: *Deletion Vector Descriptor Schema*.

use serde::{Deserialize, Serialize};

use crate::actions::Text;

/// The descriptor, not yet judged.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DescriptorText<'a> {
    /// `u`, `i` or `p`.
    #[serde(borrow)]
    pub storage_type: Text<'a>,
    /// Where the vector is, or the vector itself.
    #[serde(borrow)]
    pub path_or_inline_dv: Text<'a>,
    /// Where in its file it starts.
    pub offset: Option<i32>,
    /// How many bytes it takes.
    pub size_in_bytes: i32,
    /// How many rows it deletes.
    pub cardinality: i64,
}

/// The descriptor, not yet judged, on its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// `u`, `i` or `p`.
    pub storage_type: String,
    /// Where the vector is, or the vector itself.
    pub path_or_inline_dv: String,
    /// Where in its file it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i32>,
    /// How many bytes it takes.
    pub size_in_bytes: i32,
    /// How many rows it deletes.
    pub cardinality: i64,
}

impl Descriptor {
    /// The part of a logical file's key that the vector makes: its storage type, text and offset.
    #[must_use]
    pub fn key(&self) -> (&str, &str, Option<i32>) {
        (&self.storage_type, &self.path_or_inline_dv, self.offset)
    }
}

impl From<&DescriptorText<'_>> for Descriptor {
    fn from(text: &DescriptorText<'_>) -> Self {
        Self {
            storage_type: text.storage_type.0.clone().into_owned(),
            path_or_inline_dv: text.path_or_inline_dv.0.clone().into_owned(),
            offset: text.offset,
            size_in_bytes: text.size_in_bytes,
            cardinality: text.cardinality,
        }
    }
}
