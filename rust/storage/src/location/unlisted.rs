//! What a local folder contains and the store does not list: without this, its rows would be left out silently.
#![expect(
    clippy::disallowed_methods,
    reason = "what the store does not list is visible only in the file system"
)]

use std::fs;
use std::path::Path;

use deltaic_protocol::Result;
use object_store::path::Path as StorePath;

use super::local_listing::is_unfinished_upload;
use super::table_location::TableLocation;
use crate::in_parallel::compute;
use crate::store_error::io_error;

impl TableLocation {
    /// Finds an entry of a local folder, or of a folder in it, that the store's listing leaves out: a symbolic link to a
    /// folder, or a file or folder with a name that the store does not address (one with a control character, one that
    /// is not UTF-8, one that ends in `#` and digits as incomplete uploads do). Returns its path relative to the root;
    /// `None` if there is none, or the location is not local.
    ///
    /// Entries with a name for which `is_hidden` is true (its second argument: whether it is a folder) are omitted, with
    /// everything in them.
    ///
    /// # Errors
    ///
    /// `StorageError` if a folder cannot be listed.
    pub async fn unlisted_entry(
        &self,
        is_hidden: impl Fn(&str, bool) -> bool + Send + 'static,
    ) -> Result<Option<String>> {
        let Some(root) = self.file_system.clone() else {
            return Ok(None);
        };
        compute(move || first_unlisted(&root, &is_hidden)).await
    }
}

fn first_unlisted(root: &Path, is_hidden: &dyn Fn(&str, bool) -> bool) -> Result<Option<String>> {
    let mut pending = vec![String::new()];
    while let Some(folder) = pending.pop() {
        let failed = |error: std::io::Error| io_error(&error, &folder);
        let entries = match fs::read_dir(root.join(&folder)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let is_linked_folder = kind.is_symlink() && entry.path().is_dir();
            if is_hidden(&shown, kind.is_dir() || is_linked_folder) {
                continue;
            }
            let relative = match folder.as_str() {
                "" => shown.clone().into_owned(),
                folder => format!("{folder}/{shown}"),
            };
            let is_addressed = name.to_str().is_some_and(|name| StorePath::parse(name).is_ok());
            if is_linked_folder || !is_addressed || (!kind.is_dir() && is_unfinished_upload(&shown)) {
                return Ok(Some(relative));
            }
            if kind.is_dir() {
                pending.push(relative);
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_the_store_does_not_list_are_found() {
        let hidden = |name: &str, _: bool| name.starts_with('_');
        for (name, expected) in [
            ("x/a.parquet", None),
            ("x/a\n.parquet", Some("x/a\n.parquet")),
            ("x/a.parquet#12", Some("x/a.parquet#12")),
            ("a\n/b", Some("a\n")),
            ("_x/a\n", None),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
            fs::write(&file, b"x").expect("a file");
            let found = first_unlisted(root.path(), &hidden).expect("a walk");
            assert_eq!(found.as_deref(), expected, "{name:?}");
        }
        let nothing = first_unlisted(Path::new("/nothing/here"), &hidden).expect("a walk");
        assert_eq!(nothing, None);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_found_and_links_to_files_are_not() {
        let root = tempfile::tempdir().expect("a folder");
        let place = |name: &str| root.path().join(name);
        fs::create_dir(place("_real")).expect("a folder");
        fs::write(place("_real/a"), b"x").expect("a file");
        std::os::unix::fs::symlink(place("_real/a"), place("a")).expect("a link");
        let hidden = |name: &str, _: bool| name.starts_with('_');
        assert_eq!(first_unlisted(root.path(), &hidden).expect("a walk"), None);
        std::os::unix::fs::symlink(place("_real"), place("b")).expect("a link");
        let found = first_unlisted(root.path(), &hidden).expect("a walk");
        assert_eq!(found.as_deref(), Some("b"));
    }
}
