//! A disk that writes down each step of a commit, has no hard links where it is told so, and fails on demand.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deltaic_log::committer::{Disk, Files};

/// A step of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An empty file is made.
    Create,
    /// Bytes are written to it.
    Write,
    /// The file's bytes come to the disk.
    Sync,
    /// It gets a second name.
    Link,
    /// It gets another name.
    Rename,
    /// A name is taken away.
    Remove,
    /// A folder's names come to the disk.
    SyncFolder,
}

/// What becomes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// It is not done, and this is why.
    Refused(ErrorKind),
    /// It is done, and the answer says this all the same.
    Unheard(ErrorKind),
}

/// The disk behind a record. Clones are one disk.
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
    /// A file system that knows no hard links, as FAT and many that lie behind a network.
    #[must_use]
    pub fn without_links() -> Self {
        let files = Self::default();
        files.record().has_no_links = true;
        files
    }

    /// Whether files can have two names here.
    #[must_use]
    pub fn has_links(&self) -> bool {
        !self.record().has_no_links
    }

    /// Forgets the steps so far, and what was to meet them.
    pub fn forget(&self) {
        let mut record = self.record();
        record.steps.clear();
        record.mishaps.clear();
    }

    /// Lets a step of the next commit that comes to it meet a mishap.
    pub fn meets(&self, step: Step, mishap: Mishap) {
        self.record().mishaps.push((step, mishap));
    }

    /// The steps so far, each with the name of its file or folder; they are forgotten.
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
