//! What the attempts of a verb wrote: the next attempt adds files again if it would write the same rows.

use std::collections::HashMap;

use deltaic_log::transaction::{Output, PreviousAttempt};
use deltaic_protocol::Error;

use crate::rows::written::{RowsOfFile, RowsToWrite, WrittenFiles};

/// Computed statistics by file and deletion vector.
pub(crate) type KnownStatistics = HashMap<String, String>;

/// What the attempts of one verb wrote.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    /// The attempt before, which conflicted.
    pub(crate) earlier: Option<EarlierAttempt>,
    /// What this attempt wrote.
    pub(crate) now: AttemptFiles,
}

/// The files of an attempt.
#[derive(Debug, Default)]
pub(crate) struct AttemptFiles {
    /// New files whose inputs are named.
    pub(crate) outputs: Vec<Output>,
    /// The number of rows in them, if they contain only new rows.
    pub(crate) new_rows: u64,
    /// New versions, copies and changes of rows.
    pub(super) rows: Vec<(RowsToWrite, WrittenFiles)>,
    pub(crate) statistics: KnownStatistics,
}

/// An attempt that conflicted.
#[derive(Debug)]
pub struct EarlierAttempt {
    /// The conflict.
    pub(crate) conflict: Error,
    /// The new files whose inputs are unchanged, in a table with the same configuration.
    pub(crate) reusable: Vec<Output>,
    /// The number of rows in them, if they contain only new rows.
    pub(crate) new_rows: u64,
    pub(super) rows: Vec<(RowsToWrite, WrittenFiles)>,
    pub(crate) statistics: KnownStatistics,
}

impl Attempts {
    /// The parts of plans that the attempt before wrote: what determines their rows, and the files.
    pub(super) fn written_parts(&self) -> Vec<(&[RowsOfFile], &WrittenFiles)> {
        let rows = self.earlier.iter().flat_map(|attempt| &attempt.rows);
        let parts = rows.filter_map(|(rows, files)| match rows {
            RowsToWrite::OfFiles(rows) => Some((rows.as_slice(), files)),
            RowsToWrite::Inserted { .. } => None,
        });
        parts.collect()
    }
}

impl EarlierAttempt {
    /// What of the files of an attempt the next one may add again.
    pub(crate) fn new(previous: &PreviousAttempt, files: AttemptFiles) -> Self {
        let files = match previous.is_same_configuration() {
            true => files,
            false => AttemptFiles::default(),
        };
        Self {
            conflict: previous.conflict().clone(),
            reusable: previous.reusable().cloned().collect(),
            new_rows: files.new_rows,
            rows: files.rows,
            statistics: files.statistics,
        }
    }
}
