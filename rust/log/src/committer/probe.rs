//! Verifies in a temporary folder that commits are safe on a store.

use deltaic_protocol::log_path::{LOG_FOLDER, LogPath};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt};
use object_store::{ObjectStore, ObjectStoreExt};

use super::contract::Committer;
use super::disk::{missing, remove_empty};
use super::outcome::Outcome;
use crate::listing::Listing;
use deltaic_storage::clock::new_id;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

const WRITERS: usize = 8;
const VERSIONS: i64 = 5;

/// Proposes versions in a folder next to the table's files, by one writer and by many concurrent ones, and
/// deletes the folder.
///
/// A `StorageError` reports the broken guarantee in its message and as `promise`: a version is created
/// `once`, of many writers there is `one winner`, its `bytes` remain unchanged, and a `listing` shows them.
/// No name that a table could use is affected.
///
/// Protocol: *Creation of New Log Entries*.
pub async fn probe(location: &TableLocation) -> Result<()> {
    let folder = location.folder(&format!("_probe-{}", new_id()))?;
    // A local disk keeps empty folders, which no listing shows.
    let made = folder.file_system().map(|root| missing(&root.join(LOG_FOLDER)));
    let outcome = verify_guarantees(&folder).await;
    let _ = remove(&folder).await;
    remove_empty(&made.unwrap_or_default());
    outcome
}

async fn verify_guarantees(location: &TableLocation) -> Result<()> {
    location.prepare().await?;
    let first = Version::ZERO;
    let outcomes = [
        location.propose(first, b"first\n".to_vec()).await?,
        location.propose(first, b"second\n".to_vec()).await?,
    ];
    let [Outcome::Committed(_), Outcome::Lost(_) | Outcome::Taken(_)] = outcomes else {
        return Err(broken("once", "an existing version could be created again"));
    };
    ensure_contains(location, first, b"first\n").await?;
    for number in 1..=VERSIONS {
        let version = Version::try_new(number)?;
        let proposals = (0..WRITERS).map(|writer| location.propose(version, body(writer)));
        let outcomes = try_join_all(proposals).await?;
        let mut winners = outcomes
            .iter()
            .enumerate()
            .filter(|(_, outcome)| **outcome == Outcome::Committed(version));
        match (winners.next(), winners.next()) {
            (Some((winner, _)), None) => ensure_contains(location, version, &body(winner)).await?,
            (Some(_), Some(_)) => return Err(broken("one winner", "two writers won the same version")),
            // If all responses are unknown, the winner does not know that it won; that is safe unless it
            // happens every time.
            (None, _)
                if outcomes.contains(&Outcome::Unknown(version))
                    || outcomes.contains(&Outcome::Taken(version)) => {}
            (None, _) => return Err(broken("one winner", "no writer won the version")),
        }
    }
    Ok(())
}

fn body(writer: usize) -> Vec<u8> {
    format!("writer {writer}\n").into_bytes()
}

async fn ensure_contains(location: &TableLocation, version: Version, expected: &[u8]) -> Result<()> {
    let relative = LogPath::commit(version);
    let found = location
        .read(&relative)
        .await
        .map_err(|error| store_error(&error, &relative))?;
    if found != expected {
        return Err(broken(
            "bytes",
            "a version does not contain what its writer wrote",
        ));
    }
    let listing = Listing::whole(location).await?;
    if !listing.commits().any(|file| file.path.version == version) {
        return Err(broken(
            "listing",
            "a listing lacks a version that was created before it",
        ));
    }
    Ok(())
}

async fn remove(folder: &TableLocation) -> Result<()> {
    let path = folder.below("")?;
    let failed = |error: object_store::Error| store_error(&error, "");
    let store = folder.store();
    let mut found: Vec<_> = store.list(Some(&path)).map_err(failed).try_collect().await?;
    found.sort_by(|left, right| right.location.cmp(&left.location));
    futures::stream::iter(found)
        .for_each(|object| async move {
            let _ = store.delete(&object.location).await;
        })
        .await;
    Ok(())
}

fn broken(promise: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::StorageError,
        format!("commits are not safe on this store: {what}"),
    )
    .with("promise", promise)
    .hint(
        "tables can be read here; to write, use a store with conditional puts or, on a disk, with hard links",
    )
}
