//! Commits on an object store by conditional put.

use std::sync::atomic::Ordering;

use deltaic_protocol::log_path::{LOG_FOLDER, LogPath};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use object_store::ObjectStoreExt;
use object_store::path::Path;

use super::outcome::Outcome;
use deltaic_storage::clock::{new_id, pause};
use deltaic_storage::location::{Sent, TableLocation};
use deltaic_storage::new_file::put_if_absent;
use deltaic_storage::{Cause, store_error};

/// Maximum number of lost responses to a trial.
const MOST_LOST: usize = 2;

/// Proposes a commit by a conditional put. A lost or ambiguous response is `Unknown`, because the put may
/// have succeeded. So is a rejection of a put that the store's client sent more than once: the first request
/// may have succeeded.
pub(super) async fn propose(location: &TableLocation, version: Version, commit: Vec<u8>) -> Result<Outcome> {
    let relative = LogPath::commit(version);
    let path = location.below(&relative)?;
    verify_store(location)
        .await
        .map_err(|error| error.with("version", version))?;
    let sent = Sent::default();
    match put_if_absent(location.store(), &path, commit.into(), &sent).await {
        Ok(_) => Ok(Outcome::Committed(version)),
        Err(error @ object_store::Error::AlreadyExists { .. }) if Cause::of(&error).is_undecided() => {
            Ok(Outcome::Unknown(version))
        }
        Err(object_store::Error::AlreadyExists { .. }) if sent.is_again() => Ok(Outcome::Taken(version)),
        Err(object_store::Error::AlreadyExists { .. }) => Ok(Outcome::Lost(version)),
        Err(
            error @ (object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. }
            | object_store::Error::NotFound { .. }
            | object_store::Error::NotSupported { .. }
            | object_store::Error::NotImplemented { .. }),
        ) if !sent.is_again() => Err(store_error(&error, &relative).with("version", version)),
        Err(_) => Ok(Outcome::Unknown(version)),
    }
}

/// Verifies, once per process, that a store at a user-supplied endpoint does not overwrite: some servers
/// ignore the condition, and there each commit would overwrite another.
///
/// The trial file has a name that the log never uses.
async fn verify_store(location: &TableLocation) -> Result<()> {
    let Some(proven) = location.proven() else {
        return Ok(());
    };
    if proven.load(Ordering::Relaxed) {
        return Ok(());
    }
    let relative = format!("{LOG_FOLDER}/_probe-{}", new_id());
    let path = location.below(&relative)?;
    let failed = |error: object_store::Error| store_error(&error, &relative);
    let refuses = refuses_what_exists(location, &path).await;
    // A remaining file is not part of the log; readers ignore it.
    let _ = location.store().delete(&path).await;
    if refuses.map_err(failed)? {
        proven.store(true, Ordering::Relaxed);
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::StorageError,
        "the store ignores put conditions and overwrites files, so concurrent writers would lose commits",
    )
    .with("path", location.uri())
    .with("promise", "once")
    .hint("tables can be read here; to write, use a store with conditional puts (If-None-Match)"))
}

/// Whether a store rejects the creation of an existing file, tested with a unique name: a rejection there
/// refers to our own file, even if the response to its creation was lost.
async fn refuses_what_exists(location: &TableLocation, path: &Path) -> Result<bool, object_store::Error> {
    let mut is_made = false;
    let mut lost = 0;
    loop {
        match put_if_absent(location.store(), path, b"trial".to_vec().into(), &Sent::default()).await {
            Err(object_store::Error::AlreadyExists { .. }) => return Ok(true),
            Ok(_) if is_made => return Ok(false),
            Ok(_) => is_made = true,
            Err(object_store::Error::Generic { .. }) if lost < MOST_LOST => {
                lost += 1;
                pause(lost).await;
            }
            Err(error) => return Err(error),
        }
    }
}
