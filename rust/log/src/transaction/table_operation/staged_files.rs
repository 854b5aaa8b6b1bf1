//! The files that are written for a commit: retained if a version may reference them, deleted otherwise.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use deltaic_protocol::{Conflict, ErrorKind, Result};
use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::transaction::{Committed, OwnerProcess};
use deltaic_storage::cancelled_files::delete_without_waiting;
use deltaic_storage::location::TableLocation;
use deltaic_storage::unused_memory::UnusedMemory;

/// Files that were written for a commit and that no version references yet. Files of other writers, which a commit may
/// also add, are not among them.
///
/// Dropping them deletes the files, as when an operation is cancelled, unless a commit may reference them. In a child of
/// `fork` no file is deleted: its parent may still commit them.
#[derive(Debug)]
pub struct StagedFiles {
    location: Arc<TableLocation>,
    owner: OwnerProcess,
    files: Mutex<BTreeMap<Path, Use>>,
    /// Whether a commit of the files is in progress, whose outcome is unknown if it is cancelled.
    is_committing: AtomicBool,
    /// Files are written from one row group after another.
    _memory: UnusedMemory,
}

/// Whether the commit needs a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Needed,
    /// Another file contains its rows instead.
    Superseded,
}

impl StagedFiles {
    /// No files yet. They belong to the current process.
    #[must_use]
    pub fn new(location: &Arc<TableLocation>) -> Self {
        Self {
            location: Arc::clone(location),
            owner: OwnerProcess::current(),
            files: Mutex::default(),
            is_committing: AtomicBool::new(false),
            _memory: UnusedMemory::returned_soon(),
        }
    }

    /// Records that a version may reference the files from now on.
    pub(in crate::transaction) fn begin_commit(&self) {
        self.is_committing.store(true, Ordering::Release);
    }

    /// Records that the commit certainly failed.
    pub(in crate::transaction) fn end_commit(&self) {
        self.is_committing.store(false, Ordering::Release);
    }

    /// Leaves the files to the caller.
    pub fn release(&self) {
        self.with(std::mem::take);
    }

    /// Adds files, by path relative to the table's root, not percent-encoded.
    pub fn add(&self, relative: impl IntoIterator<Item = String>) {
        for relative in relative {
            // A path that is not below the root was not written either.
            if let Ok(path) = self.location.below(&relative) {
                self.with(|files| files.insert(path, Use::Needed));
            }
        }
    }

    /// Adds a file by its resolved path, which this process may not have written itself.
    pub fn add_path(&self, path: Path) {
        self.with(|files| files.insert(path, Use::Needed));
    }

    /// The process that wrote the files.
    #[must_use]
    pub fn owner(&self) -> OwnerProcess {
        self.owner
    }

    /// Adds all files of another write of the same commit.
    pub fn append(&self, other: &Self) {
        let mut files = other.with(std::mem::take);
        self.with(|all| all.append(&mut files));
    }

    /// Marks a file that the commit will not reference.
    pub fn supersede(&self, relative: &str) {
        if let Ok(path) = self.location.below(relative) {
            self.with(|files| files.insert(path, Use::Superseded));
        }
    }

    /// After a commit: retains the files if a version may reference them, and deletes superseded ones once a version
    /// references the others. Deletes all if it is certain that none is referenced. A file that cannot be deleted
    /// remains as an unreferenced file. Returns whether files were retained.
    pub async fn settle(&self, committed: &Result<Committed>) -> bool {
        if !may_name_files(committed) {
            self.delete().await;
            return false;
        }
        let files = self.with(std::mem::take);
        if committed.as_ref().is_ok_and(|committed| !committed.skipped) {
            let superseded = files.into_iter().filter(|(_, needed)| *needed == Use::Superseded);
            self.delete_all(superseded.map(|(path, _)| path)).await;
        }
        true
    }

    /// Deletes all files. Only valid if no version references any of them.
    pub async fn delete(&self) {
        let files = self.with(std::mem::take);
        self.delete_all(files.into_keys()).await;
    }

    /// Adds the files of an earlier attempt that these `add` actions refer to, and deletes its other files.
    pub(super) async fn take_over<'p>(&self, earlier: &Self, paths: impl Iterator<Item = &'p str>) {
        let mut files = earlier.with(std::mem::take);
        for path in paths.filter_map(|path| self.location.resolve(path).ok()) {
            if let Some(needed) = files.remove(&path) {
                self.with(|files| files.insert(path, needed));
            }
        }
        self.delete_all(files.into_keys()).await;
    }

    async fn delete_all(&self, paths: impl Iterator<Item = Path>) {
        if !self.owner.is_current() {
            return;
        }
        for path in paths {
            let _ = self.location.store().delete(&path).await;
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut BTreeMap<Path, Use>) -> T) -> T {
        // Each change leaves a consistent map, so a poisoned lock is harmless.
        change(&mut self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for StagedFiles {
    fn drop(&mut self) {
        let files = self.with(std::mem::take);
        if !files.is_empty() && !self.is_committing.load(Ordering::Acquire) && self.owner.is_current() {
            delete_without_waiting(&self.location, files.into_keys().collect());
        }
    }
}

/// Whether a version may reference the files written for a commit with this outcome.
fn may_name_files(committed: &Result<Committed>) -> bool {
    match committed {
        Ok(committed) => committed.keeps_files,
        Err(error) => matches!(
            error.kind(),
            ErrorKind::CommitUnknown | ErrorKind::CommitConflict(Conflict::AddedTwice)
        ),
    }
}
