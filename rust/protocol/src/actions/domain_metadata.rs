//! The `domainMetadata` action. Protocol: *Domain Metadata*.

use serde::{Deserialize, Serialize};

/// A domain's configuration, or the word that it is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainMetadata {
    /// The domain; `delta.` is the protocol's.
    pub domain: String,
    /// The configuration, text that only its domain understands.
    pub configuration: String,
    /// A tombstone.
    pub removed: bool,
}
