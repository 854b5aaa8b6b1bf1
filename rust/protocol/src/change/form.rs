//! The configuration of a table: protocol, metadata and domains as one value.

use serde_json::Value;

use crate::actions::{DomainMetadata, Metadata, Protocol};
use crate::column_mapping::{ColumnMappingMode, MAX_COLUMN_ID};
use crate::features::with_features;
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result};

/// The state of a table except for files and transaction identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The protocol.
    pub protocol: Protocol,
    /// The metadata.
    pub metadata: Metadata,
    /// The domains that are not removed.
    pub domains: Vec<DomainMetadata>,
}

/// The actions that change one configuration into another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormActions {
    /// The protocol, if it changes.
    pub protocol: Option<Protocol>,
    /// The metadata, if it changes.
    pub metadata: Option<Metadata>,
    /// The domains that are new, changed or removed, by name. A removed domain has its last configuration
    /// and is `removed`.
    pub domains: Vec<DomainMetadata>,
}

impl FormActions {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.protocol.is_none() && self.metadata.is_none() && self.domains.is_empty()
    }
}

impl Form {
    /// Returns the actions that change this configuration into another.
    ///
    /// Protocol: *Domain Metadata* (tombstones retain the configuration).
    #[must_use]
    pub fn actions_since(&self, before: &Self) -> FormActions {
        let live = |form: &'_ Self| {
            let domains = form.domains.iter().filter(|domain| !domain.removed);
            domains.cloned().collect::<Vec<DomainMetadata>>()
        };
        let mut domains = live(self);
        domains.retain(|domain| before.domain(&domain.domain) != Some(domain));
        let gone = live(before);
        let gone = gone
            .into_iter()
            .filter(|domain| self.domain(&domain.domain).is_none());
        domains.extend(gone.map(|domain| DomainMetadata {
            removed: true,
            ..domain
        }));
        domains.sort_by(|left, right| left.domain.cmp(&right.domain));
        FormActions {
            protocol: (self.protocol != before.protocol).then(|| self.protocol.clone()),
            metadata: (self.metadata != before.metadata).then(|| self.metadata.clone()),
            domains,
        }
    }

    /// Parses the schema, as [`Metadata::schema`] does.
    pub fn schema(&self) -> Result<StructType> {
        self.metadata.schema()
    }

    /// How columns are resolved in data files.
    pub fn mapping(&self) -> Result<ColumnMappingMode> {
        ColumnMappingMode::of(&self.protocol, &self.metadata)
    }

    /// The domain with this name, unless it is removed.
    #[must_use]
    pub fn domain(&self, name: &str) -> Option<&DomainMetadata> {
        self.domains
            .iter()
            .find(|domain| domain.domain == name && !domain.removed)
    }

    pub(crate) fn put_domain(&mut self, name: &str, configuration: String) {
        self.domains.retain(|domain| domain.domain != name);
        self.domains.push(DomainMetadata {
            domain: name.to_owned(),
            configuration,
            removed: false,
        });
    }

    pub(crate) fn remove_domain(&mut self, name: &str) {
        self.domains.retain(|domain| domain.domain != name);
    }

    /// Adds features and the features that they require to the protocol.
    pub(crate) fn require(&mut self, features: &[&str]) -> Result<()> {
        self.protocol = with_features(&self.protocol, features)?;
        Ok(())
    }

    pub(crate) fn set_property(&mut self, key: &str, value: impl Into<String>) {
        self.metadata
            .configuration
            .insert(key.to_owned(), Some(value.into()));
    }

    pub(crate) fn property_is(&self, key: &str, value: &str) -> bool {
        self.metadata
            .property(key)
            .is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
    }

    /// The highest column id that was ever assigned.
    pub(crate) fn highest_column_id(&self, schema: &StructType) -> i64 {
        let told = self
            .metadata
            .property(MAX_COLUMN_ID)
            .and_then(|text| text.trim().parse().ok());
        let found = crate::column_mapping::ids_in(schema).into_iter().max();
        told.unwrap_or(0).max(found.unwrap_or(0))
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
        self.metadata.schema_string = schema.to_schema_string()?;
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

    fn form() -> Form {
        Form {
            protocol: protocol(1, 7, &["domainMetadata"]),
            metadata: metadata(&[]),
            domains: vec![DomainMetadata {
                domain: "a".to_owned(),
                configuration: "1".to_owned(),
                removed: false,
            }],
        }
    }

    /// protocol: domain-metadata.3, writer-requirements-for-domain-metadata.1
    #[test]
    fn what_changed_becomes_actions_and_what_is_gone_keeps_its_configuration() {
        let before = form();
        assert!(before.actions_since(&before).is_empty());
        let mut tombstone = before.clone();
        tombstone.domains[0].removed = true;
        assert!(tombstone.actions_since(&tombstone).is_empty());
        assert_eq!(tombstone.actions_since(&before).domains, tombstone.domains);
        let mut after = before.clone();
        after.put_domain("b", "2".to_owned());
        after.metadata.name = Some("n".to_owned());
        let actions = after.actions_since(&before);
        assert_eq!(
            (actions.protocol, actions.metadata),
            (None, Some(after.metadata.clone()))
        );
        assert_eq!(actions.domains, after.domains[1..]);
        after.remove_domain("a");
        after.put_domain("b", "3".to_owned());
        let domains = after.actions_since(&before).domains;
        let told: Vec<(&str, &str, bool)> = domains
            .iter()
            .map(|domain| {
                (
                    domain.domain.as_str(),
                    domain.configuration.as_str(),
                    domain.removed,
                )
            })
            .collect();
        assert_eq!(told, [("a", "1", true), ("b", "3", false)]);
    }

    #[test]
    fn a_type_whose_spelling_would_be_lost_is_not_written_over() -> Result<()> {
        let spelled = |data_type: &str| {
            let mut form = form();
            form.metadata.schema_string = format!(
                r#"{{"type":"struct","fields":[{{"name":"a","type":{data_type},"nullable":true,"metadata":{{"__CHAR_VARCHAR_TYPE_STRING":"varchar(5)"}}}}]}}"#
            );
            form
        };
        for (data_type, lost) in [
            (r#""string""#, false),
            (r#""varchar(5)""#, true),
            (
                r#"{"type":"array","elementType":"string collate UTF8_LCASE","containsNull":true}"#,
                true,
            ),
        ] {
            let mut form = spelled(data_type);
            let mut schema = form.schema()?;
            form.set_schema(&schema)?;
            schema.fields[0].nullable = false;
            assert_eq!(form.set_schema(&schema).is_err(), lost, "{data_type}");
        }
        Ok(())
    }
}
