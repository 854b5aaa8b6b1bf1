//! What the attempts of a verb wrote: the next attempt adds files again if it would write the same rows.

use std::collections::HashMap;

use deltaic_log::transaction::{Output, PreviousAttempt};
use deltaic_protocol::Error;

use super::TableTransaction;
use crate::rows::written::{RowsToWrite, WrittenFiles};

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
    rows: Vec<(RowsToWrite, WrittenFiles)>,
    pub(crate) statistics: KnownStatistics,
}

/// An attempt that conflicted.
#[derive(Debug)]
pub(crate) struct EarlierAttempt {
    /// The conflict.
    pub(crate) conflict: Error,
    /// The new files whose inputs are unchanged, in a table with the same configuration.
    pub(crate) reusable: Vec<Output>,
    /// The number of rows in them, if they contain only new rows.
    pub(crate) new_rows: u64,
    rows: Vec<(RowsToWrite, WrittenFiles)>,
    pub(crate) statistics: KnownStatistics,
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

impl TableTransaction {
    /// The files that the attempt before wrote for these rows, if it did, and if they are valid with the metadata of this
    /// attempt: an earlier step of it may have given the next values of identity columns.
    pub(crate) fn written_before(&self, rows: &RowsToWrite) -> Option<WrittenFiles> {
        if self.staged.evolved.is_some() {
            return None;
        }
        let mut earlier = self.attempts.earlier.iter().flat_map(|attempt| &attempt.rows);
        earlier
            .find(|(written, _)| written == rows)
            .map(|(_, files)| files.clone())
    }

    /// Records files for the next attempt. Those that are valid only with metadata of this attempt are not.
    pub(crate) fn record_written(&mut self, rows: RowsToWrite, files: &WrittenFiles) {
        if self.staged.evolved.is_none() {
            self.attempts.now.rows.push((rows, files.clone()));
        }
    }
}
