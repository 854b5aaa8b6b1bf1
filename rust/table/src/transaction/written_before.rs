//! Files that an earlier attempt of a verb wrote: the next attempt adds them again if it would write the same rows.

use std::sync::Arc;

use deltaic_protocol::actions::{Add, Cdc};
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor};

use super::TableTransaction;
use super::delete_plan::DeletePlan;
use crate::write::Written;

/// The files of the attempts of one verb, for one configuration of the table.
#[derive(Debug, Default)]
pub(super) struct AttemptFiles {
    /// Those of the attempt before, which conflicted.
    pub(super) earlier: Vec<RewrittenOnce>,
    /// Those of this attempt.
    pub(super) now: Vec<RewrittenOnce>,
}

/// Files, and what determines their rows.
#[derive(Debug)]
pub(super) struct RewrittenOnce {
    rows: RowsToWrite,
    files: WrittenFiles,
}

/// What determines the rows that a verb writes: its request and the configuration of the table are the same in all of
/// its attempts.
#[derive(Debug, PartialEq)]
pub(super) enum RowsToWrite {
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
#[derive(Debug, PartialEq)]
pub(super) struct RowsOfFile {
    path: String,
    vector: Option<Descriptor>,
    /// The rows that change; `None` for all.
    changed: Option<Bitmap>,
    is_rewritten: bool,
}

/// The files with the rows of one step of a verb.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenFiles {
    pub(super) written: Written,
    /// The number of rows that were copied unchanged.
    pub(super) copied: u64,
    pub(super) changes: Vec<Cdc>,
}

impl RowsToWrite {
    /// The rows that a plan changes or copies.
    pub(super) fn of_plan(plan: &DeletePlan) -> Self {
        let rows = |add: &Add, changed: Option<Bitmap>, is_rewritten: bool| RowsOfFile {
            path: add.path.clone(),
            vector: add.deletion_vector.clone(),
            changed,
            is_rewritten,
        };
        let removed = plan.removed.iter().map(|file| rows(&file.add, None, false));
        let changed = plan.changed.iter();
        let changed = changed.map(|file| rows(&file.add, Some(file.deleted().clone()), false));
        let rewritten = plan.rewritten.iter();
        let rewritten = rewritten.map(|file| rows(&file.add, Some(file.deleted.clone()), true));
        Self::OfFiles(removed.chain(changed).chain(rewritten).collect())
    }
}

impl TableTransaction {
    /// The files that the attempt before wrote for these rows, if it did, and if they are valid with the metadata of this
    /// attempt: an earlier step of it may have given the next values of identity columns.
    pub(super) fn written_before(&self, rows: &RowsToWrite) -> Option<WrittenFiles> {
        if self.evolved.is_some() {
            return None;
        }
        let mut earlier = self.attempts.earlier.iter();
        earlier
            .find(|written| written.rows == *rows)
            .map(|written| written.files.clone())
    }

    /// Records files for the next attempt. Those that are valid only with metadata of this attempt are not.
    pub(super) fn record_written(&mut self, rows: RowsToWrite, files: &WrittenFiles) {
        if self.evolved.is_none() {
            let files = files.clone();
            self.attempts.now.push(RewrittenOnce { rows, files });
        }
    }
}
