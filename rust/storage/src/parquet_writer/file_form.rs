//! How a Parquet file is encoded.

use parquet::file::properties::WriterProperties;

/// How a file is encoded.
#[derive(Clone, Debug)]
pub struct FileForm {
    /// The properties of its columns and pages.
    pub properties: WriterProperties,
    /// The maximum number of rows of a row group.
    pub row_group_rows: usize,
    /// The encoded size at which a row group ends, which bounds the memory of the file.
    pub row_group_bytes: usize,
    /// For each column, whether its chunks are copied from another file. Then row groups end only where the caller says.
    pub is_copied: Vec<bool>,
}
