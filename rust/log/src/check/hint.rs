//! `_last_checkpoint` beside the checkpoints that are there.
//!
//! Protocol: *Last Checkpoint File*.

use deltaic_protocol::Version;
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};

use super::diagnosis::{BROKEN_HINT, DANGLING_HINT, STALE_HINT};
use super::finding::{Finding, Findings};
use crate::last_checkpoint::{Hint, read_last_checkpoint};
use crate::listing::Listing;
use crate::location::TableLocation;
use crate::segment::{complete_checkpoints, newest_version};

/// Tells whether the hint leads where it should; `readable` are the versions of checkpoints that can be read.
pub(super) async fn examine_hint(
    location: &TableLocation,
    listing: &Listing,
    readable: &[Version],
    findings: &mut Findings,
) {
    let mut say = |finding: Finding| findings.add(finding.at(format!("{LOG_FOLDER}/{LAST_CHECKPOINT}")));
    let hinted = match read_last_checkpoint(location).await {
        Hint::Absent => return,
        Hint::Unusable(why) => return say(Finding::new(&BROKEN_HINT, why)),
        Hint::Version(version) => version,
    };
    let checkpoints = complete_checkpoints(listing, None);
    if !checkpoints.iter().any(|found| found.version == hinted) {
        let past = newest_version(listing).is_some_and(|newest| hinted > newest);
        let said = if past {
            format!("it names version {hinted}, which is past the newest version")
        } else {
            format!("it names version {hinted}, of which there is no complete checkpoint")
        };
        return say(Finding::new(&DANGLING_HINT, said).in_field("version"));
    }
    if !readable.contains(&hinted) {
        let said = format!("it names version {hinted}, whose checkpoint cannot be read");
        return say(Finding::new(&DANGLING_HINT, said).in_field("version"));
    }
    if let Some(newest) = readable.iter().max().filter(|newest| **newest > hinted) {
        let said = format!("it names version {hinted}, and there is a checkpoint of version {newest}");
        say(Finding::new(&STALE_HINT, said).in_field("version"));
    }
}
