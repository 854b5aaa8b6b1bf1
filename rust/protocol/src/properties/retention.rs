//! Retention periods and expiration. The caller provides the current time.
//!
//! Protocol: *Add File and Remove File* (tombstones), *Transaction Identifiers*, *Metadata Cleanup*.

use super::interval::interval_ms;
use super::unreadable::unreadable;
use crate::Result;
use crate::actions::Metadata;

const DAY_MS: i64 = 86_400_000;

fn duration(metadata: &Metadata, key: &'static str) -> Result<Option<i64>> {
    metadata
        .property(key)
        .map(|text| interval_ms(text).ok_or_else(|| unreadable(key, text)))
        .transpose()
}

/// Retention of tombstones in the state of the table, in milliseconds:
/// `delta.deletedFileRetentionDuration`; default one week.
pub fn tombstone_retention_ms(metadata: &Metadata) -> Result<i64> {
    Ok(duration(metadata, "delta.deletedFileRetentionDuration")?.unwrap_or(7 * DAY_MS))
}

/// Retention of transaction identifiers, in milliseconds: `delta.setTransactionRetentionDuration`;
/// unlimited if it is not set.
pub fn txn_retention_ms(metadata: &Metadata) -> Result<Option<i64>> {
    duration(metadata, "delta.setTransactionRetentionDuration")
}

/// Retention of commits that are covered by a checkpoint, in milliseconds: `delta.logRetentionDuration`;
/// default 30 days.
pub fn log_retention_ms(metadata: &Metadata) -> Result<i64> {
    Ok(duration(metadata, "delta.logRetentionDuration")?.unwrap_or(30 * DAY_MS))
}

/// Retention of checkpoints that are followed by a newer one, in milliseconds:
/// `delta.checkpointRetentionDuration`; default 2 days.
pub fn checkpoint_retention_ms(metadata: &Metadata) -> Result<i64> {
    Ok(duration(metadata, "delta.checkpointRetentionDuration")?.unwrap_or(2 * DAY_MS))
}

/// Whether a tombstone has expired: the current time exceeds its deletion time by more than the
/// retention. A tombstone without a time has the time 0. All times are in milliseconds.
///
/// ```
/// use deltaic_protocol::properties::tombstone_is_expired;
/// assert!(!tombstone_is_expired(Some(1_000), 10, 1_010));
/// assert!(tombstone_is_expired(Some(1_000), 10, 1_011));
/// ```
#[must_use]
pub fn tombstone_is_expired(deletion_timestamp: Option<i64>, retention_ms: i64, now_ms: i64) -> bool {
    now_ms > deletion_timestamp.unwrap_or(0).saturating_add(retention_ms)
}

/// Whether a transaction identifier has expired. One without a time never expires, because a writer that
/// no longer finds it may write the same data again. All times are in milliseconds.
#[must_use]
pub fn txn_is_expired(last_updated: Option<i64>, retention_ms: Option<i64>, now_ms: i64) -> bool {
    match (last_updated, retention_ms) {
        (Some(updated), Some(retention)) => now_ms > updated.saturating_add(retention),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::samples::metadata;

    /// protocol: add-file-and-remove-file.2
    #[test]
    fn a_tombstone_expires_when_the_time_exceeds_its_retention() {
        for (deleted, retention, now, expired) in [
            (Some(100), 10, 110, false),
            (Some(100), 10, 111, true),
            (Some(100), 0, 100, false),
            (None, 10, 11, true),
            (Some(i64::MAX), i64::MAX, i64::MAX, false),
            (Some(i64::MIN), 0, i64::MIN, false),
        ] {
            assert_eq!(
                tombstone_is_expired(deleted, retention, now),
                expired,
                "{deleted:?} {now}"
            );
        }
    }

    #[test]
    fn a_transaction_expires_only_where_the_table_states_so() {
        assert!(!txn_is_expired(Some(100), None, i64::MAX));
        assert!(!txn_is_expired(None, Some(0), i64::MAX));
        assert!(!txn_is_expired(Some(100), Some(10), 110));
        assert!(txn_is_expired(Some(100), Some(10), 111));
    }

    #[test]
    fn retentions_have_their_defaults() -> Result<()> {
        let plain = metadata(&[]);
        assert_eq!(tombstone_retention_ms(&plain)?, 604_800_000);
        assert_eq!(txn_retention_ms(&plain)?, None);
        assert_eq!(log_retention_ms(&plain)?, 2_592_000_000);
        assert_eq!(checkpoint_retention_ms(&plain)?, 172_800_000);
        let set = metadata(&[
            ("delta.deletedFileRetentionDuration", "interval 0 seconds"),
            ("delta.setTransactionRetentionDuration", "interval 1 days"),
            ("delta.logRetentionDuration", "interval 1 hour"),
            ("delta.checkpointRetentionDuration", "often"),
        ]);
        assert_eq!(tombstone_retention_ms(&set)?, 0);
        assert_eq!(txn_retention_ms(&set)?, Some(86_400_000));
        assert_eq!(log_retention_ms(&set)?, 3_600_000);
        assert!(checkpoint_retention_ms(&set).is_err_and(|error| error.kind() == ErrorKind::CorruptLog));
        Ok(())
    }
}
