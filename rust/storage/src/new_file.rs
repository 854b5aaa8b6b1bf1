//! Atomic creation of a file in the log: complete and under its final name, or not at all; never overwrites.

use std::sync::atomic::Ordering;

use deltaic_protocol::Result;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, PutResult};

use crate::location::{Sent, TableLocation};
use crate::store_error::store_error;

/// Result of creating a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// The file was created.
    Now,
    /// The file already existed and is unchanged.
    Before,
}

/// Creates a file below the table's root unless it exists.
///
/// # Errors
///
/// `StorageError` if the store fails; the file may or may not have been created then.
pub async fn make(location: &TableLocation, relative: &str, bytes: Vec<u8>) -> Result<Created> {
    let failed = |error: object_store::Error| store_error(&error, relative);
    let path = location.below(relative)?;
    // A store that has not proven to honor the condition may overwrite, so check for the file first.
    let is_doubted = location
        .proven()
        .is_some_and(|proven| !proven.load(Ordering::Relaxed));
    if is_doubted {
        match exists(location.store(), &path).await {
            Ok(true) => return Ok(Created::Before),
            Ok(false) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    match put_if_absent(location.store(), &path, PutPayload::from(bytes), &Sent::default()).await {
        Ok(_) => Ok(Created::Now),
        Err(object_store::Error::AlreadyExists { .. }) => Ok(Created::Before),
        Err(error) => Err(failed(error)),
    }
}

/// Creates a file unless it exists. The caller interprets errors: `AlreadyExists` may refer to our own file
/// if the first response was lost; `sent` records whether there was an earlier request.
pub async fn put_if_absent(
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

/// Whether a file exists at the path.
pub async fn exists(store: &dyn ObjectStore, path: &Path) -> Result<bool, object_store::Error> {
    match store.head(path).await {
        Ok(_) => Ok(true),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
