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

impl DomainMetadata {
    /// Whether the domain is the protocol's, which only clients that understand it may change.
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
