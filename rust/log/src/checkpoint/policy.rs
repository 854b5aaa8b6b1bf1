//! Policy of checkpoints: when one is due, and which spec it follows.
//!
//! Protocol: *Checkpoints*, *Checkpoint Specs*, *V2 Checkpoint Table Feature*.

use deltaic_protocol::actions::Metadata;
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::properties::{integer, text};
use deltaic_protocol::{Result, TableConfiguration, Version};

/// The spec of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointSpec {
    /// One flat file with all actions.
    V1,
    /// A top-level file, with the file actions in sidecars.
    V2,
}

/// Whether a checkpoint is due after this version was committed: after every `delta.checkpointInterval`
/// commits, never after version 0.
///
/// Fails with `CorruptLog` if the interval is not a positive integer.
///
/// ```
/// use deltaic_log::checkpoint::checkpoint_is_due;
/// use deltaic_protocol::{Version, actions::Metadata};
///
/// let metadata: Metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],"configuration":{"delta.checkpointInterval":"4"}}"#,
/// ).map_err(|error| deltaic_protocol::Error::new(deltaic_protocol::ErrorKind::CorruptLog, error.to_string()))?;
/// let is_due = |version| checkpoint_is_due(Version::try_new(version)?, &metadata);
/// assert!(!is_due(0)? && !is_due(3)? && is_due(4)? && !is_due(5)? && is_due(8)?);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn checkpoint_is_due(committed: Version, metadata: &Metadata) -> Result<bool> {
    let interval = integer(metadata, "delta.checkpointInterval")?.unwrap_or(10);
    let is_multiple = committed.as_i64().checked_rem(interval) == Some(0);
    Ok(committed != Version::ZERO && is_multiple)
}

/// Returns the spec of a table's checkpoints: V2 if `delta.checkpointPolicy` requires it and the table has
/// the feature for readers and writers.
///
/// Fails with `CorruptLog` for an unknown policy.
pub fn checkpoint_spec(table: &TableConfiguration) -> Result<CheckpointSpec> {
    let (protocol, metadata) = (table.protocol(), table.metadata());
    const FEATURE: &str = "v2Checkpoint";
    let policy = text(metadata, "delta.checkpointPolicy")?.unwrap_or_default();
    let binds_readers = protocol
        .reader_features
        .iter()
        .flatten()
        .any(|name| name == FEATURE);
    let has_feature =
        protocol.min_reader_version == 3 && binds_readers && supports_for_writers(protocol, FEATURE);
    Ok(if has_feature && policy.eq_ignore_ascii_case("v2") {
        CheckpointSpec::V2
    } else {
        CheckpointSpec::V1
    })
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::actions::Protocol;
    use serde_json::json;

    use super::*;

    fn metadata(configuration: serde_json::Value) -> Result<Metadata> {
        let metadata = json!({"id": "t", "format": {"provider": "parquet"}, "partitionColumns": [],
            "configuration": configuration});
        serde_json::from_value(metadata).map_err(|error| {
            deltaic_protocol::Error::new(deltaic_protocol::ErrorKind::CorruptLog, error.to_string())
        })
    }

    fn protocol(reader: i32, writer: i32, readers: Option<&[&str]>, writers: Option<&[&str]>) -> Protocol {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Protocol {
            min_reader_version: reader,
            min_writer_version: writer,
            reader_features: readers.map(list),
            writer_features: writers.map(list),
        }
    }

    #[test]
    fn the_interval_is_ten_unless_the_table_states_otherwise() -> Result<()> {
        let due = |metadata: &Metadata| -> Result<Vec<i64>> {
            let mut due = Vec::new();
            for version in 0..32 {
                if checkpoint_is_due(Version::try_new(version)?, metadata)? {
                    due.push(version);
                }
            }
            Ok(due)
        };
        assert_eq!(due(&metadata(json!({}))?)?, [10, 20, 30]);
        let seven = metadata(json!({"delta.checkpointInterval": "7"}))?;
        assert_eq!(due(&seven)?, [7, 14, 21, 28]);
        let each = metadata(json!({"delta.checkpointInterval": "1"}))?;
        assert_eq!(due(&each)?, (1..32).collect::<Vec<_>>());
        for wrong in ["0", "-1", "often"] {
            let wrong = metadata(json!({"delta.checkpointInterval": wrong}))?;
            assert!(checkpoint_is_due(Version::ZERO, &wrong).is_err());
        }
        Ok(())
    }

    /// protocol: v2-checkpoint-table-feature.1, v2-checkpoint-table-feature.2
    /// protocol: handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints.1
    #[test]
    fn the_v2_spec_needs_the_policy_and_the_feature_on_both_sides() -> Result<()> {
        let v2 = metadata(json!({"delta.checkpointPolicy": "v2"}))?;
        let classic = metadata(json!({"delta.checkpointPolicy": "classic"}))?;
        let with: &[&str] = &["v2Checkpoint"];
        for (protocol, metadata, expected) in [
            (protocol(3, 7, Some(with), Some(with)), &v2, CheckpointSpec::V2),
            (
                protocol(3, 7, Some(with), Some(with)),
                &classic,
                CheckpointSpec::V1,
            ),
            (protocol(3, 7, Some(&[]), Some(with)), &v2, CheckpointSpec::V1),
            (protocol(3, 7, Some(with), Some(&[])), &v2, CheckpointSpec::V1),
            (protocol(1, 7, None, Some(with)), &v2, CheckpointSpec::V1),
            (protocol(2, 5, None, None), &v2, CheckpointSpec::V1),
        ] {
            assert_eq!(
                checkpoint_spec(&TableConfiguration::new(protocol.clone(), metadata.clone()))?,
                expected,
                "{protocol:?}"
            );
        }
        let wrong = metadata(json!({"delta.checkpointPolicy": "v3"}))?;
        assert!(
            checkpoint_spec(&TableConfiguration::new(
                protocol(3, 7, Some(with), Some(with)),
                wrong
            ))
            .is_err()
        );
        Ok(())
    }
}
