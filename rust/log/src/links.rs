//! What a store does not show of a local folder: symbolic links, pipes, and folders that are empty.
#![expect(
    clippy::disallowed_methods,
    reason = "a door to the file system: a store does not follow links for us to see"
)]

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What stands at a place, before any link is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a device, a socket.
    Other,
    /// Nothing that can be seen.
    Nothing,
}

/// What stands at a place.
pub(crate) fn standing(place: &Path) -> Standing {
    match fs::symlink_metadata(place).map(|found| found.file_type()) {
        Ok(found) if found.is_file() => Standing::File,
        Ok(found) if found.is_dir() => Standing::Folder,
        Ok(found) if found.is_symlink() => Standing::Link,
        Ok(_) => Standing::Other,
        Err(_) => Standing::Nothing,
    }
}

/// What a folder holds under a name, symbolic links followed.
pub(crate) enum Entry {
    /// A folder.
    Folder,
    /// A file, a pipe or a device.
    File(fs::Metadata),
    /// A symbolic link that leads nowhere.
    Dangling,
}

/// The entries of a folder, in no order. Each file is looked up once. Names that are not UTF-8, which no file of a table
/// has, are left out, and files that are deleted meanwhile.
pub(crate) fn entries_of(folder: &Path) -> std::io::Result<Vec<(String, Entry)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // The type of an entry mostly comes with its name.
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

/// Whether a file's time is one that a calendar has; true if it cannot be read.
pub(crate) fn has_possible_time(place: &Path) -> bool {
    fs::metadata(place)
        .and_then(|found| found.modified())
        .map_or(true, is_possible_time)
}

/// Whether a time is one that a calendar has: the years -9999 to 9999, roughly.
pub(crate) fn is_possible_time(modified: SystemTime) -> bool {
    const FARTHEST: Duration = Duration::from_secs(10_000 * 366 * 86_400);
    let from_epoch = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => after,
        Err(before) => before.duration(),
    };
    from_epoch < FARTHEST
}

/// Whether a symbolic link stands at a place.
pub(crate) fn is_link(place: &Path) -> bool {
    standing(place) == Standing::Link
}

/// The place that all links lead to; none where nothing is there.
pub(crate) fn real_path(place: &Path) -> Option<PathBuf> {
    fs::canonicalize(place).ok()
}

/// Where a file that is open really is, whatever stands at its name by now.
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

/// Removes the folders above a file that was deleted as long as they are empty, up to a folder, which goes too if told.
pub(crate) fn remove_empty_above(file: &Path, up_to: &Path, with_it: bool) {
    let above = file.ancestors().skip(1);
    for folder in above.take_while(|folder| folder.starts_with(up_to) && (with_it || *folder != up_to)) {
        // One that is not empty stays, and all above it do.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// How long a file is, links followed; none where it is no regular file.
pub(crate) fn length_of_file(file: &Path) -> std::io::Result<Option<u64>> {
    let found = fs::metadata(file)?;
    Ok(found.is_file().then_some(found.len()))
}

/// Whether something stands at the place that is no regular file: a folder, a pipe, a device, a link to nowhere.
#[must_use]
pub fn is_no_regular_file(file: &Path) -> bool {
    fs::metadata(file).map_or_else(|_| is_link(file), |found| !found.is_file())
}

/// Where a file really is, if that is below none of the folders it may be in. A file that is not there leads nowhere.
#[must_use]
pub fn leads_out_of(file: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let real = real_path(file)?;
    let stays = folders
        .iter()
        .any(|folder| real_path(folder).is_some_and(|folder| real.starts_with(folder)));
    (!stays).then_some(real)
}
