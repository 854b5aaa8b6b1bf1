//! Whether the log still goes on from where a transaction stands.
//!
//! A log is cleaned up from its beginning. To who held a version until the commits behind it were gone, the next version's
//! name looks free, and what is committed there no reader ever sees.
//!
//! Protocol: *Metadata Cleanup*, *Creation of New Log Entries*.

use deltaic_protocol::actions::Metadata;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::properties::log_retention_ms;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};

use crate::listing::Listing;
use crate::location::TableLocation;
use crate::segment::newest_version;

/// How long nobody cleans up what was there: what was seen so lately is not asked for again.
const SEEN_LATELY_MS: i64 = 60_000;

/// A table whose commits expire within this may lose them at any time.
const SHORT_RETENTION_MS: i64 = 3_600_000;

/// Whether the version behind one may be gone, by when that one was seen last.
pub(super) fn may_be_gone(metadata: &Metadata, seen_ms: i64, now_ms: i64) -> bool {
    let is_short = log_retention_ms(metadata).is_ok_and(|kept| kept < SHORT_RETENTION_MS);
    is_short || !(0..SEEN_LATELY_MS).contains(&now_ms.saturating_sub(seen_ms))
}

/// Proves that every version behind one is there, as far as there are any.
///
/// Errors: `CommitConflict` where one is gone already; the store's.
pub(super) async fn ensure_no_gap(location: &TableLocation, stands_on: Version) -> Result<()> {
    let listing = Listing::from(location, stands_on).await?;
    let Some(newest) = newest_version(&listing) else {
        return Ok(());
    };
    let mut next = stands_on.next()?;
    for commit in listing.commits() {
        if commit.path.version == next {
            next = next.next()?;
        }
    }
    if newest < next {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
        format!("the commits behind the version that was read are cleaned up: the table is at version {newest} by now"),
    )
    .with("path", LogPath::commit(next))
    .with("version", next)
    .hint("open the table again, and run the operation on its newest version"))
}
