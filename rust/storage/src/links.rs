//! File system properties that an object store does not have: symbolic links, pipes, and empty folders.
#![expect(
    clippy::disallowed_methods,
    reason = "links are visible only in the file system, not through a store"
)]

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// File type at a path, without following symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, whatever its target.
    Link,
    /// A pipe, a device, a socket.
    Other,
    /// Nothing, or a path that cannot be read.
    Nothing,
}

/// Returns the file type at a path, without following symbolic links.
pub(crate) fn path_kind(place: &Path) -> PathKind {
    match fs::symlink_metadata(place).map(|found| found.file_type()) {
        Ok(found) if found.is_file() => PathKind::File,
        Ok(found) if found.is_dir() => PathKind::Folder,
        Ok(found) if found.is_symlink() => PathKind::Link,
        Ok(_) => PathKind::Other,
        Err(_) => PathKind::Nothing,
    }
}

/// An entry of a folder, symbolic links followed.
pub(crate) enum Entry {
    /// A folder.
    Folder,
    /// A file, a pipe or a device.
    File(fs::Metadata),
    /// A symbolic link whose target does not exist.
    Dangling,
}

/// Returns the entries of a folder, unordered, with one lookup per file. Skips names that are not UTF-8,
/// which no file of a table has, and files that are deleted concurrently.
pub(crate) fn entries_of(folder: &Path) -> std::io::Result<Vec<(String, Entry)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // On most file systems the directory entry includes the type.
        let found = entry.file_type()?;
        let kind = if found.is_dir() {
            Entry::Folder
        } else {
            match fs::metadata(entry.path()) {
                Ok(target) if target.is_dir() => Entry::Folder,
                Ok(target) => Entry::File(target),
                Err(_) if found.is_symlink() => Entry::Dangling,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
        };
        if let Ok(name) = entry.file_name().into_string() {
            entries.push((name, kind));
        }
    }
    Ok(entries)
}

/// Whether a file's modification time is within the range of a calendar; true if it cannot be read.
pub(crate) fn has_possible_time(place: &Path) -> bool {
    fs::metadata(place)
        .and_then(|found| found.modified())
        .map_or(true, is_possible_time)
}

/// Whether a time is within the range of a calendar: the years -9999 to 9999, roughly.
pub(crate) fn is_possible_time(modified: SystemTime) -> bool {
    const FARTHEST: Duration = Duration::from_secs(10_000 * 366 * 86_400);
    let from_epoch = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => after,
        Err(before) => before.duration(),
    };
    from_epoch < FARTHEST
}

/// Whether the path is a symbolic link.
pub(crate) fn is_link(place: &Path) -> bool {
    path_kind(place) == PathKind::Link
}

/// Returns the canonical path, all links resolved; `None` if it does not exist.
pub(crate) fn real_path(place: &Path) -> Option<PathBuf> {
    fs::canonicalize(place).ok()
}

/// Returns the real path of an open file, even if its name now refers to another file.
pub(crate) fn place_of_opened(opened: &File, name: &Path) -> Option<PathBuf> {
    by_descriptor(opened).or_else(|| real_path(name))
}

#[cfg(target_os = "linux")]
fn by_descriptor(opened: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    let place = fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).ok()?;
    place.is_absolute().then_some(place)
}

#[cfg(not(target_os = "linux"))]
fn by_descriptor(_: &File) -> Option<PathBuf> {
    None
}

/// Removes the empty parent folders of a deleted file up to `up_to`, and `up_to` itself if `with_it`.
pub(crate) fn remove_empty_above(file: &Path, up_to: &Path, with_it: bool) {
    let above = file.ancestors().skip(1);
    for folder in above.take_while(|folder| folder.starts_with(up_to) && (with_it || *folder != up_to)) {
        // A folder that is not empty remains, and so do all above it.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Returns the length of a file, links followed; `None` if it is not a regular file.
pub(crate) fn length_of_file(file: &Path) -> std::io::Result<Option<u64>> {
    let found = fs::metadata(file)?;
    Ok(found.is_file().then_some(found.len()))
}

/// Whether the path exists but is not a regular file: a folder, a pipe, a device, a dangling link.
#[must_use]
pub fn is_not_regular_file(file: &Path) -> bool {
    fs::metadata(file).map_or_else(|_| is_link(file), |found| !found.is_file())
}

/// Returns the real path of a file that is outside of all given folders; `None` for a file that does not
/// exist.
#[must_use]
pub fn leads_out_of(file: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let real = real_path(file)?;
    let stays = folders
        .iter()
        .any(|folder| real_path(folder).is_some_and(|folder| real.starts_with(folder)));
    (!stays).then_some(real)
}
