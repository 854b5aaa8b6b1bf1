//! A file system that records each step of a commit, optionally without hard links, and fails on demand.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deltaic_log::committer::{Disk, Files};

/// A step of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An empty file is created.
    Create,
    /// Bytes are written to it.
    Write,
    /// The file's bytes are synced to disk.
    Sync,
    /// The file is linked to a second name.
    Link,
    /// The file is renamed.
    Rename,
    /// A name is removed.
    Remove,
    /// A folder is synced to disk.
    SyncFolder,
}

/// The fault of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The step is not executed, and fails with this error.
    Refused(ErrorKind),
    /// The step is executed, and fails with this error nevertheless.
    Unheard(ErrorKind),
}

/// The recorded file system. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct RecordedFiles {
    record: Arc<Mutex<Record>>,
}

#[derive(Debug, Default)]
struct Record {
    steps: Vec<(Step, String)>,
    mishaps: Vec<(Step, Mishap)>,
    has_no_links: bool,
}

impl RecordedFiles {
    /// A file system without hard links, such as FAT and many network file systems.
    #[must_use]
    pub fn without_links() -> Self {
        let files = Self::default();
        files.record().has_no_links = true;
        files
    }

    /// Whether hard links are supported.
    #[must_use]
    pub fn has_links(&self) -> bool {
        !self.record().has_no_links
    }

    /// Clears the recorded steps and pending faults.
    pub fn forget(&self) {
        let mut record = self.record();
        record.steps.clear();
        record.mishaps.clear();
    }

    /// Sets the fault of the next occurrence of a step.
    pub fn meets(&self, step: Step, mishap: Mishap) {
        self.record().mishaps.push((step, mishap));
    }

    /// Takes the recorded steps, each with the name of its file or folder.
    #[must_use]
    pub fn take_steps(&self) -> Vec<(Step, String)> {
        std::mem::take(&mut self.record().steps)
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take<T>(&self, step: Step, path: &Path, done: impl FnOnce() -> Result<T>) -> Result<T> {
        let met = {
            let mut record = self.record();
            let name = path.file_name().unwrap_or_default();
            record.steps.push((step, name.to_string_lossy().into_owned()));
            let met = record.mishaps.iter().position(|(meant, _)| *meant == step);
            met.map(|place| record.mishaps.remove(place).1)
        };
        match met {
            None => done(),
            Some(Mishap::Refused(kind)) => Err(kind.into()),
            Some(Mishap::Unheard(kind)) => {
                done()?;
                Err(kind.into())
            }
        }
    }
}

impl Files for RecordedFiles {
    fn create(&self, path: &Path) -> Result<File> {
        self.take(Step::Create, path, || Disk.create(path))
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> Result<()> {
        self.take(Step::Write, Path::new(""), || Disk.write(file, bytes))
    }

    fn sync(&self, file: &File) -> Result<()> {
        self.take(Step::Sync, Path::new(""), || Disk.sync(file))
    }

    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        if self.record().has_no_links {
            return Err(Error::from(ErrorKind::PermissionDenied));
        }
        self.take(Step::Link, to, || Disk.link(from, to))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.take(Step::Rename, to, || Disk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.take(Step::Remove, path, || Disk.remove(path))
    }

    fn sync_folder(&self, path: &Path) -> Result<()> {
        self.take(Step::SyncFolder, path, || Disk.sync_folder(path))
    }
}
