//! A data file whose footer was read, with the row groups that remain after pruning.

use std::collections::BTreeSet;
use std::sync::Arc;

use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use super::file_plan::FilePlan;
use crate::read::parquet::footer::Footer;
use crate::read::parquet::page_guard::Packing;
use crate::read::parquet::read_buffers::ReadBuffers;
use crate::read::pruning::selection::Group;

/// A file that is ready to be read.
pub(crate) struct OpenFile {
    pub(crate) plan: Arc<FilePlan>,
    pub(crate) footer: Footer,
    pub(crate) arrow: ArrowReaderMetadata,
    /// The row groups of each read unit.
    pub(crate) units: Vec<Vec<Group>>,
    pub(crate) limit: Option<usize>,
    pub(crate) buffers: ReadBuffers,
    pub(crate) packing: Packing,
    /// The offsets of pages in the page index that was read.
    pub(crate) indexed: Arc<BTreeSet<u64>>,
}
