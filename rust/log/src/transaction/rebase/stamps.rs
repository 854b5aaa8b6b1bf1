//! Sets the versions and timestamps of a commit that its own actions contain.

use deltaic_protocol::actions::Protocol;
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use serde_json::{Value, json};

use super::base::Base;
use super::dropped_feature::dropped_feature;
use crate::transaction::Proposal;

const ENABLEMENT_VERSION: &str = "delta.inCommitTimestampEnablementVersion";
const ENABLEMENT_TIMESTAMP: &str = "delta.inCommitTimestampEnablementTimestamp";
const CHECKPOINT_PROTECTION: &str = "delta.requireCheckpointProtectionBeforeVersion";
const TYPE_CHANGES: &str = "delta.typeChanges";

/// Returns the in-commit timestamp of the next attempt in milliseconds since the epoch: `own_ms`, or the base's
/// timestamp plus 1 ms if that is later. `None` if in-commit timestamps are disabled after the commit. If the commit
/// enables them, its metadata is stamped with the enablement version and timestamp.
///
/// Protocol: *Writer Requirements for In-Commit Timestamps*.
///
/// # Errors
///
/// `CorruptLog` if the base's timestamp is the maximum value.
pub fn stamp_in_commit_timestamp(proposal: &mut Proposal, base: &Base, own_ms: i64) -> Result<Option<i64>> {
    if !base.stamps(proposal)? {
        return Ok(None);
    }
    // The base may have invalid properties that the commit corrects.
    let was_on = InCommitTimestamps::of(&base.table).is_ok_and(|times| times != InCommitTimestamps::Disabled);
    let least = base.timestamp_ms.checked_add(1).ok_or_else(|| {
        let what = "the timestamp of the previous version is the maximum, so no later timestamp exists";
        Error::new(ErrorKind::CorruptLog, what).with("version", base.next)
    })?;
    let timestamp_ms = own_ms.max(least);
    if !was_on && let Some(metadata) = &mut proposal.metadata {
        let stamps = [
            (ENABLEMENT_VERSION, base.next.to_string()),
            (ENABLEMENT_TIMESTAMP, timestamp_ms.to_string()),
        ];
        let owned = stamps.map(|(key, value)| (key.to_owned(), Some(value)));
        metadata.configuration.extend(owned);
    }
    Ok(Some(timestamp_ms))
}

/// If a commit drops a feature, sets its checkpoint protection to its new version.
pub(super) fn restamp_checkpoint_protection(
    proposal: &mut Proposal,
    before: &Protocol,
    lost: Version,
) -> Result<()> {
    let protects = proposal.protocol.as_ref().is_some_and(|protocol| {
        dropped_feature(before, protocol).is_some() && supports_for_writers(protocol, "checkpointProtection")
    });
    if let Some(metadata) = proposal.metadata.as_mut().filter(|_| protects)
        && metadata.property(CHECKPOINT_PROTECTION) == Some(lost.to_string().as_str())
    {
        let next = lost.next()?.to_string();
        metadata
            .configuration
            .insert(CHECKPOINT_PROTECTION.to_owned(), Some(next));
    }
    Ok(())
}

/// Updates the version of type changes from that of the lost attempt to that of the next one.
pub(super) fn restamp_type_changes(proposal: &mut Proposal, lost: Version) -> Result<()> {
    let Some(metadata) = proposal.metadata.as_mut() else {
        return Ok(());
    };
    // Few schemas have type changes, and a schema that is not parsed retains its exact text.
    if !metadata.schema_string.contains(TYPE_CHANGES) {
        return Ok(());
    }
    let damaged = |error: serde_json::Error| {
        let what = format!("the schema is not valid JSON: {error}");
        Error::new(ErrorKind::InvalidArgument, what).with("field", "schemaString")
    };
    let mut schema: Value = serde_json::from_str(&metadata.schema_string).map_err(damaged)?;
    let mut moved = Moved {
        from: lost.as_i64(),
        to: lost.next()?.as_i64(),
        any: false,
    };
    moved.in_type(&mut schema);
    if moved.any {
        metadata.schema_string = schema.to_string();
    }
    Ok(())
}

/// Replaces one version by another in all type changes of a schema.
struct Moved {
    from: i64,
    to: i64,
    any: bool,
}

impl Moved {
    /// Visits a type in schema JSON; a type that is only a name has no parts.
    fn in_type(&mut self, data_type: &mut Value) {
        if let Some(Value::Array(fields)) = data_type.get_mut("fields") {
            for field in fields {
                let changes = field
                    .get_mut("metadata")
                    .and_then(|metadata| metadata.get_mut(TYPE_CHANGES));
                for change in changes.and_then(Value::as_array_mut).into_iter().flatten() {
                    self.in_change(change);
                }
                if let Some(inner) = field.get_mut("type") {
                    self.in_type(inner);
                }
            }
        }
        for part in ["elementType", "keyType", "valueType"] {
            if let Some(inner) = data_type.get_mut(part) {
                self.in_type(inner);
            }
        }
    }

    fn in_change(&mut self, change: &mut Value) {
        if let Some(version) = change.get_mut("tableVersion")
            && version.as_i64() == Some(self.from)
        {
            *version = json!(self.to);
            self.any = true;
        }
    }
}
