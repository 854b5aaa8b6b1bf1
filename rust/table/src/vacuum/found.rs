//! The files that a vacuum finds.

/// A file that a vacuum deletes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileToDelete {
    /// Path relative to the table's root, not URI-encoded.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether it is an incomplete upload to a local disk, which the store cannot delete.
    pub(super) is_upload: bool,
}

impl FileToDelete {
    pub(super) fn of(path: String, bytes: u64) -> Self {
        Self {
            path,
            bytes,
            is_upload: false,
        }
    }
}

/// Files that are not needed.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<FileToDelete>,
    /// The number of folders that were examined.
    pub(super) folders: usize,
}
