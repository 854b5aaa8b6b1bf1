//! Temporary files.

use std::fs::File;
use std::path::PathBuf;

/// Creates a file in the system's folder for temporary files. It has no name, so it is gone with the process.
///
/// # Errors
///
/// The operating system's.
pub fn temporary_file() -> std::io::Result<File> {
    tempfile::tempfile()
}

/// The folder of temporary files, which the environment variable `TMPDIR` sets.
#[must_use]
pub fn temporary_folder() -> PathBuf {
    std::env::temp_dir()
}
