//! Deletes the files of a plan.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use deltaic_log::progress::{Progress, Stage};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::{TableLocation, store_error};
use futures::StreamExt;

use super::paths::relative_to;
use super::plan::Plan;

/// After so many failed deletions, no further file is deleted.
const MOST_FAILURES: usize = 20;

/// The outcome of the deletions of a plan.
#[derive(Debug, Default)]
pub(super) struct Deleted {
    /// The number of files that were deleted. Files that did not exist any more are not counted.
    pub(super) files: usize,
    /// The number of files that did not exist any more.
    gone: usize,
    /// The number of empty folders that were removed.
    pub(super) folders: usize,
    /// The first failure.
    pub(super) failure: Option<Error>,
}

impl Deleted {
    /// Nothing, because of an error.
    pub(super) fn none(error: Error) -> Self {
        Self {
            failure: Some(error),
            ..Self::default()
        }
    }

    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    /// Returns the error of an incomplete vacuum of so many files.
    pub(super) fn incomplete(&self, files: usize, error: &Error) -> Error {
        let left = files.saturating_sub(self.files + self.gone);
        let message = format!(
            "{} of {files} files were deleted, {left} are left, because a deletion failed: {}",
            self.files,
            error.what()
        );
        let number = |files| i64::try_from(files).unwrap_or(i64::MAX);
        let mut incomplete = Error::new(ErrorKind::StorageError, message)
            .with("deleted", number(self.files))
            .with("left", number(left));
        for (key, value) in error.context() {
            incomplete = incomplete.with(key, value.clone());
        }
        let hint = error.hint_text().unwrap_or("check that the location is writable");
        incomplete.hint(format!("{hint}; then vacuum again: no deleted file was needed"))
    }
}

/// Deletes the files with the store's bulk requests, then empty folders of a local table.
///
/// Files that are already deleted are ignored. After a failure the other files are deleted, unless too many deletions
/// fail.
pub(super) async fn delete(location: &Arc<TableLocation>, plan: &Plan, progress: &Progress) -> Deleted {
    progress.begin(Stage::Deletions, plan.files.len() as u64);
    let mut deleted = Deleted::default();
    let mut paths = Vec::with_capacity(plan.files.len());
    for file in plan.files.iter().filter(|file| !file.is_upload) {
        match location.below(&file.path) {
            Ok(path) => paths.push(path),
            Err(error) => deleted.fail(error),
        }
    }
    let failures = Arc::new(AtomicUsize::new(0));
    let may_continue = {
        let failures = Arc::clone(&failures);
        move || failures.load(Ordering::Relaxed) < MOST_FAILURES
    };
    let asked = futures::stream::iter(paths.into_iter().take_while(move |_| may_continue()).map(Ok));
    let mut answers = location.store().delete_stream(asked.boxed());
    let mut beside = Vec::new();
    while let Some(answer) = answers.next().await {
        progress.step();
        match answer {
            Ok(path) => {
                deleted.files = deleted.files.saturating_add(1);
                if location.file_system().is_some() {
                    beside.extend(relative_to(location.root(), &path));
                }
            }
            Err(object_store::Error::NotFound { .. }) => deleted.gone += 1,
            Err(error) => {
                failures.fetch_add(1, Ordering::Relaxed);
                deleted.fail(store_error(&error, location.uri()));
            }
        }
    }
    for file in plan.files.iter().filter(|file| file.is_upload) {
        progress.step();
        match location.remove_upload(file.path.clone()).await {
            Ok(true) => deleted.files = deleted.files.saturating_add(1),
            Ok(false) => deleted.gone += 1,
            Err(error) => deleted.fail(error),
        }
    }
    match remove_beside(location, plan, beside).await {
        Ok(folders) => deleted.folders = folders,
        Err(error) => deleted.fail(error),
    }
    deleted
}

async fn remove_beside(location: &Arc<TableLocation>, plan: &Plan, deleted: Vec<String>) -> Result<usize> {
    location.remove_checksums_of(deleted).await?;
    location.remove_empty_folders(plan.folders.clone()).await
}
