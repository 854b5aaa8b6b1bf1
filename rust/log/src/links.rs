//! What a store does not show of a local folder: symbolic links, pipes, and folders that are empty.
#![expect(
    clippy::disallowed_methods,
    reason = "a door to the file system: a store does not follow links for us to see"
)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

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

/// What is in a folder by name, and whether it is a folder too, links followed; what they do not lead to is left out.
pub(crate) fn names_in(folder: &Path) -> std::io::Result<Vec<(String, bool)>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    Ok(entries
        .into_iter()
        .filter_map(|entry| {
            let found = fs::metadata(entry.path()).ok()?;
            Some((entry.file_name().into_string().ok()?, found.is_dir()))
        })
        .collect())
}

/// The names in a folder of symbolic links that lead nowhere, as to themselves.
pub(crate) fn dangling_in(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // The kind of an entry mostly comes with its name, so that nothing is looked up but links.
        if entry.file_type()?.is_symlink() && fs::metadata(entry.path()).is_err() {
            names.extend(entry.file_name().into_string());
        }
    }
    Ok(names)
}

/// Whether a file's time is one that a calendar has; where it cannot be told, it is.
pub(crate) fn has_possible_time(place: &Path) -> bool {
    // The years -9999 to 9999, more or less.
    const FARTHEST: Duration = Duration::from_secs(10_000 * 366 * 86_400);
    let Ok(modified) = fs::metadata(place).and_then(|found| found.modified()) else {
        return true;
    };
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
