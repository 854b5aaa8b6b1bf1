//! The steps of a commit on a disk, which may crash between any two: before the temporary file, between it and its
//! link, after the link.

use std::fs::File;
use std::io::{Error, Result};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use deltaic_log::committer::{Disk, Files};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::scripted_store::ScriptedStore;

/// Steps of a commit: create, write, sync, link, remove, sync of the folder.
pub(crate) const STEPS: usize = 6;

/// No crash.
const NEVER: usize = usize::MAX;

/// A disk whose user may crash: afterwards no request is executed, on the table's store neither.
#[derive(Debug)]
pub(crate) struct CrashingDisk {
    scripted: ScriptedStore,
    /// Number of steps before the crash.
    left: AtomicUsize,
    has_crashed: AtomicUsize,
}

impl CrashingDisk {
    pub(crate) fn over(scripted: ScriptedStore) -> Self {
        Self {
            scripted,
            left: NEVER.into(),
            has_crashed: 0.into(),
        }
    }

    /// Lets the user crash after some steps of the next commit.
    pub(crate) fn crash_after(&self, steps: usize) {
        self.left.store(steps, Ordering::SeqCst);
    }

    /// Returns whether a crash has happened since the last call, and cancels a planned one.
    pub(crate) fn take_crash(&self) -> bool {
        self.left.store(NEVER, Ordering::SeqCst);
        self.has_crashed.swap(0, Ordering::SeqCst) > 0
    }

    fn step<T>(&self, step: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.left.load(Ordering::SeqCst) {
            NEVER => step(),
            0 => {
                if self.has_crashed.swap(1, Ordering::SeqCst) == 0 {
                    self.scripted.fail(Rule::new(Fault::RequestLost));
                }
                Err(Error::other("the writer has crashed"))
            }
            left => {
                self.left.store(left - 1, Ordering::SeqCst);
                step()
            }
        }
    }
}

impl Files for CrashingDisk {
    fn create(&self, path: &Path) -> Result<File> {
        self.step(|| Disk.create(path))
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> Result<()> {
        self.step(|| Disk.write(file, bytes))
    }

    fn sync(&self, file: &File) -> Result<()> {
        self.step(|| Disk.sync(file))
    }

    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        self.step(|| Disk.link(from, to))?;
        let target = object_store::path::Path::from_absolute_path(to);
        self.scripted.clock().stamp(&target.map_err(Error::other)?);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.step(|| Disk.rename(from, to))
    }

    fn is_named(&self, file: &File, path: &Path) -> Result<bool> {
        self.step(|| Disk.is_named(file, path))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.step(|| Disk.remove(path))
    }

    fn sync_folder(&self, path: &Path) -> Result<()> {
        self.step(|| Disk.sync_folder(path))
    }
}
