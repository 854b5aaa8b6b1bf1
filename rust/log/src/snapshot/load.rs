//! Loads a snapshot from the store.

use std::sync::Arc;
use std::task::Poll;

use deltaic_protocol::features;
use deltaic_protocol::{ErrorKind, Result, Version};
use futures::future::{Either, select};
use futures::pin_mut;
use tracing::Span;

use super::assemble::{Coverage, from_listing};
use super::request::{LoadOptions, Request};
use super::state::Snapshot;
use crate::last_checkpoint::{Hint, read_last_checkpoint};
use crate::listing::Listing;
use crate::log_tail::LogTail;
use crate::segment::{complete_checkpoints, newest_version};
use deltaic_storage::clock::Observed;
use deltaic_storage::location::TableLocation;

/// Maximum number of listings if other writers clean up the log while it is read.
const MOST_LISTINGS: usize = 5;

impl Snapshot {
    /// Loads the newest version, or the requested one. Must be called inside a runtime.
    #[tracing::instrument(target = "deltaic::log", name = "load snapshot", level = "info", skip_all, fields(table = location.uri(), version = tracing::field::Empty))]
    pub async fn load(
        location: Arc<TableLocation>,
        version: Option<Version>,
        options: LoadOptions,
    ) -> Result<Self> {
        if let Some(version) = version {
            Span::current().record("version", version.as_i64());
        }
        let request = Request {
            location,
            version,
            options,
            tail: features::CatalogTail::Absent,
            // Later versions do not matter for an older one, and may have gaps.
            listed: version.is_none().then(Observed::now),
        };
        let mut warnings = Vec::new();
        let listing = if version.is_some() {
            Listing::whole(&request.location).await?
        } else {
            match list_newest(&request.location, &mut warnings).await? {
                Listed::Whole(listing) => listing,
                Listed::FromHint(listing, hint) => {
                    // The hint is not trusted: if it leads to no valid snapshot, the whole log is listed.
                    let leads = complete_checkpoints(&listing, None)
                        .iter()
                        .any(|found| found.version == hint);
                    if leads
                        && let Ok(snapshot) =
                            from_listing(&request, &listing, Coverage::FromHint, Vec::new()).await
                    {
                        return Ok(snapshot);
                    }
                    if !leads {
                        warnings.push(without_checkpoint(hint));
                    }
                    Listing::whole(&request.location).await?
                }
            }
        };
        from_newest_listing(&request, listing, warnings).await
    }

    /// Loads a catalog-managed table from the listing of the log's folder and the commits that the catalog has
    /// ratified. Must be called inside a runtime.
    ///
    /// Protocol: *Reading Catalog-managed Tables*.
    pub async fn load_with_tail(
        location: Arc<TableLocation>,
        tail: &LogTail,
        version: Option<Version>,
        options: LoadOptions,
    ) -> Result<Self> {
        let listed = version.is_none().then(Observed::now);
        let listing = tail.apply(Listing::whole(&location).await?)?;
        let request = Request {
            location,
            version,
            options,
            tail: features::CatalogTail::Given,
            listed,
        };
        from_listing(&request, &listing, Coverage::Whole, Vec::new()).await
    }
}

/// Loads a version from a listing. If the log cannot be read as listed and has changed since, a cleanup may have
/// deleted a file in between: it is listed again.
async fn from_newest_listing(
    request: &Request,
    mut listing: Listing,
    warnings: Vec<String>,
) -> Result<Snapshot> {
    for _ in 1..MOST_LISTINGS {
        let error = match from_listing(request, &listing, Coverage::Whole, warnings.clone()).await {
            Err(error) if error.kind() == ErrorKind::CorruptLog => error,
            ended => return ended,
        };
        match Listing::whole(&request.location).await {
            Ok(again) if again.files != listing.files => listing = again,
            _ => return Err(error),
        }
    }
    from_listing(request, &listing, Coverage::Whole, warnings).await
}

/// Whether a table exists: a log with a commit or a checkpoint.
pub async fn exists(location: &TableLocation) -> Result<bool> {
    Ok(newest_version(&Listing::whole(location).await?).is_some())
}

enum Listed {
    Whole(Listing),
    FromHint(Listing, Version),
}

fn without_checkpoint(hint: Version) -> String {
    format!("_last_checkpoint was skipped: there is no complete checkpoint of version {hint}")
}

/// Requests the listing and the hint concurrently. If the hint arrives long before the listing, the log is long: then
/// it is also listed from the hint, and the listing that ends first is used.
async fn list_newest(location: &TableLocation, warnings: &mut Vec<String>) -> Result<Listed> {
    let whole = Listing::whole(location);
    let hint = read_last_checkpoint(location);
    pin_mut!(whole, hint);
    let (listing, hint) = match select(&mut whole, hint).await {
        Either::Left((listing, hint)) => (Some(listing?), hint.await),
        Either::Right((hint, _)) => (None, hint),
    };
    let hint = match hint {
        Hint::Absent => None,
        Hint::Unusable(why) | Hint::Unread(why) => {
            warnings.push(format!("_last_checkpoint was skipped: {why}"));
            None
        }
        Hint::Version(hint) => Some(hint),
    };
    let listing = match (listing, hint) {
        (Some(listing), _) => listing,
        (None, None) => whole.await?,
        // A local folder is always listed as a whole.
        (None, Some(_)) if location.file_system().is_some() => whole.await?,
        (None, Some(hint)) => match futures::poll!(&mut whole) {
            // A listing of one page ends with the first request.
            Poll::Ready(listing) => listing?,
            Poll::Pending => {
                let from_hint = Listing::from(location, hint);
                pin_mut!(from_hint);
                match select(whole, from_hint).await {
                    Either::Left((listing, _)) => listing?,
                    Either::Right((listing, _)) => return Ok(Listed::FromHint(listing?, hint)),
                }
            }
        },
    };
    if let Some(hint) = hint
        && !complete_checkpoints(&listing, None)
            .iter()
            .any(|found| found.version == hint)
    {
        warnings.push(without_checkpoint(hint));
    }
    Ok(Listed::Whole(listing))
}
