//! A file with copied chunks that is being written.

use super::copy_source::CopySource;
use crate::write::data_file::DataFile;

/// A file with copied chunks.
pub(in crate::write) struct FileCopy {
    pub(in crate::write) source: CopySource,
    /// The new file; `None` before its first rows.
    pub(in crate::write) file: Option<DataFile>,
}
