//! Columnar file actions of one source, with their origin for reconciliation and statistics.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow_array::RecordBatch;
use deltaic_protocol::actions::columns::KeyColumns;
use deltaic_protocol::{Result, Version};

use super::actions_file::RowGroupPlace;
use super::columns_builder::StatisticsPlaces;
use crate::listing::LogFile;

/// One random seed per process, since hashes of several batches are compared; random so that no log can be
/// crafted to collide.
static SEED: LazyLock<foldhash::quality::RandomState> =
    LazyLock::new(foldhash::quality::RandomState::default);

/// Rows of a batch from one log file.
#[derive(Clone, Debug)]
pub struct Span {
    /// The file.
    pub file: Arc<LogFile>,
    /// The version of the actions; for a compaction file its last version.
    pub version: Version,
    /// The rows.
    pub rows: Range<usize>,
}

/// Where the statistics of a batch's rows are, since loading does not read them.
#[derive(Clone, Debug)]
pub enum StatisticsSource {
    /// Removes have no statistics.
    None,
    /// At positions in the log files of the spans.
    Lines(Arc<StatisticsPlaces>),
    /// In a row group of a checkpoint.
    RowGroup(RowGroupPlace),
}

/// A batch of adds or of removes.
#[derive(Clone, Debug)]
pub struct FileBatch {
    /// The actions: [`deltaic_protocol::actions::columns::add_schema`] or
    /// [`deltaic_protocol::actions::columns::remove_schema`].
    pub batch: RecordBatch,
    /// The keys of the logical files.
    pub keys: KeyColumns,
    /// A hash of each key, comparable with those of other batches of this process; for a row without a
    /// deletion vector it is that of its path.
    pub hashes: Vec<u32>,
    /// The log files of the rows; rows of a Parquet checkpoint have no span.
    pub spans: Vec<Span>,
    /// Where the statistics are.
    pub statistics: StatisticsSource,
}

impl FileBatch {
    /// Creates a batch and hashes its keys.
    pub fn try_new(batch: RecordBatch, spans: Vec<Span>, statistics: StatisticsSource) -> Result<Self> {
        let keys = KeyColumns::of(&batch)?;
        let hashes = (0..keys.len())
            .map(|row| short_hash(keys.hash(row, &*SEED)))
            .collect();
        Ok(Self {
            batch,
            keys,
            hashes,
            spans,
            statistics,
        })
    }

    /// Returns a hash of a row's path, independent of its deletion vector.
    #[must_use]
    pub fn path_hash(&self, row: usize) -> u32 {
        short_hash(self.keys.path_hash(row, &*SEED))
    }

    /// The log file of a row; `None` for a row of a Parquet checkpoint.
    #[must_use]
    pub fn file_of(&self, row: usize) -> Option<&Arc<LogFile>> {
        let span = self.spans.iter().find(|span| span.rows.contains(&row));
        span.map(|span| &span.file)
    }

    /// Number of actions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Whether there are no actions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Truncates a hash to four bytes: enough to skip nearly all other keys without comparing their text.
#[expect(clippy::cast_possible_truncation, reason = "the lower 32 bits are the hash")]
fn short_hash(hash: u64) -> u32 {
    hash as u32
}
