//! Logs of tables that other implementations wrote, and modifiable copies of them.
#![expect(
    clippy::disallowed_methods,
    reason = "test setup reads the environment and copies files before any table is opened"
)]

use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};

/// The roots of the reference tables, in order. They are in `../shared/golden` next to the checkout.
///
/// None if this machine does not have them: the test is skipped, which a line `skipped: ` reports.
///
/// # Panics
///
/// If they are missing in CI, where the environment variable `CI` is set.
#[must_use]
pub fn reference_tables() -> Option<Vec<PathBuf>> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden");
    let found = tables_in(&golden, std::env::var_os("CI").is_some_and(|set| !set.is_empty()));
    if found.is_none() {
        #[expect(clippy::print_stderr, reason = "a skipped test prints the reason")]
        {
            eprintln!("skipped: missing: ../shared/golden beside the project");
        }
    }
    found
}

fn tables_in(golden: &Path, in_ci: bool) -> Option<Vec<PathBuf>> {
    let found = tables_below(golden);
    assert!(
        !(found.is_empty() && in_ci),
        "the reference tables are missing: CI needs them in ../shared beside the project"
    );
    (!found.is_empty()).then_some(found)
}

fn tables_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
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
/// Errors of the file system.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let tables = ["a", "b/c"].map(|name| folder.path().join(name));
        for table in &tables {
            fs::create_dir_all(table.join("_delta_log")).unwrap();
        }
        assert_eq!(tables_in(folder.path(), true).unwrap(), tables);
    }

    #[test]
    fn missing_tables_skip_a_test_outside_of_ci() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(tables_in(&folder.path().join("shared"), false), None);
        assert_eq!(tables_in(folder.path(), false), None);
    }

    #[test]
    #[should_panic(expected = "CI needs them in ../shared")]
    fn missing_tables_fail_in_ci() {
        let folder = tempfile::tempdir().unwrap();
        let _ = tables_in(folder.path(), true);
    }
}
