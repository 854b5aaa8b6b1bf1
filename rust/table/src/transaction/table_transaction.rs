//! A transaction in progress.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Committed, Operation, StagedFiles, already_done};
use deltaic_protocol::{Error, Result};
use deltaic_storage::memory_budget::MemoryBudget;

use super::attempts::Attempts;
use super::staged::Staged;
use crate::write::UnitedVectors;

/// A transaction in progress: it records what was read and what is staged. The table is unchanged before
/// [`TableTransaction::commit`].
///
/// Its methods must be called inside a multi-threaded runtime.
pub struct TableTransaction {
    pub(crate) snapshot: Snapshot,
    pub(crate) options: CommitOptions,
    pub(crate) staged: Staged,
    /// The data files and vector files that were written.
    pub(crate) files: Arc<StagedFiles>,
    pub(crate) vectors: Arc<UnitedVectors>,
    /// What this attempt of a verb and the one before wrote.
    pub(crate) attempts: Attempts,
    /// Set if the `app_transaction` was already committed, so that there is nothing to do.
    pub(crate) done: Option<Committed>,
    /// Whether a version may name the files of an attempted commit.
    pub(crate) keeps_files: bool,
}

impl TableTransaction {
    /// Starts a transaction on a snapshot, without reads or staged changes.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the table's metadata is inconsistent.
    pub fn try_new(snapshot: Snapshot, operation: Operation, options: CommitOptions) -> Result<Self> {
        let staged = Staged::try_new(snapshot.configuration(), operation);
        let done = options.app_transaction.as_ref();
        let done = done.and_then(|app| already_done(&snapshot, app));
        let files = Arc::new(StagedFiles::new(snapshot.location()));
        Ok(Self {
            staged: staged.map_err(|error| snapshot.located(error))?,
            vectors: Arc::new(UnitedVectors::new(snapshot.location(), &files)),
            files,
            attempts: Attempts::default(),
            done,
            keeps_files: false,
            options,
            snapshot,
        })
    }

    /// The version that the transaction reads.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The memory of each operation.
    #[must_use]
    pub fn memory(&self) -> MemoryBudget {
        self.options.memory
    }

    /// Whether the `app_transaction` was already committed: then nothing is staged, and nothing will be committed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Whether a version may name the files that were written. This is possible even after a failed commit, because it
    /// may have reached the log.
    #[must_use]
    pub fn keeps_files(&self) -> bool {
        self.keeps_files
    }

    /// The number of files staged to be added, and to be removed.
    #[must_use]
    pub fn staged_files(&self) -> (usize, usize) {
        let proposal = &self.staged.proposal;
        (proposal.adds.len(), proposal.removes.len())
    }

    pub(crate) fn located(&self, error: Error) -> Error {
        self.snapshot.located(error)
    }
}
