//! The logs of tables that other implementations wrote, and copies of them that may be changed.
#![expect(
    clippy::disallowed_methods,
    reason = "reference tables are files of the machine that tests run on, and no table is open while they are copied"
)]

use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};

/// The roots of the reference tables, in order; none where they are not on this machine. They stand in `../shared/golden`
/// beside the checkout.
#[must_use]
pub fn reference_tables() -> Vec<PathBuf> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden");
    let mut found = Vec::new();
    let mut folders = vec![golden];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let below = entries.flatten().map(|entry| entry.path());
        let below: Vec<PathBuf> = below.filter(|path| path.is_dir()).collect();
        if below.iter().any(|path| path.ends_with("_delta_log")) {
            found.push(folder);
        } else {
            folders.extend(below);
        }
    }
    found.sort();
    found
}

/// Copies a table's log, without its data files, into a folder.
///
/// # Errors
///
/// What the file system says.
pub fn copy_log(table: &Path, into: &Path) -> Result<()> {
    let mut folders = vec![PathBuf::from("_delta_log")];
    while let Some(folder) = folders.pop() {
        fs::create_dir_all(into.join(&folder))?;
        for entry in fs::read_dir(table.join(&folder))? {
            let entry = entry?;
            let relative = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(relative);
            } else {
                fs::copy(entry.path(), into.join(&relative))?;
            }
        }
    }
    Ok(())
}
