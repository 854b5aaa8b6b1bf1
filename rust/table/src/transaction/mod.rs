//! A transaction as its user holds it: verbs stage what is to become of the table, and one commit does all of it.
//!
//! Protocol: *Requirements for Writers*, *Add File and Remove File*, *Transaction Identifiers*.

mod alter;
mod append;
mod commit;
mod delete_rows;
mod given_files;
mod live_files;
mod operation;
mod reads;
mod remove;
mod same_rows;

pub use given_files::GivenFile;
pub use operation::operation;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Committed, Operation, Proposal, ReadSet, already_done};
use deltaic_protocol::change::TableChange;
use deltaic_protocol::{Error, Result};

use self::append::Appended;
use self::same_rows::SameRows;
use crate::write::{OwnerProcess, UnitedVectors};

/// A transaction in the making: it owns what was read and what is staged. Nothing of it is in the table before
/// [`TableTransaction::commit`].
///
/// Its methods must be called inside a runtime of several threads.
pub struct TableTransaction {
    owner: OwnerProcess,
    snapshot: Snapshot,
    options: CommitOptions,
    read: ReadSet,
    /// Whether rows of the table were looked at, so that other rows may have decided over those that go.
    has_read_rows: bool,
    proposal: Proposal,
    appended: Appended,
    /// What comes and goes without a change of data.
    same_rows: SameRows,
    /// What changes of the table itself.
    altered: Vec<TableChange>,
    vectors: UnitedVectors,
    /// How many files got a vector, and how many rows went by these.
    vectors_added: u64,
    deleted_rows: u64,
    /// Set where there is nothing to do, because the application is as far already.
    done: Option<Committed>,
    /// Whether a version may name the files of a commit that was tried.
    keeps_files: bool,
}

impl TableTransaction {
    /// One against a snapshot that has read nothing yet and does nothing.
    ///
    /// Errors: `CorruptLog` where the table's metadata contradict themselves.
    pub fn try_new(snapshot: Snapshot, operation: Operation, options: CommitOptions) -> Result<Self> {
        let read = ReadSet::try_new(snapshot.protocol(), snapshot.metadata())
            .map_err(|error| located(&snapshot, error))?;
        let done = options.app_transaction.as_ref();
        let done = done.and_then(|app| already_done(&snapshot, app));
        Ok(Self {
            owner: OwnerProcess::current(),
            read,
            has_read_rows: false,
            proposal: Proposal {
                operation,
                ..Proposal::default()
            },
            appended: Appended::default(),
            same_rows: SameRows::default(),
            altered: Vec::new(),
            vectors: UnitedVectors::new(snapshot.location()),
            vectors_added: 0,
            deleted_rows: 0,
            done,
            keeps_files: false,
            options,
            snapshot,
        })
    }

    /// The version that is read.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Whether the application is as far already: then nothing is staged, and nothing will be committed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Whether a version may name the files that were written for a commit, also if the commit failed: it may have been
    /// made all the same.
    #[must_use]
    pub fn keeps_files(&self) -> bool {
        self.keeps_files
    }

    /// How many files are staged to come, and to go.
    #[must_use]
    pub fn staged(&self) -> (usize, usize) {
        (self.proposal.adds.len(), self.proposal.removes.len())
    }

    fn located(&self, error: Error) -> Error {
        located(&self.snapshot, error)
    }
}

fn located(snapshot: &Snapshot, error: Error) -> Error {
    error
        .with("table", snapshot.location().uri())
        .with("version", snapshot.version())
}
