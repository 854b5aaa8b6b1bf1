//! Looks up the lengths of a local table's data files, for a reader that needs them in advance.

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::path::Path;

use super::table_location::TableLocation;
use super::without_secrets::without_secrets;
use crate::in_parallel::{compute, in_parallel};
use crate::links::{is_link, length_of_file, real_path};

/// How many files a thread processes per task.
const TOGETHER: usize = 4_096;
/// How many tasks run concurrently.
const AT_ONCE: usize = 8;

impl TableLocation {
    /// Returns the lengths of data files, which are given as in the log and as resolved by [`Self::resolve`];
    /// `None` if the table is not local. A file that is missing, empty or not a regular file is
    /// `CorruptData`; one that leaves the table by a symbolic link is a `PathEscape`. Must be called inside a
    /// runtime.
    pub async fn lengths_of_files(self: &Arc<Self>, files: Vec<(String, Path)>) -> Result<Option<Vec<u64>>> {
        if self.file_system.is_none() {
            return Ok(None);
        }
        let files = Arc::new(files);
        let parts = (0..files.len()).step_by(TOGETHER).map(|from| {
            let (location, files) = (Arc::clone(self), Arc::clone(&files));
            async move {
                compute(move || {
                    let until = from.saturating_add(TOGETHER).min(files.len());
                    location.measure(files.get(from..until).unwrap_or_default())
                })
                .await
            }
        });
        let lengths = in_parallel(parts, AT_ONCE).await?;
        Ok(Some(lengths.into_iter().flatten().collect()))
    }

    fn measure(&self, files: &[(String, Path)]) -> Result<Vec<u64>> {
        // Files of one folder are usually adjacent: whether a link leaves the table is checked once per
        // folder.
        let mut folders: BTreeMap<PathBuf, bool> = BTreeMap::new();
        let measured = files.iter().map(|(log_path, path)| {
            let file = FilePath::new("/").join(path.as_ref());
            let folder = file.parent().unwrap_or_else(|| FilePath::new("/"));
            let is_where_it_seems = match folders.get(folder) {
                Some(known) => *known,
                None => {
                    let found = real_path(folder).is_none_or(|real| real == folder);
                    folders.insert(folder.to_path_buf(), found);
                    found
                }
            };
            if !is_where_it_seems || is_link(&file) {
                self.check_links(log_path, path)?;
            }
            length(log_path, &file)
        });
        measured.collect()
    }
}

fn length(log_path: &str, file: &FilePath) -> Result<u64> {
    let why = match length_of_file(file) {
        Ok(Some(0)) => "is empty".to_owned(),
        Ok(Some(length)) => return Ok(length),
        Ok(None) => "is not a regular file".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            "is missing, but the log references it".to_owned()
        }
        Err(error) => format!("cannot be opened: {error}"),
    };
    let shown = without_secrets(log_path);
    Err(
        Error::new(ErrorKind::CorruptData, format!("data file {shown} {why}"))
            .with("path", shown)
            .hint("restore the file, or read a version that does not contain it"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(folder: &FilePath) -> Result<Arc<TableLocation>> {
        let uri = folder.to_string_lossy();
        Ok(Arc::new(TableLocation::parse(&uri, Vec::new())?))
    }

    fn measured(location: &Arc<TableLocation>, paths: &[&str]) -> Result<Option<Vec<u64>>> {
        let files = paths
            .iter()
            .map(|path| Ok(((*path).to_owned(), location.resolve(path)?)));
        let files = files.collect::<Result<_>>()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().build();
        runtime
            .expect("a runtime")
            .block_on(location.lengths_of_files(files))
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the tested code reads the file system, not a store"
    )]
    fn lengths_are_returned_and_missing_files_reported() -> Result<()> {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("p=1")).expect("made");
        std::fs::write(at("p=1/a"), b"12345").expect("written");
        std::fs::write(at("b"), b"1").expect("written");
        std::fs::write(at("empty"), b"").expect("written");
        let location = table(folder.path())?;
        assert_eq!(measured(&location, &["p%3D1/a", "b"])?, Some(vec![5, 1]));
        for (path, message) in [
            ("empty", "is empty"),
            ("gone", "is missing"),
            ("p=1", "not a regular file"),
        ] {
            let error = measured(&location, &["b", path]).expect_err(path);
            assert_eq!(error.kind(), ErrorKind::CorruptData);
            assert!(error.to_string().contains(message), "{error}");
        }
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the tested code reads the file system, not a store"
    )]
    fn no_link_leads_out() -> Result<()> {
        let outside = tempfile::tempdir().expect("a folder");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(outside.path().join("secret"), b"1").expect("written");
        std::fs::write(folder.path().join("a"), b"12").expect("written");
        let link = |from: &FilePath, to: &str| {
            std::os::unix::fs::symlink(from, folder.path().join(to)).expect("linked");
        };
        link(&outside.path().join("secret"), "file");
        link(outside.path(), "folder");
        link(&folder.path().join("a"), "inside");
        let location = table(folder.path())?;
        assert_eq!(measured(&location, &["inside"])?, Some(vec![2]));
        for path in ["file", "folder/secret"] {
            let error = measured(&location, &[path]).expect_err(path);
            assert_eq!(error.kind(), ErrorKind::PathEscape, "{path}");
        }
        Ok(())
    }

    #[test]
    fn elsewhere_nothing_is_measured() -> Result<()> {
        let location = Arc::new(TableLocation::parse("memory:///t", Vec::new())?);
        assert_eq!(measured(&location, &["gone"])?, None);
        Ok(())
    }
}
