//! A file with copied chunks that is being written.

use super::copy_source::CopySource;
use super::data_file::DataFile;

/// A file with copied chunks.
pub(super) struct FileCopy {
    pub(super) source: CopySource,
    /// The new file; `None` before its first rows.
    pub(super) file: Option<DataFile>,
}
