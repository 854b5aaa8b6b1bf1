//! Finds the files of the table's folder that are not needed.

use std::collections::{BTreeSet, HashSet};

use deltaic_log::progress::{Progress, Stage};
use deltaic_protocol::Result;
use deltaic_storage::{TableLocation, store_error};
use futures::StreamExt;

use super::found::{FileToDelete, Found};
use super::hidden::{Hidden, inner_table};
use super::needed::Needed;
use super::paths::relative_to;

/// Lists the table, and returns the files that are not needed and were last modified before `cutoff_ms`, and the folders
/// of inner tables, whose files may be among them.
///
/// # Errors
///
/// `StorageError` if the table cannot be listed.
pub(super) async fn listed(
    location: &TableLocation,
    hidden: &Hidden,
    needed: &Needed,
    cutoff_ms: i64,
    progress: &Progress,
) -> Result<(Found, BTreeSet<String>)> {
    progress.begin(Stage::Files, 0);
    let root = location.root();
    let mut found = Found::default();
    let mut inner_tables: BTreeSet<String> = BTreeSet::new();
    let mut folders: HashSet<String> = HashSet::new();
    let mut objects = location.store().list(Some(root));
    while let Some(object) = objects.next().await {
        let object = object.map_err(|error| store_error(&error, location.uri()))?;
        progress.step();
        let Some(relative) = relative_to(root, &object.location) else {
            continue;
        };
        if let Some(inner) = inner_table(&relative) {
            if !inner_tables.contains(inner) {
                inner_tables.insert(inner.to_owned());
            }
            continue;
        }
        if hidden.hides(&relative) {
            continue;
        }
        if let Some((folder, _)) = relative.rsplit_once('/')
            && !folders.contains(folder)
        {
            folders.insert(folder.to_owned());
        }
        let is_old = object.last_modified.timestamp_millis() < cutoff_ms;
        if !is_old || needed.contains(&relative) || is_folder_marker(location, &relative, object.size) {
            continue;
        }
        found.files.push(FileToDelete::of(relative, object.size));
    }
    found.folders = folders.len().saturating_add(1);
    Ok((found, inner_tables))
}

/// Whether an object represents a folder: some clients create empty objects named like folders.
fn is_folder_marker(location: &TableLocation, relative: &str, size: u64) -> bool {
    let name = relative.rsplit('/').next().unwrap_or_default();
    location.file_system().is_none() && size == 0 && (name.contains('=') || !name.contains('.'))
}
