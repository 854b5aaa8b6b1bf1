//! The `domainMetadata` action. Protocol: *Domain Metadata*.

use serde::{Deserialize, Serialize};

/// The configuration of a metadata domain, or its tombstone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainMetadata {
    /// Name of the domain; names that start with `delta.` are reserved for the protocol.
    pub domain: String,
    /// The configuration, a string that only its domain can interpret.
    pub configuration: String,
    /// Whether this action is a tombstone.
    pub removed: bool,
}

impl DomainMetadata {
    /// Whether the domain is a system domain, which only clients that understand it may change.
    ///
    /// ```
    /// use deltaic_protocol::actions::DomainMetadata;
    /// let domain = |name: &str| DomainMetadata { domain: name.to_owned(), configuration: String::new(), removed: false };
    /// assert!(domain("delta.clustering").is_system());
    /// assert!(!domain("deltaic.notes").is_system());
    /// ```
    #[must_use]
    pub fn is_system(&self) -> bool {
        self.domain.starts_with("delta.")
    }
}
