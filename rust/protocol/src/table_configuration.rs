//! The configuration of a table: protocol, metadata, schema and domains as one value.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::actions::{DomainMetadata, Metadata, Protocol};
use crate::deletion_vector::z85;
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result};

/// The state of a table except for files and transaction identifiers. Cheap to clone.
///
/// Protocol: *Protocol Evolution*, *Change Metadata*, *Domain Metadata*.
///
/// ```
/// use deltaic_protocol::TableConfiguration;
/// use deltaic_protocol::actions::{Metadata, Protocol};
/// let protocol: Protocol = serde_json::from_str(r#"{"minReaderVersion":1,"minWriterVersion":2}"#)?;
/// let metadata: Metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],
///         "schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"}"#,
/// )?;
/// let configuration = TableConfiguration::new(protocol, metadata);
/// assert_eq!(configuration.schema()?.fields[0].name, "id");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableConfiguration {
    protocol: Arc<Protocol>,
    metadata: Arc<Metadata>,
    domains: Arc<BTreeMap<String, DomainMetadata>>,
    /// The parsed schema of `metadata`, once it was requested.
    schema: OnceLock<Arc<StructType>>,
}

impl PartialEq for TableConfiguration {
    fn eq(&self, other: &Self) -> bool {
        self.protocol == other.protocol && self.metadata == other.metadata && self.domains == other.domains
    }
}

impl Eq for TableConfiguration {}

/// The actions that change one configuration into another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigurationActions {
    /// The protocol, if it changes.
    pub protocol: Option<Protocol>,
    /// The metadata, if it changes.
    pub metadata: Option<Metadata>,
    /// The domains that are new, changed or removed, by name. A removed domain has its last configuration
    /// and is `removed`.
    pub domains: Vec<DomainMetadata>,
}

impl ConfigurationActions {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.protocol.is_none() && self.metadata.is_none() && self.domains.is_empty()
    }
}

impl TableConfiguration {
    /// The configuration of a table without domains.
    #[must_use]
    pub fn new(protocol: impl Into<Arc<Protocol>>, metadata: impl Into<Arc<Metadata>>) -> Self {
        Self {
            protocol: protocol.into(),
            metadata: metadata.into(),
            domains: Arc::default(),
            schema: OnceLock::new(),
        }
    }

    /// Sets the domains; removed ones are left out.
    #[must_use]
    pub fn with_domains(mut self, domains: impl IntoIterator<Item = DomainMetadata>) -> Self {
        let live = domains.into_iter().filter(|domain| !domain.removed);
        self.domains = Arc::new(live.map(|domain| (domain.domain.clone(), domain)).collect());
        self
    }

    /// A digest of the protocol and the metadata, which are what data files depend on.
    ///
    /// # Errors
    ///
    /// Returns `ValueError` if they cannot be serialized.
    pub fn digest(&self) -> Result<String> {
        let bytes = serde_json::to_vec(&(self.protocol(), self.metadata())).map_err(|error| {
            let what = format!("the configuration of the table cannot be serialized: {error}");
            Error::new(ErrorKind::InvalidArgument, what)
        })?;
        Ok(z85::encode(&Sha256::digest(bytes)))
    }

    /// The protocol.
    #[must_use]
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// The metadata.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The domains by name, without removed ones.
    #[must_use]
    pub fn domains(&self) -> &BTreeMap<String, DomainMetadata> {
        &self.domains
    }

    /// The domain with this name, unless it is removed.
    #[must_use]
    pub fn domain(&self, name: &str) -> Option<&DomainMetadata> {
        self.domains.get(name)
    }

    /// Parses the schema once.
    ///
    /// # Errors
    ///
    /// As [`Metadata::schema`].
    pub fn schema(&self) -> Result<Arc<StructType>> {
        if let Some(schema) = self.schema.get() {
            return Ok(Arc::clone(schema));
        }
        let schema = Arc::new(self.metadata.schema()?);
        Ok(Arc::clone(self.schema.get_or_init(|| schema)))
    }

    /// A copy of the schema, to be changed and set again.
    pub(crate) fn schema_copy(&self) -> Result<StructType> {
        Ok(Arc::unwrap_or_clone(self.schema()?))
    }

    /// Whether protocol and metadata are the same values in memory. `false` does not mean that they differ.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.protocol, &other.protocol) && Arc::ptr_eq(&self.metadata, &other.metadata)
    }

    /// Replaces the protocol.
    pub fn set_protocol(&mut self, protocol: impl Into<Arc<Protocol>>) {
        self.protocol = protocol.into();
    }

    /// Replaces the metadata, and with them the schema.
    pub fn set_metadata(&mut self, metadata: impl Into<Arc<Metadata>>) {
        self.metadata = metadata.into();
        self.schema = OnceLock::new();
    }

    /// The configuration after a commit with these actions.
    #[must_use]
    pub fn after(
        &self,
        protocol: Option<&Protocol>,
        metadata: Option<&Metadata>,
        domains: &[DomainMetadata],
    ) -> Self {
        let mut after = self.clone();
        if let Some(protocol) = protocol {
            after.set_protocol(protocol.clone());
        }
        if let Some(metadata) = metadata {
            after.set_metadata(metadata.clone());
        }
        for domain in domains {
            after.put(domain.clone());
        }
        after
    }

    /// Returns the actions that change this configuration into another.
    ///
    /// Protocol: *Domain Metadata* (tombstones retain the configuration).
    #[must_use]
    pub fn actions_since(&self, before: &Self) -> ConfigurationActions {
        let changed = self
            .domains
            .values()
            .filter(|domain| before.domain(&domain.domain) != Some(domain));
        let gone = before
            .domains
            .values()
            .filter(|domain| self.domain(&domain.domain).is_none());
        let removed = gone.map(|domain| DomainMetadata {
            removed: true,
            ..domain.clone()
        });
        let mut domains: Vec<DomainMetadata> = changed.cloned().chain(removed).collect();
        domains.sort_by(|left, right| left.domain.cmp(&right.domain));
        ConfigurationActions {
            protocol: (self.protocol != before.protocol).then(|| self.protocol().clone()),
            metadata: (self.metadata != before.metadata).then(|| self.metadata().clone()),
            domains,
        }
    }

    pub(crate) fn metadata_mut(&mut self) -> &mut Metadata {
        self.schema = OnceLock::new();
        Arc::make_mut(&mut self.metadata)
    }

    pub(crate) fn put_domain(&mut self, name: &str, configuration: String) {
        self.put(DomainMetadata {
            domain: name.to_owned(),
            configuration,
            removed: false,
        });
    }

    fn put(&mut self, domain: DomainMetadata) {
        if domain.removed {
            self.remove_domain(&domain.domain);
        } else {
            Arc::make_mut(&mut self.domains).insert(domain.domain.clone(), domain);
        }
    }

    pub(crate) fn remove_domain(&mut self, name: &str) {
        Arc::make_mut(&mut self.domains).remove(name);
    }

    pub(crate) fn set_property(&mut self, key: &str, value: impl Into<String>) {
        self.metadata_mut()
            .configuration
            .insert(key.to_owned(), Some(value.into()));
    }

    /// Sets the schema of the table.
    ///
    /// # Errors
    ///
    /// Returns `UnsupportedFeature` if the current schema contains a spelling of a type that would be
    /// lost; `SchemaMismatch` if the new schema is nested too deeply.
    pub(crate) fn set_schema(&mut self, schema: &StructType) -> Result<()> {
        // Partition columns may already be renamed, so the schema is parsed without checking them.
        let there = match self.metadata.schema_string.as_str() {
            "" => StructType::default(),
            text => StructType::from_json(text)?,
        };
        if schema == &there {
            return Ok(());
        }
        if let Ok(spelled) = serde_json::from_str::<Value>(&self.metadata.schema_string)
            && let Some(narrowed) = narrowed_type(&spelled)
        {
            return Err(Error::new(
                ErrorKind::UnsupportedFeature,
                format!("the schema spells a type as {narrowed:?}, which deltaic does not write"),
            )
            .with("feature", narrowed)
            .with("field", "schemaString")
            .hint("change the schema with the client that wrote it"));
        }
        self.metadata_mut().schema_string = schema.to_schema_string()?;
        Ok(())
    }
}

/// A type in the schema JSON that is read as `string` but spelled differently.
fn narrowed_type(spelled: &Value) -> Option<&str> {
    match spelled {
        Value::Object(parts) => parts.iter().find_map(|(key, part)| match (key.as_str(), part) {
            ("type" | "elementType" | "keyType" | "valueType", Value::String(name)) => {
                let is_narrowed = ["string collate ", "varchar(", "char("]
                    .iter()
                    .any(|prefix| name.starts_with(prefix));
                is_narrowed.then_some(name.as_str())
            }
            ("metadata", _) => None,
            (_, part) => narrowed_type(part),
        }),
        Value::Array(parts) => parts.iter().find_map(narrowed_type),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{metadata, protocol};

    fn table() -> TableConfiguration {
        let mut table = TableConfiguration::new(protocol(1, 7, &["domainMetadata"]), metadata(&[]));
        table.put_domain("a", "1".to_owned());
        table
    }

    /// protocol: domain-metadata.3, writer-requirements-for-domain-metadata.1
    #[test]
    fn changed_domains_become_actions_and_removed_ones_retain_their_configuration() {
        let before = table();
        assert!(before.actions_since(&before).is_empty());
        let tombstone = DomainMetadata {
            removed: true,
            ..before.domains()["a"].clone()
        };
        let removed = before.after(None, None, std::slice::from_ref(&tombstone));
        assert!(removed.domains().is_empty());
        assert_eq!(removed.actions_since(&before).domains, [tombstone]);
        let mut after = before.clone();
        after.put_domain("b", "2".to_owned());
        after.metadata_mut().name = Some("n".to_owned());
        let actions = after.actions_since(&before);
        assert_eq!(
            (actions.protocol, actions.metadata),
            (None, Some(after.metadata().clone()))
        );
        assert_eq!(actions.domains, [after.domains()["b"].clone()]);
        after.remove_domain("a");
        after.put_domain("b", "3".to_owned());
        let domains = after.actions_since(&before).domains;
        let stored: Vec<(&str, &str, bool)> = domains
            .iter()
            .map(|domain| {
                (
                    domain.domain.as_str(),
                    domain.configuration.as_str(),
                    domain.removed,
                )
            })
            .collect();
        assert_eq!(stored, [("a", "1", true), ("b", "3", false)]);
    }

    #[test]
    fn a_type_whose_spelling_would_be_lost_is_not_written_over() -> Result<()> {
        let spelled = |data_type: &str| {
            let mut table = table();
            table.metadata_mut().schema_string = format!(
                r#"{{"type":"struct","fields":[{{"name":"a","type":{data_type},"nullable":true,"metadata":{{"__CHAR_VARCHAR_TYPE_STRING":"varchar(5)"}}}}]}}"#
            );
            table
        };
        for (data_type, lost) in [
            (r#""string""#, false),
            (r#""varchar(5)""#, true),
            (
                r#"{"type":"array","elementType":"string collate UTF8_LCASE","containsNull":true}"#,
                true,
            ),
        ] {
            let mut table = spelled(data_type);
            let mut schema = table.schema_copy()?;
            table.set_schema(&schema)?;
            schema.fields[0].nullable = false;
            assert_eq!(table.set_schema(&schema).is_err(), lost, "{data_type}");
        }
        Ok(())
    }
}
