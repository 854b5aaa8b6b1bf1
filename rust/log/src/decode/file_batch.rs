//! File actions of one source in columns, with what reconciliation and statistics need to come back to them.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow_array::RecordBatch;
use deltaic_protocol::actions::columns::KeyColumns;
use deltaic_protocol::{Result, Version};

use super::checkpoint::RowGroupPlace;
use super::columns_builder::StatisticsPlaces;
use crate::listing::LogFile;

/// One seed a process, since hashes of several batches are compared; not known outside, so that no log can be made to
/// collide.
static SEED: LazyLock<foldhash::quality::RandomState> =
    LazyLock::new(foldhash::quality::RandomState::default);

/// Rows of a batch that one log file holds.
#[derive(Clone, Debug)]
pub struct Span {
    /// The file.
    pub file: Arc<LogFile>,
    /// The version whose word the rows are; of a compaction file its last.
    pub version: Version,
    /// The rows.
    pub rows: Range<usize>,
}

/// Where the statistics of a batch's rows are to be read, since opening leaves them there.
#[derive(Clone, Debug)]
pub enum StatisticsSource {
    /// Removes have none.
    None,
    /// At places of the log files that the spans name.
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
    /// A hash of each key, comparable with those of other batches of this process; of a row without a deletion vector it
    /// is that of its path.
    pub hashes: Vec<u32>,
    /// Which rows are of which log file; rows of a checkpoint in Parquet have no span.
    pub spans: Vec<Span>,
    /// Where the statistics are.
    pub statistics: StatisticsSource,
}

impl FileBatch {
    /// Takes a batch and hashes its keys.
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

    /// A hash of a row's path, whatever its deletion vector.
    #[must_use]
    pub fn path_hash(&self, row: usize) -> u32 {
        short_hash(self.keys.path_hash(row, &*SEED))
    }

    /// The log file that holds a row; none for a row of a checkpoint in Parquet.
    #[must_use]
    pub fn file_of(&self, row: usize) -> Option<&Arc<LogFile>> {
        let span = self.spans.iter().find(|span| span.rows.contains(&row));
        span.map(|span| &span.file)
    }

    /// How many actions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Four bytes a row are kept: enough to leave nearly all strangers alone without looking at their text.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn short_hash(hash: u64) -> u32 {
    hash as u32
}
