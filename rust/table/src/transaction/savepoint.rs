//! Undoes a change of which only a part was staged.

use deltaic_log::transaction::{Proposal, ReadSet};
use deltaic_protocol::TableConfiguration;

use super::TableTransaction;
use super::append::Appended;
use super::delete::Deletion;
use super::feed::Unrecorded;
use super::merge::Merged;
use super::update::Updated;

/// What was staged at a point of a transaction. Files that were written since then are deleted with the transaction, or
/// remain as unreferenced files.
pub(super) struct Savepoint {
    read: ReadSet,
    has_read_rows: bool,
    proposal: Proposal,
    evolved: Option<TableConfiguration>,
    appended: Appended,
    vectors_added: u64,
    deleted_rows: u64,
    deletion: Option<Deletion>,
    updated: Option<Updated>,
    merged: Option<Merged>,
    overwritten: Option<Option<String>>,
    unrecorded: Unrecorded,
}

impl TableTransaction {
    /// Records what is staged.
    pub(super) fn savepoint(&self) -> Savepoint {
        Savepoint {
            read: self.read.clone(),
            has_read_rows: self.has_read_rows,
            proposal: self.proposal.clone(),
            evolved: self.evolved.clone(),
            appended: self.appended.clone(),
            vectors_added: self.vectors_added,
            deleted_rows: self.deleted_rows,
            deletion: self.deletion.clone(),
            updated: self.updated.clone(),
            merged: self.merged.clone(),
            overwritten: self.overwritten.clone(),
            unrecorded: self.unrecorded.clone(),
        }
    }

    /// Restores what was staged at a savepoint.
    pub(super) fn roll_back(&mut self, to: Savepoint) {
        self.read = to.read;
        self.has_read_rows = to.has_read_rows;
        self.proposal = to.proposal;
        self.evolved = to.evolved;
        self.appended = to.appended;
        self.vectors_added = to.vectors_added;
        self.deleted_rows = to.deleted_rows;
        self.deletion = to.deletion;
        self.updated = to.updated;
        self.merged = to.merged;
        self.overwritten = to.overwritten;
        self.unrecorded = to.unrecorded;
    }
}
