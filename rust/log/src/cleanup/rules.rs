//! The cleanup rules that a table specifies.
//!
//! Protocol: *Metadata Cleanup*, *Checkpoint Protection*.

use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::properties::{boolean, integer, log_retention_ms};
use deltaic_protocol::{Result, TableConfiguration, Version};

/// The rules of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanupRules {
    /// Whether expired files are deleted: `delta.enableExpiredLogCleanup`.
    pub is_enabled: bool,
    /// How long commits are retained, in milliseconds: `delta.logRetentionDuration`.
    pub log_retention_ms: i64,
    /// Checkpoints before this version must be deleted all at once or not at all, unless the protocols of all deleted
    /// versions are supported: `delta.requireCheckpointProtectionBeforeVersion` of a table with the feature
    /// `checkpointProtection`.
    pub protected_before: Option<Version>,
}

impl CleanupRules {
    /// Derives the rules from a protocol and metadata.
    ///
    /// # Errors
    ///
    /// `CorruptLog` with the property as `field` if one of the three has an invalid value: a rule that cannot be parsed
    /// cannot be followed.
    pub fn of(table: &TableConfiguration) -> Result<Self> {
        let (protocol, metadata) = (table.protocol(), table.metadata());
        const PROTECTED: &str = "delta.requireCheckpointProtectionBeforeVersion";
        let protected_before = if supports_for_writers(protocol, "checkpointProtection") {
            integer(metadata, PROTECTED)?.map(Version::try_new).transpose()?
        } else {
            None
        };
        Ok(Self {
            is_enabled: boolean(metadata, "delta.enableExpiredLogCleanup")?,
            log_retention_ms: log_retention_ms(metadata)?,
            protected_before,
        })
    }
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::actions::{Metadata, Protocol};

    use super::*;

    fn rules(features: &[&str], properties: &[(&str, &str)]) -> Result<CleanupRules> {
        let protocol = Protocol {
            min_reader_version: 1,
            min_writer_version: 7,
            reader_features: None,
            writer_features: Some(features.iter().map(ToString::to_string).collect()),
        };
        let configuration: serde_json::Map<_, _> = properties
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).into()))
            .collect();
        let metadata = serde_json::json!({"id": "t", "format": {"provider": "parquet"}, "partitionColumns": [],
            "configuration": configuration});
        let metadata: Metadata = serde_json::from_value(metadata).expect("metadata");
        CleanupRules::of(&TableConfiguration::new(protocol, metadata))
    }

    #[test]
    fn properties_are_read_or_refused_by_name() -> Result<()> {
        let plain = CleanupRules {
            is_enabled: true,
            log_retention_ms: 2_592_000_000,
            protected_before: None,
        };
        assert_eq!(rules(&[], &[])?, plain);
        let protected = ("delta.requireCheckpointProtectionBeforeVersion", "7");
        assert_eq!(
            rules(&[], &[protected])?,
            plain,
            "without the feature the property has no effect"
        );
        let all = [
            protected,
            ("delta.enableExpiredLogCleanup", "FALSE"),
            ("delta.logRetentionDuration", "interval 1 day"),
        ];
        let expected = CleanupRules {
            is_enabled: false,
            log_retention_ms: 86_400_000,
            protected_before: Some(Version::try_new(7)?),
        };
        assert_eq!(rules(&["checkpointProtection"], &all)?, expected);
        for (key, value) in [
            ("delta.requireCheckpointProtectionBeforeVersion", "soon"),
            ("delta.enableExpiredLogCleanup", "perhaps"),
            ("delta.logRetentionDuration", "1 month"),
        ] {
            let error = rules(&["checkpointProtection"], &[(key, value)]).expect_err(key);
            assert!(error.context().contains(&("field", key.into())), "{error}");
        }
        Ok(())
    }
}
