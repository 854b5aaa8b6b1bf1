//! A file of a plan that changes rows.

use std::sync::Arc;

use deltaic_protocol::actions::Add;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::statistics::num_records;

use super::changed_file::ChangedFile;
use crate::rows::change_data::DeletedRows;

/// A file of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlannedFile<'p> {
    Removed(&'p RemovedFile),
    Changed(&'p ChangedFile),
    Rewritten(&'p RewrittenFile),
}

/// A file of which every remaining row is deleted.
#[derive(Debug)]
pub(crate) struct RemovedFile {
    pub(crate) add: Add,
}

/// A file that is rewritten without some of its rows.
#[derive(Debug)]
pub(crate) struct RewrittenFile {
    pub(crate) add: Add,
    /// The positions of the rows to delete.
    pub(crate) deleted: Bitmap,
    /// The rows that are not copied: those, and the ones that were deleted before.
    pub(crate) not_copied: Bitmap,
}

impl<'p> PlannedFile<'p> {
    pub(crate) fn add(self) -> &'p Add {
        match self {
            Self::Removed(file) => &file.add,
            Self::Changed(file) => &file.add,
            Self::Rewritten(file) => &file.add,
        }
    }

    /// The positions of the rows that change; `None` for all that are not deleted.
    pub(crate) fn selected(self) -> Option<&'p Bitmap> {
        match self {
            Self::Removed(_) => None,
            Self::Changed(file) => Some(file.deleted()),
            Self::Rewritten(file) => Some(&file.deleted),
        }
    }

    /// The file if its other rows are copied to a new file.
    pub(crate) fn rewritten(self) -> Option<&'p RewrittenFile> {
        match self {
            Self::Removed(_) | Self::Changed(_) => None,
            Self::Rewritten(file) => Some(file),
        }
    }

    /// The rows that change.
    pub(in crate::rows) fn deleted(self) -> DeletedRows {
        DeletedRows {
            add: self.add().clone(),
            positions: self.selected().map(|rows| Arc::new(rows.clone())),
        }
    }
}

impl RewrittenFile {
    /// The number of rows that are copied; 0 if the log does not have it.
    pub(in crate::rows) fn copied_rows(&self) -> u64 {
        let rows = rows_in(&self.add).unwrap_or_default();
        rows.saturating_sub(self.not_copied.len())
    }

    /// The rows that were deleted before.
    pub(crate) fn deleted_before(&self) -> Bitmap {
        self.not_copied.difference(&self.deleted)
    }
}

/// Returns the number of rows of a file, deleted ones included, if its statistics have it.
pub(in crate::rows) fn rows_in(add: &Add) -> Option<u64> {
    u64::try_from(num_records(add.stats.as_deref()?)?).ok()
}
