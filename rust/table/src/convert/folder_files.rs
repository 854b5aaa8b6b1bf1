//! Lists the data files of a folder that is not a table yet.

use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::{TableLocation, store_error};
use futures::TryStreamExt;

/// A file to convert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FolderFile {
    /// The path relative to the folder, not encoded.
    pub(super) relative: String,
    pub(super) size: i64,
    /// Milliseconds since the epoch.
    pub(super) modified_ms: i64,
}

/// Returns the files of a folder and its folders, sorted by path, without hidden ones.
///
/// # Errors
///
/// `InvalidArgument` if there is none, if there is another table, or if there is a file that the store does not list;
/// `StorageError`.
pub(super) async fn files_of(location: &TableLocation) -> Result<Vec<FolderFile>> {
    if let Some(unlisted) = location.unlisted_entry(is_left_out).await? {
        return Err(
            invalid("the folder contains a link to a folder, or a name that tables cannot refer to")
                .with("path", unlisted)
                .hint("rename it or move it out of the folder; a link: replace it by the folder itself"),
        );
    }
    let root = location.root();
    let mut files = Vec::new();
    let mut objects = location.store().list(Some(root));
    while let Some(object) = objects
        .try_next()
        .await
        .map_err(|error| store_error(&error, location.uri()))?
    {
        let Some(parts) = object.location.prefix_match(root) else {
            continue;
        };
        let parts: Vec<_> = parts.collect();
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        let relative = parts.join("/");
        if let Some(at) = parts
            .iter()
            .position(|part| *part == LOG_FOLDER)
            .filter(|at| *at > 0)
        {
            let inner = parts.get(..at).unwrap_or_default().join("/");
            return Err(invalid("the folder contains another Delta table")
                .with("path", inner)
                .hint("move that table out of the folder, or convert another folder"));
        }
        let Some((name, folders)) = parts.split_last() else {
            continue;
        };
        let is_marker = object.size == 0 && location.file_system().is_none() && !name.contains('.');
        let is_in_hidden = folders.iter().any(|folder| is_left_out(folder, true));
        if is_marker || is_in_hidden || is_left_out(name, false) {
            continue;
        }
        files.push(FolderFile {
            relative,
            size: i64::try_from(object.size).unwrap_or(i64::MAX),
            modified_ms: object.last_modified.timestamp_millis(),
        });
    }
    if files.is_empty() {
        return Err(invalid("there is no Parquet file to convert")
            .hint("check the location; to create an empty table, use Table.create"));
    }
    files.sort_by(|left, right| left.relative.cmp(&right.relative));
    Ok(files)
}

/// Whether Spark does not read a file or folder with such a name.
fn is_left_out(name: &str, is_folder: bool) -> bool {
    name.starts_with(['_', '.']) && !(is_folder && name.contains('='))
}

fn invalid(what: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, what)
}
