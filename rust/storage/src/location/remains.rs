//! What a vacuum finds in a local table's folder besides the files that the store lists: folders, incomplete uploads of
//! interrupted writers, and symbolic links.
#![expect(
    clippy::disallowed_methods,
    reason = "the store neither lists nor deletes folders and incomplete uploads"
)]

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use deltaic_protocol::Result;

use super::local_listing::is_unfinished_upload;
use super::resolve::without_dots;
use super::table_location::TableLocation;
use crate::in_parallel::compute;
use crate::links::{is_link, is_possible_time, real_path};
use crate::store_error::io_error;

/// Folders, incomplete uploads and links below a local table's root. Paths are relative to it, times in milliseconds
/// since the epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalRemains {
    /// The folders and their modification times; each before those inside it.
    pub folders: Vec<(String, i64)>,
    /// The incomplete uploads, their sizes and modification times.
    pub uploads: Vec<(String, u64, i64)>,
    /// Whether there is a symbolic link: two paths may name one file.
    pub has_links: bool,
}

impl TableLocation {
    /// Finds the folders, incomplete uploads and links of a local table; `None` for other tables. Folders for which
    /// `enters` is false are omitted with everything in them, and links are not followed.
    ///
    /// # Errors
    ///
    /// `StorageError` if a folder cannot be listed.
    pub async fn local_remains(
        &self,
        enters: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<Option<LocalRemains>> {
        let Some(root) = self.file_system.clone() else {
            return Ok(None);
        };
        compute(move || walk(&root, &enters).map(Some)).await
    }

    /// The path relative to the root to which an absolute path, or one relative to the root, leads after symbolic links are
    /// resolved; `None` if it is outside of the root, or the table is not local. The path, or its last parts, need not
    /// exist.
    #[must_use]
    pub fn real_relative(&self, path: &str) -> Option<String> {
        let root = self.file_system.as_deref()?;
        let place = without_dots(&root.join(path));
        let real = place.ancestors().find_map(|above| {
            let below = place.strip_prefix(above).ok()?;
            // Joining an empty path would append a slash.
            real_path(above).map(|real| real.components().chain(below.components()).collect::<PathBuf>())
        })?;
        let below = real.strip_prefix(real_path(root)?).ok()?;
        below.to_str().map(str::to_owned)
    }

    /// Whether a path relative to the root of a local table is a symbolic link, or below one.
    #[must_use]
    pub fn is_linked(&self, relative: &str) -> bool {
        self.file_system.as_deref().is_some_and(|root| {
            let file = root.join(relative);
            let mut places = file.ancestors().take_while(|place| *place != root);
            places.any(is_link)
        })
    }

    /// Deletes an incomplete upload. Returns whether it existed.
    ///
    /// # Errors
    ///
    /// `StorageError`.
    pub async fn remove_upload(self: &Arc<Self>, relative: String) -> Result<bool> {
        let location = Arc::clone(self);
        compute(move || {
            let Some(root) = &location.file_system else {
                return Ok(false);
            };
            match fs::remove_file(root.join(&relative)) {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                Err(error) => Err(io_error(&error, &relative)),
            }
        })
        .await
    }

    /// Deletes the hidden checksum files that some file systems keep beside each of the given deleted files of a local
    /// table: that of `x` is `.x.crc`. Failures are ignored.
    ///
    /// # Errors
    ///
    /// `Internal` only.
    pub async fn remove_checksums_of(self: &Arc<Self>, deleted: Vec<String>) -> Result<()> {
        let Some(root) = self.file_system.clone() else {
            return Ok(());
        };
        compute(move || {
            for relative in &deleted {
                let (folder, name) = relative.rsplit_once('/').unwrap_or(("", relative));
                // Most files have none.
                let _ = fs::remove_file(root.join(folder).join(format!(".{name}.crc")));
            }
            Ok(())
        })
        .await
    }

    /// Removes those of the given folders of a local table that are empty, the last ones first. Returns how many of
    /// them do not exist any more.
    ///
    /// # Errors
    ///
    /// `Internal` only.
    pub async fn remove_empty_folders(self: &Arc<Self>, folders: Vec<String>) -> Result<usize> {
        let Some(root) = self.file_system.clone() else {
            return Ok(0);
        };
        compute(move || {
            let is_gone = |folder: &&String| {
                let place = root.join(folder);
                // A folder that is not empty remains.
                fs::remove_dir(&place).is_ok() || fs::symlink_metadata(&place).is_err()
            };
            Ok(folders.iter().rev().filter(is_gone).count())
        })
        .await
    }
}

fn walk(root: &Path, enters: &dyn Fn(&str) -> bool) -> Result<LocalRemains> {
    let mut remains = LocalRemains::default();
    let mut pending = vec![String::new()];
    while let Some(folder) = pending.pop() {
        let failed = |error: std::io::Error| io_error(&error, &folder);
        let entries = match fs::read_dir(root.join(&folder)) {
            // Another client removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            // No file of a table has a name that is not UTF-8.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let relative = match folder.as_str() {
                "" => name,
                folder => format!("{folder}/{name}"),
            };
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_symlink() {
                remains.has_links = true;
            } else if kind.is_dir() {
                if enters(&relative) {
                    if let Some((_, modified_ms)) = described(entry.metadata()) {
                        remains.folders.push((relative.clone(), modified_ms));
                    }
                    pending.push(relative);
                }
            } else if kind.is_file()
                && relative.rsplit('/').next().is_some_and(is_unfinished_upload)
                && let Some((size, modified_ms)) = described(entry.metadata())
            {
                remains.uploads.push((relative, size, modified_ms));
            }
        }
    }
    Ok(remains)
}

/// Size and modification time; `None` if the file was deleted or has no possible time.
fn described(found: std::io::Result<Metadata>) -> Option<(u64, i64)> {
    let found = found.ok()?;
    let modified = found.modified().ok().filter(|time| is_possible_time(*time))?;
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some((found.len(), i64::try_from(since.as_millis()).ok()?))
}
