//! Comparison of `_last_checkpoint` with the existing checkpoints.
//!
//! Protocol: *Last Checkpoint File*.

use deltaic_protocol::Version;
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};

use super::folder::LogFolder;
use crate::check::findings::diagnosis::{BROKEN_HINT, DANGLING_HINT, HINT_DISAGREES, STALE_HINT};
use crate::check::findings::finding::{Finding, Findings};
use crate::last_checkpoint::{Hint, read_with_counts};
use crate::listing::Listing;
use crate::segment::{complete_checkpoints, newest_version};
use deltaic_storage::location::TableLocation;

/// Number of actions and size of a checkpoint.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::check) struct CheckpointContents {
    pub(in crate::check) adds: usize,
    /// Number of actions of all kinds; `None` if they were not counted.
    pub(in crate::check) actions: Option<usize>,
    /// Size of its files in bytes.
    pub(in crate::check) bytes: u64,
}

/// Checks the target of the hint; `readable` are the checkpoints that can be read.
pub(in crate::check) async fn examine_hint(
    location: &TableLocation,
    listing: &Listing,
    readable: &[(Version, CheckpointContents)],
    findings: &mut Findings,
) {
    let mut report = |finding: Finding| findings.add(finding.at(format!("{LOG_FOLDER}/{LAST_CHECKPOINT}")));
    let (hint, counts) = read_with_counts(location).await;
    let hinted = match hint {
        Hint::Absent => return,
        Hint::Unusable(why) | Hint::Unread(why) => {
            return report(Finding::new(
                &BROKEN_HINT,
                format!("_last_checkpoint cannot be used: {why}"),
            ));
        }
        Hint::Version(version) => version,
    };
    if !has_checkpoint(listing, hinted) {
        // A writer may have created the checkpoint and the hint since the log was listed.
        let again = LogFolder::list(location).await;
        if again.is_ok_and(|again| has_checkpoint(&again.listing, hinted)) {
            return;
        }
        let past = newest_version(listing).is_some_and(|newest| hinted > newest);
        let message = if past {
            format!("_last_checkpoint refers to version {hinted}, which is after the newest version")
        } else {
            format!("_last_checkpoint refers to version {hinted}, which has no complete checkpoint")
        };
        return report(Finding::new(&DANGLING_HINT, message).in_field("version"));
    }
    let held: Vec<CheckpointContents> = readable
        .iter()
        .filter(|(version, _)| *version == hinted)
        .map(|(_, held)| *held)
        .collect();
    if held.is_empty() {
        let message = format!("_last_checkpoint refers to version {hinted}, whose checkpoint cannot be read");
        return report(Finding::new(&DANGLING_HINT, message).in_field("version"));
    }
    // It is unknown which of several checkpoints of a version the hint refers to.
    let adds = held.iter().map(|held| Some(held.adds)).max().flatten();
    let all_counted = held.iter().all(|held| held.actions.is_some());
    let actions = held.iter().map(|held| held.actions).max().flatten();
    // Some writers set this to the size of the file.
    let counts_bytes = held.iter().any(|held| counts.actions == Some(held.bytes));
    for (field, what, message, found) in [
        ("numOfAddFiles", "files", counts.adds, adds),
        (
            "size",
            "actions",
            counts.actions,
            actions.filter(|_| all_counted && !counts_bytes),
        ),
    ] {
        if let (Some(message), Some(found)) = (message, found.and_then(|found| u64::try_from(found).ok()))
            && found < message
        {
            let message = format!(
                "_last_checkpoint counts {message} {what}, but the checkpoint of version {hinted} contains {found}"
            );
            report(Finding::new(&HINT_DISAGREES, message).in_field(field));
        }
    }
    let versions = readable.iter().map(|(version, _)| *version);
    if let Some(newest) = versions.max().filter(|newest| *newest > hinted) {
        let message = format!(
            "_last_checkpoint refers to version {hinted}, but a checkpoint of version {newest} exists"
        );
        report(Finding::new(&STALE_HINT, message).in_field("version"));
    }
}

fn has_checkpoint(listing: &Listing, version: Version) -> bool {
    let checkpoints = complete_checkpoints(listing, None);
    checkpoints.iter().any(|found| found.version == version)
}
