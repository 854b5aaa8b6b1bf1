//! Whether a cleanup can delete an older checkpoint while a new one is written from it.
//!
//! Protocol: *Metadata Cleanup*.

use deltaic_protocol::properties::log_retention_ms;

use crate::snapshot::Snapshot;

/// Time in milliseconds that no checkpoint takes, with the differences between the clocks of writers and store.
const WRITE_MS: i64 = 86_400_000;

/// Whether no cleanup deletes the snapshot's checkpoint within [`WRITE_MS`] from now: a cleanup deletes it only after
/// a commit that follows it has expired. `now_ms` is the current time in milliseconds since the epoch.
pub(super) fn base_is_retained(snapshot: &Snapshot, now_ms: i64) -> bool {
    let Ok(retention_ms) = log_retention_ms(snapshot.metadata()) else {
        return false;
    };
    let segment = snapshot.segment();
    let next = segment.commits.first();
    next.is_some_and(|next| outlives(next.modified_ms, retention_ms, now_ms))
}

/// Whether a commit remains unexpired while a checkpoint is written.
fn outlives(committed_ms: i64, retention_ms: i64, now_ms: i64) -> bool {
    retention_ms > WRITE_MS && committed_ms > now_ms.saturating_sub(retention_ms - WRITE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_used_until_a_day_before_it_may_be_deleted() {
        let day = WRITE_MS;
        for (committed, retention, now, expected) in [
            (0, 30 * day, 0, true),
            (0, 30 * day, 29 * day - 1, true),
            (0, 30 * day, 29 * day, false),
            (0, day, 0, false),
            (0, 0, 0, false),
            (0, 2 * day, day - 1, true),
            // The store's clock may be ahead.
            (5 * day, 2 * day, 0, true),
            (0, i64::MAX, i64::MAX, false),
        ] {
            assert_eq!(
                outlives(committed, retention, now),
                expected,
                "{committed} {retention} {now}"
            );
        }
    }
}
