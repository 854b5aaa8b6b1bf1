//! Interface to the file system: each step of a commit on a disk, so that tests can record the steps and
//! inject failures.
#![expect(
    clippy::disallowed_methods,
    reason = "this module is the permitted user of these methods"
)]

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// The steps of a commit on a file system, implemented by the operating system.
///
/// Tests override some of the steps.
pub trait Files: Debug + Send + Sync {
    /// Whether the path exists. A dangling link does not.
    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    /// Creates a folder and its parents.
    fn make_folders(&self, path: &Path) -> Result<()> {
        fs::create_dir_all(path)
    }

    /// Creates a new empty file; an existing file is an error.
    fn create(&self, path: &Path) -> Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    /// Writes all bytes to a file.
    fn write(&self, file: &mut File, bytes: &[u8]) -> Result<()> {
        file.write_all(bytes)
    }

    /// Flushes a file's bytes to disk.
    fn sync(&self, file: &File) -> Result<()> {
        file.sync_all()
    }

    /// Creates a hard link; an existing target is an error.
    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        fs::hard_link(from, to)
    }

    /// Renames a file; an existing target is an error.
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        rename_without_replacing(from, to)
    }

    /// Whether a path refers to an open file: same device and inode. A path that does not exist does not.
    fn is_named(&self, file: &File, path: &Path) -> Result<bool> {
        is_named(file, path)
    }

    /// Removes a file.
    fn remove(&self, path: &Path) -> Result<()> {
        fs::remove_file(path)
    }

    /// Flushes a folder's entries to disk.
    fn sync_folder(&self, path: &Path) -> Result<()> {
        File::open(path)?.sync_all()
    }
}

/// The real file system.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Files for Disk {}

/// Returns the folder and its parents that do not exist, deepest first.
pub(super) fn missing(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors();
    let missing = above.take_while(|ancestor| !ancestor.exists());
    missing.map(Path::to_owned).collect()
}

/// Removes empty folders, deepest first; stops at the first one that is not empty.
pub(super) fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        if fs::remove_dir(folder).is_err() && folder.exists() {
            return;
        }
    }
}

#[cfg(target_os = "linux")]
fn rename_without_replacing(from: &Path, to: &Path) -> Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(|error| match error {
        // The file system does not support the flag.
        rustix::io::Errno::INVAL => ErrorKind::Unsupported.into(),
        error => error.into(),
    })
}

#[cfg(not(target_os = "linux"))]
fn rename_without_replacing(_: &Path, _: &Path) -> Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// On platforms without file identity, the result is always false.
#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> Result<bool> {
    Ok(false)
}
