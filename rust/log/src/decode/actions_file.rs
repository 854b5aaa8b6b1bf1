//! A Parquet file of actions, and positions in it.

use std::sync::Arc;

use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use deltaic_storage::ParquetFile;

/// A file of actions with its footer.
#[derive(Debug)]
pub struct ActionsFile {
    pub(super) reader: ParquetFile,
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) relative: String,
}

/// The position of a batch in a file of actions, to read other columns of the same rows later.
#[derive(Clone, Debug)]
pub struct RowGroupPlace {
    /// The file.
    pub file: Arc<ActionsFile>,
    /// The row group.
    pub group: usize,
    /// Index of the batch within the row group, in batches of replay's size.
    pub ordinal: usize,
}
