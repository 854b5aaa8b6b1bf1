//! Deletes the files of one wave of a cleanup.

use deltaic_protocol::{Error, Result};
use futures::StreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::deletion::Deletion;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

/// Deletes the files of a wave; files that are already deleted are ignored. On a file system one after the other, so
/// that no commit is deleted before an older one: a writer that finds the version that it read then knows that no later
/// one was cleaned up. On an object store many at once, since each costs a request.
///
/// # Errors
///
/// `StorageError` of the first file that could not be deleted. On a file system, the files after it are retained.
pub(super) async fn delete_all(location: &TableLocation, files: &[Deletion]) -> Result<()> {
    let paths: Vec<Path> = files
        .iter()
        .map(|file| location.below(&file.path))
        .collect::<Result<_>>()?;
    if location.file_system().is_some() {
        for path in &paths {
            match location.store().delete(path).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(not_deleted(&error)),
            }
        }
        return Ok(());
    }
    let paths = futures::stream::iter(paths.into_iter().map(Ok)).boxed();
    let mut deleted = location.store().delete_stream(paths);
    let mut failed: Option<Error> = None;
    while let Some(answer) = deleted.next().await {
        match answer {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => {
                failed.get_or_insert(not_deleted(&error));
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn not_deleted(error: &object_store::Error) -> Error {
    store_error(error, "_delta_log").or_hint("clean up again; no deleted file was needed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cleanup::deletion::Expired;

    #[tokio::test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test creates a folder with the name of a file"
    )]
    async fn on_a_file_system_no_file_is_deleted_before_the_one_before_it() -> Result<()> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("_delta_log");
        // A folder that is not empty cannot be deleted.
        std::fs::create_dir_all(log.join("1.json/x")).expect("it is created");
        for name in ["0.json", "2.json"] {
            std::fs::write(log.join(name), "{}").expect("it is written");
        }
        let uri = folder.path().to_str().expect("UTF-8");
        let location = TableLocation::parse(uri, Vec::new())?;
        let files = ["0.json", "1.json", "2.json"].map(|name| Deletion {
            path: format!("_delta_log/{name}"),
            bytes: 2,
            why: Expired::BeforeCheckpoint,
        });
        let error = delete_all(&location, &files)
            .await
            .expect_err("1.json is a folder");
        assert!(error.hint_text().is_some());
        let left = |name: &str| log.join(name).exists();
        assert_eq!(
            [left("0.json"), left("1.json"), left("2.json")],
            [false, true, true]
        );
        Ok(())
    }
}
