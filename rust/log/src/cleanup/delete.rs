//! A wave of a cleanup carried out.

use deltaic_protocol::{Error, Result};
use futures::StreamExt;
use object_store::ObjectStore;
use object_store::path::Path;

use super::plan::Deletion;
use crate::location::TableLocation;
use crate::store_error::store_error;

/// Deletes files, many at once. One that is gone already, because somebody else cleans up too, is as good as deleted.
///
/// # Errors
///
/// `StorageError` of the first file that could not be deleted, after all have been tried.
pub(super) async fn delete_all(location: &TableLocation, files: &[Deletion]) -> Result<()> {
    let paths: Vec<Path> = files
        .iter()
        .map(|file| location.below(&file.path))
        .collect::<Result<_>>()?;
    let paths = futures::stream::iter(paths.into_iter().map(Ok)).boxed();
    let mut deleted = location.store().delete_stream(paths);
    let mut failed: Option<Error> = None;
    while let Some(answer) = deleted.next().await {
        match answer {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => {
                let error = store_error(&error, "_delta_log");
                failed
                    .get_or_insert(error.or_hint("clean up again: what was deleted before has done no harm"));
            }
        }
    }
    failed.map_or(Ok(()), Err)
}
