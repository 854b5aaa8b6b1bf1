//! The door to the file system: each step of a commit on a disk, so that a test can write them down and let them fail.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the door to the file system that the bans point to"
)]

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// The steps of a commit on a file system, as the operating system does them.
///
/// Who implements it takes some steps upon itself and leaves the others as they are.
pub trait Files: Debug + Send + Sync {
    /// Whether something has this name. A link that leads nowhere has none.
    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    /// Makes a folder and those above it.
    fn make_folders(&self, path: &Path) -> Result<()> {
        fs::create_dir_all(path)
    }

    /// Makes an empty file that was not there.
    fn create(&self, path: &Path) -> Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    /// Writes all bytes to a file.
    fn write(&self, file: &mut File, bytes: &[u8]) -> Result<()> {
        file.write_all(bytes)
    }

    /// Waits until a file's bytes are on the disk.
    fn sync(&self, file: &File) -> Result<()> {
        file.sync_all()
    }

    /// Gives a file a second name, which nothing has.
    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        fs::hard_link(from, to)
    }

    /// Gives a file another name, which nothing has.
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        rename_without_replacing(from, to)
    }

    /// Whether a name is that of an open file: the same file of the same device. What is not there is not.
    fn is_named(&self, file: &File, path: &Path) -> Result<bool> {
        is_named(file, path)
    }

    /// Takes a name away.
    fn remove(&self, path: &Path) -> Result<()> {
        fs::remove_file(path)
    }

    /// Waits until a folder's names are on the disk.
    fn sync_folder(&self, path: &Path) -> Result<()> {
        File::open(path)?.sync_all()
    }
}

/// The file system itself.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Files for Disk {}

/// A folder and those above it that are not there, the deepest first.
pub(super) fn missing(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors();
    let missing = above.take_while(|ancestor| !ancestor.exists());
    missing.map(Path::to_owned).collect()
}

/// Removes folders that are empty, the deepest first; one that is not stays, and so do those above it.
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
        // So a file system says that it does not know the flag.
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

/// Where files cannot be told apart, no name is known to be a file's.
#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> Result<bool> {
    Ok(false)
}
