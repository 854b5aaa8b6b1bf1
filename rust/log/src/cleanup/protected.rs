//! Checks whether protected checkpoints may be deleted one by one: only if the protocols of all their versions are
//! supported.
//!
//! Protocol: *Checkpoint Protection*. The commits to delete are read for their `protocol` actions; in any doubt the
//! checkpoints are retained.

use std::sync::Arc;

use deltaic_protocol::actions::{ActionLine, Protocol, parse_line};
use deltaic_protocol::features::{Maintenance, ensure_maintainable};
use deltaic_protocol::{Result, Version};
use futures::{StreamExt, TryStreamExt};

use crate::decode::action_text::{ActionText, Line};
use crate::decode::checkpoint::Checkpoint;
use crate::listing::{Listing, LogFile};
use crate::segment::{LogSegment, complete_checkpoints};
use crate::snapshot::Snapshot;
use deltaic_storage::store_error;

/// Maximum number of commits fetched concurrently.
const COMMITS_IN_FLIGHT: usize = 8;

/// Whether every version of the log up to this one has a supported protocol. False if a commit is missing or damaged.
///
/// # Errors
///
/// `StorageError`.
pub(super) async fn all_are_understood(
    snapshot: &Snapshot,
    listing: &Listing,
    up_to: Version,
) -> Result<bool> {
    let is_understood = |protocol: &Protocol| {
        let table = snapshot.configuration().after(Some(protocol), None, &[]);
        ensure_maintainable(&table, Maintenance::MetadataCleanup).is_ok()
    };
    let begins_at_zero = listing
        .commits()
        .next()
        .is_some_and(|commit| commit.path.version == Version::ZERO);
    let oldest = match begins_at_zero {
        true => None,
        false => complete_checkpoints(listing, Some(up_to)).pop(),
    };
    if let Some(oldest) = &oldest {
        let read = Checkpoint::read_table(snapshot.location(), oldest, snapshot.max_line_bytes()).await;
        let protocol = read.ok().and_then(|table| table.protocol);
        if !protocol.as_ref().is_some_and(is_understood) {
            return Ok(false);
        }
    }
    let Ok(segment) = LogSegment::try_new(listing, oldest, up_to) else {
        return Ok(false);
    };
    let fetched = segment
        .commits
        .iter()
        .cloned()
        .map(|file| protocols_of(snapshot, file));
    let fetched: Vec<_> = fetched.collect();
    let mut fetched = futures::stream::iter(fetched).buffered(COMMITS_IN_FLIGHT);
    while let Some(protocols) = fetched.try_next().await? {
        if !protocols.is_some_and(|protocols| protocols.iter().all(is_understood)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The protocols that a commit contains; `None` if it cannot be read.
async fn protocols_of(snapshot: &Snapshot, file: Arc<LogFile>) -> Result<Option<Vec<Protocol>>> {
    let relative = file.relative();
    let failed = |error: object_store::Error| store_error(&error, &relative);
    let location = Arc::clone(snapshot.location());
    let text = ActionText::fetch(location, file, snapshot.max_line_bytes())
        .await
        .map_err(failed)?;
    let mut protocols = Some(Vec::new());
    let visit = &mut |_: usize, line: Line<'_>| match line {
        Line::Text(line) if memchr::memmem::find(line, b"protocol").is_none() => {}
        Line::Text(line) => match parse_line(line) {
            Ok(ActionLine::Protocol(protocol)) => {
                if let Some(protocols) = &mut protocols {
                    protocols.push(protocol);
                }
            }
            Ok(_) => {}
            Err(_) => protocols = None,
        },
        Line::TooLong => protocols = None,
    };
    text.for_each_line(visit).await.map_err(failed)?;
    Ok(protocols)
}
