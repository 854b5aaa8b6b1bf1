//! Symbolic links: a file below the table's root may stand elsewhere.
#![expect(
    clippy::disallowed_methods,
    reason = "a door to the file system: a store does not follow links for us to see"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Whether something stands at the place that is no regular file: a folder, a pipe, a device.
#[must_use]
pub fn is_no_regular_file(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| !found.is_file())
}

/// Where a file really is, if that is below none of the folders it may be in. A file that is not there leads nowhere.
#[must_use]
pub fn leads_out_of(file: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let real = fs::canonicalize(file).ok()?;
    let stays = folders
        .iter()
        .any(|folder| fs::canonicalize(folder).is_ok_and(|folder| real.starts_with(folder)));
    (!stays).then_some(real)
}
