//! The public transaction: operations stage changes, and one commit applies all of them.
//!
//! Protocol: *Requirements for Writers*, *Add File and Remove File*, *Transaction Identifiers*.

mod alter;
mod append;
mod appended_rows;
mod change_data;
mod commit;
mod copy_rows;
mod delete;
mod delete_plan;
mod delete_rows;
mod dry_run;
mod evolve;
mod feed;
mod file_vectors;
mod given_files;
mod live_files;
mod matching_overwrite;
mod matching_rows;
mod merge;
mod merged_schema;
mod new_rows;
mod operation;
mod optimize;
mod overwrite;
mod reads;
mod remove;
mod replaced;
mod run;
mod same_rows;
mod savepoint;
mod statistics;
mod update;
mod write_job;
mod written_before;

pub use delete::DeleteSummary;
pub use dry_run::{DryRun, preview_delete, preview_rows, preview_update};
pub use evolve::SchemaMode;
pub use given_files::GivenFile;
pub use merge::{ClauseKind, Merge, MergeAction, MergeClause, SourceRows, merge, preview_merge};
pub use new_rows::{append_stream, overwrite_stream};
pub use operation::operation;
pub use optimize::{Optimize, optimize, preview_optimize};
pub use replaced::{MatchedBy, Replaced};
pub use run::{Staging, delete, run_transaction, update};
pub use statistics::{ComputedStatistics, compute_statistics, preview_statistics};
pub use update::Assignment;
pub use write_job::WriteJob;

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, Proposal, ReadSet, StagedFiles, already_done,
};
use deltaic_protocol::change::TableChange;
use deltaic_protocol::{Error, Result, TableConfiguration};
use deltaic_storage::memory_budget::MemoryBudget;

use self::append::Appended;
use self::delete::Deletion;
use self::feed::Unrecorded;
use self::merge::Merged;
use self::optimize::Optimized;
use self::same_rows::SameRows;
use self::update::Updated;
use self::written_before::AttemptFiles;
use crate::write::UnitedVectors;

/// A transaction in progress: it records what was read and what is staged. The table is unchanged before
/// [`TableTransaction::commit`].
///
/// Its methods must be called inside a multi-threaded runtime.
pub struct TableTransaction {
    snapshot: Snapshot,
    options: CommitOptions,
    read: ReadSet,
    /// Whether rows of the table were read, so that other rows may have determined which rows are removed.
    has_read_rows: bool,
    proposal: Proposal,
    appended: Appended,
    /// The data files and vector files that were written.
    files: Arc<StagedFiles>,
    /// The files added and removed with `dataChange=false`.
    same_rows: SameRows,
    /// The staged changes of protocol, metadata and domains.
    altered: Vec<TableChange>,
    /// The configuration with the changes of the schema that written rows required; `None` without such changes.
    evolved: Option<TableConfiguration>,
    vectors: Arc<UnitedVectors>,
    /// The number of files that got a deletion vector, and the number of rows deleted by these.
    vectors_added: u64,
    deleted_rows: u64,
    /// What was deleted by predicates; `None` if nothing was.
    deletion: Option<Deletion>,
    /// What was updated; `None` if nothing was.
    updated: Option<Updated>,
    /// What was merged; `None` if nothing was.
    merged: Option<Merged>,
    /// What was optimized; `None` if nothing was.
    optimized: Option<Optimized>,
    /// Set by an overwrite, with the text of its predicate if it has one.
    overwritten: Option<Option<String>>,
    /// The changes of rows that no change data file has, if the table records changes.
    unrecorded: Unrecorded,
    /// What this attempt of a verb and the one before wrote.
    attempts: AttemptFiles,
    /// Set if the `app_transaction` was already committed, so that there is nothing to do.
    done: Option<Committed>,
    /// Whether a version may name the files of an attempted commit.
    keeps_files: bool,
}

impl TableTransaction {
    /// Starts a transaction on a snapshot, without reads or staged changes.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the table's metadata is inconsistent.
    pub fn try_new(snapshot: Snapshot, operation: Operation, options: CommitOptions) -> Result<Self> {
        let read = ReadSet::try_new(snapshot.configuration()).map_err(|error| snapshot.located(error))?;
        let done = options.app_transaction.as_ref();
        let done = done.and_then(|app| already_done(&snapshot, app));
        let files = Arc::new(StagedFiles::new(snapshot.location()));
        Ok(Self {
            read,
            has_read_rows: false,
            proposal: Proposal {
                operation,
                ..Proposal::default()
            },
            appended: Appended::default(),
            same_rows: SameRows::default(),
            altered: Vec::new(),
            vectors: Arc::new(UnitedVectors::new(snapshot.location(), &files)),
            files,
            evolved: None,
            vectors_added: 0,
            deleted_rows: 0,
            deletion: None,
            updated: None,
            merged: None,
            optimized: None,
            overwritten: None,
            unrecorded: Unrecorded::default(),
            attempts: AttemptFiles::default(),
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
    pub fn staged(&self) -> (usize, usize) {
        (self.proposal.adds.len(), self.proposal.removes.len())
    }

    fn located(&self, error: Error) -> Error {
        self.snapshot.located(error)
    }
}
