//! Resolves paths of the log on the table's store, and checks whether the table may read them.

use std::path::{Path as FilePath, PathBuf};

use deltaic_protocol::path_encoding::decode_path;
use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::path::Path;
use url::Url;

use super::given::uri::RemoteFolder;
use super::table_location::TableLocation;
use super::without_secrets::without_secrets;
use crate::links::{entries_of, is_link, leads_out_of, real_path};

impl TableLocation {
    /// Resolves a path of the log, before it is opened.
    ///
    /// A relative path is decoded once and must remain below the root; an absolute one must be below the root
    /// or below a root that the user allowed. Otherwise it is a `PathEscape`.
    ///
    /// Protocol: *Add File and Remove File*.
    pub fn resolve(&self, log_path: &str) -> Result<Path> {
        let escape = |why: &str| {
            Error::new(
                ErrorKind::PathEscape,
                format!("a path of the log leaves the table's folder: {why}"),
            )
            .with("path", without_secrets(log_path))
            .hint(format!(
                "if the table is a shallow clone and you trust it, open it with allowed_roots=[{:?}]",
                without_secrets(probable_root(log_path))
            ))
        };
        if let Some((scheme, rest)) = split_scheme(log_path) {
            if scheme.eq_ignore_ascii_case("file") && self.file_system.is_some() {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                return self
                    .resolve_absolute(&decode_path(path)?)
                    .ok_or_else(|| escape("it is absolute"));
            }
            let Some(remote) = &self.remote else {
                return Err(escape("it names another store"));
            };
            return match RemoteFolder::parse(log_path) {
                Some(Ok(place)) if place.is_beside(&remote.place) => {
                    let allowed = is_below(&place.root, &self.root) || self.allows(&place);
                    if allowed {
                        Ok(place.root)
                    } else {
                        Err(escape("it is absolute"))
                    }
                }
                _ => Err(escape("it names another store")),
            };
        }
        let decoded = decode_path(log_path)?;
        if decoded.starts_with('/') {
            return self
                .resolve_absolute(&decoded)
                .ok_or_else(|| escape("it is absolute"));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in decoded.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(|| {
                        escape("its .. segments leave the table")
                            .hint("no root allows this: restore the commit that names the path from a backup of the table")
                    })?;
                }
                other => parts.push(other),
            }
        }
        if parts.is_empty() {
            return Err(escape("it does not name a file")
                .hint("restore the commit that names the path from a backup of the table"));
        }
        self.below(&parts.join("/"))
    }

    /// Whether a location on the same store is below a root that the user allowed.
    fn allows(&self, place: &RemoteFolder) -> bool {
        self.allowed_roots
            .iter()
            .filter_map(|allowed| RemoteFolder::parse(allowed)?.ok())
            .any(|allowed| place.is_beside(&allowed) && is_below(&place.root, &allowed.root))
    }

    /// Verifies, without opening it, that a resolved path is a regular file and does not leave the table by a
    /// symbolic link. Opening it through the store includes this check.
    pub fn check_links(&self, log_path: &str, path: &Path) -> Result<()> {
        let Some(root) = &self.file_system else {
            return Ok(());
        };
        let file = FilePath::new("/").join(path.as_ref());
        let mut folders = vec![root.clone()];
        folders.extend(self.allowed_roots.iter().map(|allowed| allowed_folder(allowed)));
        if self.is_not_regular_file(path) {
            return Err(Error::new(
                ErrorKind::CorruptData,
                "there is no regular file at the path of a data file",
            )
            .with("path", log_path)
            .hint("restore the file from a backup of the table"));
        }
        match leads_out_of(&file, &folders) {
            None => Ok(()),
            Some(_) => Err(Error::new(
                ErrorKind::PathEscape,
                "a file of the table is a symbolic link that leaves the table's folder",
            )
            .with("path", log_path)
            .hint("if you trust its target, add that folder to allowed_roots")),
        }
    }

    /// Verifies that a file which was not found is deleted, not only unreachable: neither it nor a folder above it is a
    /// dangling symbolic link, and if it is outside of the table or below a link, its folder has other files. An
    /// unmounted folder has none. Remote stores distinguish the two themselves.
    ///
    /// # Errors
    ///
    /// `StorageError` for a file that may be unreachable.
    pub fn ensure_reachable(&self, log_path: &str, path: &Path) -> Result<()> {
        let Some(root) = &self.file_system else {
            return Ok(());
        };
        let file = FilePath::new("/").join(path.as_ref());
        let unreachable = |message: String| {
            Error::new(ErrorKind::StorageError, message)
                .with("path", without_secrets(log_path))
                .hint(
                    "mount the folder that holds the file, then retry; if the file is deleted, remove its entry in a \
                     transaction: tx.remove([path])",
                )
        };
        let is_dangling = |place: &&FilePath| is_link(place) && real_path(place).is_none();
        if let Some(link) = file.ancestors().find(is_dangling) {
            return Err(unreachable(format!(
                "a file may exist but is unreachable: {} is a symbolic link whose target does not exist",
                link.display()
            )));
        }
        let mut folders = file.ancestors().skip(1).take_while(|folder| folder != root);
        let is_elsewhere = !file.starts_with(root) || folders.any(is_link);
        let Some(folder) = file.parent().filter(|_| is_elsewhere) else {
            return Ok(());
        };
        match entries_of(folder) {
            Ok(entries) if !entries.is_empty() => Ok(()),
            Ok(_) | Err(_) => Err(unreachable(format!(
                "a file outside of the table may exist but is unreachable: the folder {} is empty or does not exist",
                folder.display()
            ))),
        }
    }

    fn resolve_absolute(&self, absolute: &str) -> Option<Path> {
        let root = self.file_system.as_deref()?;
        let wanted = without_dots(FilePath::new(absolute));
        let allowed = (wanted.starts_with(root) && wanted != root)
            || self
                .allowed_roots
                .iter()
                .any(|allowed| wanted.starts_with(allowed_folder(allowed)));
        if allowed {
            Path::from_absolute_path(&wanted).ok()
        } else {
            None
        }
    }
}

/// The root of the table to which an absolute path probably belongs: its folder without those of partitions and of change
/// data.
fn probable_root(path: &str) -> &str {
    let is_of_table = |folder: &str| folder.contains('=') || folder == "_change_data";
    let mut root = path;
    while let Some((above, _)) = root.rsplit_once('/') {
        root = above;
        if !root.rsplit('/').next().is_some_and(is_of_table) {
            break;
        }
    }
    root
}

/// Whether a path is below a folder, component by component.
fn is_below(path: &Path, folder: &Path) -> bool {
    path.prefix_matches(folder) && path != folder
}

/// Returns the folder of an allowed root, given as a path or as a `file:` URI.
pub(super) fn allowed_folder(allowed: &str) -> PathBuf {
    let of_uri = split_scheme(allowed)
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("file"))
        .and_then(|_| Url::parse(allowed).ok()?.to_file_path().ok());
    let folder = of_uri.unwrap_or_else(|| PathBuf::from(allowed));
    without_dots(&std::path::absolute(&folder).unwrap_or(folder))
}

pub(super) fn split_scheme(path: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = path.split_once(':')?;
    // `time=03:06/x` is relative: a scheme consists of letters, digits, `+`, `-` and `.`, and is followed by
    // a slash.
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && rest.starts_with('/');
    is_scheme.then_some((scheme, rest))
}

pub(super) fn without_dots(path: &FilePath) -> PathBuf {
    use std::path::Component;
    let mut kept = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                kept.pop();
            }
            other => kept.push(other),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_cannot_be_reports_no_query() -> Result<()> {
        let table = TableLocation::parse("/data/t", Vec::new())?;
        for path in ["a\0b?sig=Signature", "a%FF?sig=Signature"] {
            let error = table.resolve(path).err();
            assert_eq!(
                error.as_ref().map(Error::kind),
                Some(ErrorKind::CorruptLog),
                "{path}"
            );
            assert!(
                !error.is_some_and(|error| format!("{error:?}").contains("Signature")),
                "{path}"
            );
        }
        Ok(())
    }

    #[test]
    fn log_paths_remain_below_the_root() -> Result<()> {
        let table = TableLocation::parse("/data/my table", vec!["/shared/clones".to_owned()])?;
        assert_eq!(table.uri(), "file:///data/my%20table/");
        for (path, expected) in [
            ("a.parquet", "data/my table/a.parquet"),
            ("s=a%252Fb/x%20y.parquet", "data/my table/s=a%2Fb/x y.parquet"),
            ("./a//b/../c.parquet", "data/my table/a/c.parquet"),
            ("time=03:06/x.parquet", "data/my table/time=03:06/x.parquet"),
            ("/data/my%20table/a.parquet", "data/my table/a.parquet"),
            ("file:///data/my%20table/a.parquet", "data/my table/a.parquet"),
            ("file:/shared/clones/a.parquet", "shared/clones/a.parquet"),
        ] {
            assert_eq!(table.resolve(path)?.as_ref(), expected, "{path}");
        }
        for path in [
            "../a.parquet",
            "a/../../b.parquet",
            "%2e%2e/a.parquet",
            "/etc/passwd",
            "/data/my%20table/../x",
            "/data/my%20tables/x",
            "/data/my%20table",
            "file:///data/my%20table/",
            "file:///etc/passwd",
            "s3://bucket/key?X-Amz-Signature=abc",
            "https://user:Signature@host/x",
            "http://host/x",
            "",
            "a/..",
        ] {
            let error = table.resolve(path).err();
            assert_eq!(
                error.as_ref().map(Error::kind),
                Some(ErrorKind::PathEscape),
                "{path}"
            );
            assert!(
                !error.is_some_and(|error| error.to_string().contains("Signature")),
                "{path}"
            );
        }
        Ok(())
    }
}
