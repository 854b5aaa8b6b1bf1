//! A deletion vector's descriptor as a file action of a commit holds it.
//!
//! Protocol: *Deletion Vector Descriptor Schema*.

use serde::Deserialize;

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
