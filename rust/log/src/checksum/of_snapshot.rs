//! Computes the checksum of a snapshot from its state, and validates an existing one.

use deltaic_protocol::actions::{CommitInfo, Txn};
use deltaic_protocol::checksum::VersionChecksum;
use deltaic_protocol::features::{Maintenance, ensure_maintainable};
use deltaic_protocol::{Error, Result};

use crate::history::read_commit_info;
use crate::listing::LogFile;
use crate::snapshot::{Snapshot, read_checksum};

/// Computes the version checksum of a snapshot from its state. Application transactions are omitted if their
/// retention was increased: readers that start from a checkpoint in between lack the expired ones. `now_ms`
/// is the time in milliseconds since the epoch at which the expiration of transaction identifiers is
/// evaluated.
///
/// The checksum contains the commit's `txnId`. If the snapshot was loaded from a checkpoint or a compaction
/// file, the commit is read for it.
///
/// # Errors
///
/// `UnsupportedFeature` if the table has an unknown feature; `CorruptLog` if the sums of the version
/// overflow; `StorageError`.
pub async fn checksum_of(snapshot: &Snapshot, now_ms: i64) -> Result<VersionChecksum> {
    let located = |error: Error| {
        error
            .with("table", snapshot.location().uri())
            .with("version", snapshot.version())
    };
    let checked = ensure_maintainable(snapshot.configuration(), Maintenance::VersionChecksum);
    checked.map_err(located)?;
    let txns: Vec<Txn> = snapshot.current_txns(now_ms).into_iter().cloned().collect();
    let info = commit_info_of(snapshot).await;
    let mut checksum = snapshot
        .summarize(&txns, &info, VersionChecksum::of)?
        .map_err(located)?;
    if !snapshot.has_all_txns() {
        checksum.set_transactions = None;
    }
    Ok(checksum)
}

/// Returns the commit info of a snapshot's version; an empty one if it is missing or has been deleted.
async fn commit_info_of(snapshot: &Snapshot) -> CommitInfo {
    if snapshot.commit_info().is_some() {
        return snapshot.own_commit_info();
    }
    let version = snapshot.version();
    let of_segment = snapshot.segment().commits.last();
    let commit = of_segment.filter(|file| file.path.version == version).cloned();
    let commit = commit.unwrap_or_else(|| LogFile::commit(version).into());
    let text = read_commit_info(snapshot.location(), &commit).await;
    let text = text.ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Returns the existing checksum of a snapshot's version if it has the `txnId` of the version's commit and
/// agrees with the snapshot, so that the next checksum can be computed from it.
pub async fn sound_checksum_of(snapshot: &Snapshot) -> Option<VersionChecksum> {
    let file = snapshot.segment().checksum.as_deref();
    let checksum = read_checksum(snapshot.location(), file).await.ok()??;
    let info = commit_info_of(snapshot).await;
    let is_its = checksum.txn_id.is_some() && checksum.txn_id == info.txn_id;
    let txns: Vec<Txn> = snapshot.txns().values().cloned().collect();
    let disagreements = snapshot.summarize(&txns, &info, |state| checksum.disagreements(state));
    (is_its && disagreements.is_ok_and(|found| found.is_empty())).then_some(checksum)
}
