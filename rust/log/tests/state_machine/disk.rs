//! The steps of a commit on a disk, which may come to a crash between any two: before the temporary file, between it and
//! its link, after the link.

use std::fs::File;
use std::io::{Error, Result};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use deltaic_log::committer::{Disk, Files};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::scripted_store::ScriptedStore;

/// How many steps a commit has: create, write, sync, link, remove, sync of the folder.
pub(crate) const STEPS: usize = 6;

/// No step.
const NEVER: usize = usize::MAX;

/// A disk whose user may crash: from then on nothing arrives, at the store of the table either.
#[derive(Debug)]
pub(crate) struct CrashingDisk {
    scripted: ScriptedStore,
    /// How many steps are left before the crash.
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

    /// The user crashes after some steps of the next commit.
    pub(crate) fn crash_after(&self, steps: usize) {
        self.left.store(steps, Ordering::SeqCst);
    }

    /// Whether a crash has happened since this was last asked. None is planned any more.
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
