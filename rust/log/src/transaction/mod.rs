//! Transactions: propose a commit, check winning commits for conflicts, propose again.

mod alter;
mod attempts;
mod commit;
mod commit_info;
mod committed;
mod conflict;
mod create;
mod isolation;
#[cfg(test)]
mod model;
mod operation;
mod options;
mod proposal;
mod read_set;
mod rebase;
#[cfg(test)]
mod samples;
mod table_operation;
mod winning_commit;

pub use alter::{Proved, RowVerifier, Staging, alter, describe, stage, stage_changes};
pub use commit::{Transaction, United, Vectors, already_done};
pub use commit_info::UserInfo;
pub use committed::Committed;
pub use conflict::{
    Attempt, ConflictCause, Granularity, SharedFile, SupportCheck, UnitedVector, check, follow, unite,
};
pub use create::{IfExists, NewContents, NewTable, create, create_with_files, create_with_written_files};
pub use isolation::{IsolationLevel, is_blind_append};
pub use operation::{Operation, OperationDetails};
pub use options::{CommitOptions, EmptyPartitionText};
pub use proposal::{DecidedBy, Proposal};
pub use read_set::ReadSet;
pub use rebase::{Base, assign_row_ids, rebase, stamp_in_commit_timestamp};
pub use table_operation::{
    Output, OwnerProcess, Planned, PreviousAttempt, RunPolicy, StagedFiles, TableOperation, run,
};
pub use winning_commit::{WinningCommit, WinningFile};
