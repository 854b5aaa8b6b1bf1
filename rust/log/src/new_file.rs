//! A file of the log that is made whole and under its own name, or not at all, and never in the place of another.

use std::sync::atomic::Ordering;

use deltaic_protocol::Result;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, PutResult};

use crate::location::{Sent, TableLocation};
use crate::store_error::store_error;

/// What became of a file that was to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It was made.
    Now,
    /// There was one already, which stays as it is.
    Before,
}

/// Makes a file below the table's root, unless there is one.
///
/// # Errors
///
/// `StorageError` where the store fails; whether the file was made is not known then.
pub(crate) async fn make(location: &TableLocation, relative: &str, bytes: Vec<u8>) -> Result<Made> {
    let failed = |error: object_store::Error| store_error(&error, relative);
    let path = location.below(relative)?;
    // A store that has not shown that it keeps the condition is asked first: it may overwrite.
    let is_doubted = location
        .proven()
        .is_some_and(|proven| !proven.load(Ordering::Relaxed));
    if is_doubted {
        match is_there(location.store(), &path).await {
            Ok(true) => return Ok(Made::Before),
            Ok(false) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    match put_if_absent(location.store(), &path, PutPayload::from(bytes), &Sent::default()).await {
        Ok(_) => Ok(Made::Now),
        Err(object_store::Error::AlreadyExists { .. }) => Ok(Made::Before),
        Err(error) => Err(failed(error)),
    }
}

/// Puts a file where there is none. What an error means is the caller's to say: `AlreadyExists` may tell of our own file,
/// where the first answer was lost; `sent` tells whether there was one before.
pub(crate) async fn put_if_absent(
    store: &dyn ObjectStore,
    path: &Path,
    bytes: PutPayload,
    sent: &Sent,
) -> Result<PutResult, object_store::Error> {
    let options = PutOptions {
        mode: PutMode::Create,
        extensions: sent.carried(),
        ..PutOptions::default()
    };
    store.put_opts(path, bytes, options).await
}

/// Whether a file stands at a place.
pub(crate) async fn is_there(store: &dyn ObjectStore, path: &Path) -> Result<bool, object_store::Error> {
    match store.head(path).await {
        Ok(_) => Ok(true),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
