//! Whether the log still goes on from where a transaction stands.
//!
//! A log is cleaned up from its beginning. To who held a version until the commits behind it were gone, the next version's
//! name looks free, and what is committed there no reader ever sees. A table that was dropped and made anew has names of
//! the same kind: what is committed there lies above a hole, or becomes part of a table that nobody has read.
//!
//! Protocol: *Metadata Cleanup*, *Creation of New Log Entries*.

use std::sync::Arc;

use deltaic_protocol::actions::Metadata;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::properties::log_retention_ms;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};

use super::Base;
use crate::listing::Listing;
use crate::location::TableLocation;
use crate::segment::newest_version;
use crate::snapshot::{LoadOptions, Snapshot, Standing};

/// How long nobody cleans up what was there: what was seen so lately is not asked for again.
const SEEN_LATELY_MS: i64 = 60_000;

/// How long nobody puts another table in the place of one, on a store where it costs a request to ask.
const FRESH_MS: i64 = 5_000;

/// A table whose commits expire within this may lose them at any time.
const SHORT_RETENTION_MS: i64 = 3_600_000;

/// What is asked before a version is proposed behind one that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    /// The file that made the version that was read.
    ItsFile,
    /// The log from the version on.
    TheLog,
}

/// What is asked of a table by when the version was seen, in milliseconds since the epoch. To look at a file of one's own
/// disk is next to nothing.
fn asked(metadata: &Metadata, seen_ms: i64, now_ms: i64, is_on_disk: bool) -> Asked {
    let is_within = |kept_ms| (0..kept_ms).contains(&now_ms.saturating_sub(seen_ms));
    let is_short = log_retention_ms(metadata).is_ok_and(|kept| kept < SHORT_RETENTION_MS);
    if is_short || !is_within(SEEN_LATELY_MS) {
        Asked::TheLog
    } else if is_on_disk || !is_within(FRESH_MS) {
        Asked::ItsFile
    } else {
        Asked::Nothing
    }
}

/// Proves that what is committed behind a version that was seen at some time is seen by readers of the table that was
/// read. Of a version that was seen lately nothing is asked of a store on a network. Tells whether the log was listed.
///
/// Errors: `CommitConflict` where the versions behind it are gone, or another table stands there; the store's.
pub(super) async fn ensure_goes_on(
    snapshot: &Snapshot,
    base: &Base,
    seen_ms: i64,
    now_ms: i64,
) -> Result<bool> {
    let location = snapshot.location();
    let is_on_disk = location.file_system().is_some();
    let asked = asked(&base.form.metadata, seen_ms, now_ms, is_on_disk);
    match asked {
        Asked::Nothing => {}
        Asked::ItsFile => ensure_same_table(snapshot).await?,
        Asked::TheLog => {
            let listing = ensure_no_gap(location, base.version).await?;
            if !snapshot.is_shown_in(&listing) {
                ensure_same_table(snapshot).await?;
            }
        }
    }
    Ok(asked == Asked::TheLog)
}

/// Proves that the table is the one that was read: the file that made the version is as it was. Where it was cleaned up,
/// the newest version must be one of the same table.
///
/// Errors: `CommitConflict` where it is not; the store's.
pub(super) async fn ensure_same_table(snapshot: &Snapshot) -> Result<()> {
    if snapshot.is_told_by_catalog() {
        return Ok(());
    }
    let version = snapshot.version();
    let what = match snapshot.standing().await? {
        Standing::Same => return Ok(()),
        Standing::Another => format!("version {version} is not the one that was read"),
        Standing::Gone => {
            let options = LoadOptions {
                max_line_bytes: snapshot.max_line_bytes(),
            };
            match Snapshot::load(Arc::clone(snapshot.location()), None, options).await {
                Ok(newest) if newest.metadata().id != snapshot.metadata().id => {
                    "its id is another".to_owned()
                }
                Ok(newest) if newest.version() < version => {
                    format!(
                        "version {version} was read, and it is at version {}",
                        newest.version()
                    )
                }
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::TableNotFound => "there is none".to_owned(),
                Err(error) => return Err(error),
            }
        }
    };
    Err(Error::new(
        ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
        format!("the table was dropped or put back meanwhile, and what stands at its place is not what was read: {what}"),
    )
    .with("version", version)
    .hint("open the table again, see whether it is the one you mean, and run the operation on its newest version"))
}

/// Proves that every version behind one is there, as far as there are any, by the listing that it gives.
///
/// Errors: `CommitConflict` where one is gone already; the store's.
async fn ensure_no_gap(location: &TableLocation, stands_on: Version) -> Result<Listing> {
    let listing = Listing::from(location, stands_on).await?;
    let mut next = stands_on.next()?;
    for commit in listing.commits() {
        if commit.path.version == next {
            next = next.next()?;
        }
    }
    match newest_version(&listing) {
        Some(newest) if newest >= next => Err(Error::new(
            ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
            format!("the commits behind the version that was read are cleaned up: the table is at version {newest} by now"),
        )
        .with("path", LogPath::commit(next))
        .with("version", next)
        .hint("open the table again, and run the operation on its newest version")),
        // What is not listed at all may be behind the time, or gone: that is asked of the version itself.
        _ => Ok(listing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::samples::metadata;

    #[test]
    fn the_longer_ago_a_version_was_seen_the_more_is_asked() {
        let lasting = metadata(&[], &[]);
        let expires = metadata(&[], &[("delta.logRetentionDuration", "interval 0 days")]);
        for (age_ms, network, disk) in [
            (0, Asked::Nothing, Asked::ItsFile),
            (FRESH_MS - 1, Asked::Nothing, Asked::ItsFile),
            (FRESH_MS, Asked::ItsFile, Asked::ItsFile),
            (SEEN_LATELY_MS - 1, Asked::ItsFile, Asked::ItsFile),
            (SEEN_LATELY_MS, Asked::TheLog, Asked::TheLog),
            // A clock that was set back tells nothing.
            (-1, Asked::TheLog, Asked::TheLog),
        ] {
            let now_ms = 1_000_000;
            for (is_on_disk, expected) in [(false, network), (true, disk)] {
                let seen_ms = now_ms - age_ms;
                assert_eq!(asked(&lasting, seen_ms, now_ms, is_on_disk), expected, "{age_ms}");
                assert_eq!(asked(&expires, seen_ms, now_ms, is_on_disk), Asked::TheLog);
            }
        }
    }
}
