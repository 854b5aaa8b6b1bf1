//! What determines the rows that a verb writes, and the files with them.

use std::sync::Arc;

use deltaic_protocol::actions::{Add, Cdc};
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor};

use crate::write::Written;

/// What determines the rows that a verb writes: its request and the configuration of the table are the same in all of
/// its attempts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowsToWrite {
    /// New versions, copies and changes of rows of the table.
    OfFiles(Vec<RowsOfFile>),
    /// The rows of the source that a clause of a merge inserts.
    Inserted {
        clause: usize,
        rows: Arc<[u32]>,
        with_feed: bool,
    },
}

/// Rows of a live file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowsOfFile {
    path: String,
    vector: Option<Descriptor>,
    /// The rows that change; `None` for all.
    changed: Option<Bitmap>,
    is_rewritten: bool,
}

/// The files with the rows of one step of a verb.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenFiles {
    pub(crate) written: Written,
    /// The number of rows that were copied unchanged.
    pub(crate) copied: u64,
    pub(crate) changes: Vec<Cdc>,
}

impl WrittenFiles {
    /// The number of new versions of rows.
    pub(crate) fn new_versions(&self) -> u64 {
        self.written.rows.saturating_sub(self.copied)
    }
}

impl RowsOfFile {
    pub(super) fn of(add: &Add, changed: Option<Bitmap>, is_rewritten: bool) -> Self {
        Self {
            path: add.path.clone(),
            vector: add.deletion_vector.clone(),
            changed,
            is_rewritten,
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }
}
