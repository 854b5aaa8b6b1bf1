//! A proposal that lost its version, compared with the winning commit.

use std::collections::HashSet;

use deltaic_protocol::actions::Protocol;
use deltaic_protocol::{Result, TableConfiguration};

use super::cause::ConflictCause;
use crate::transaction::isolation::is_blind_append;
use crate::transaction::proposal::key_of;
use crate::transaction::winning_commit::WinningFile;
use crate::transaction::{Base, IsolationLevel, Proposal, ReadSet, WinningCommit};

/// Verifies that an operation is supported for a table configuration, such as
/// [`ensure_appendable`](deltaic_protocol::features::ensure_appendable).
pub type SupportCheck = fn(&TableConfiguration) -> Result<()>;

/// The unit that two commits must not both change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// A file.
    Files,
    /// A row, if both commits delete rows of one file by deletion vectors.
    Rows,
}

/// A proposal that lost its version, with everything that determines whether it conflicts with the winning commit.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The proposal.
    pub proposal: &'a Proposal,
    /// What was read for it.
    pub read: &'a ReadSet,
    /// The version that it was based on, or the last winning commit over which it was rebased.
    pub base: &'a Base,
    /// The isolation level of the commit: [`IsolationLevel::of_commit`].
    pub level: IsolationLevel,
    /// The unit that two commits must not both change.
    pub granularity: Granularity,
    /// The support check of the operation.
    pub support_check: SupportCheck,
}

/// An attempt and a winning commit.
pub(super) struct Case<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    pub(super) winning_commit: &'a WinningCommit,
    /// Paths of files that are compared by their rows.
    pub(super) shared: HashSet<String>,
}

impl Case<'_> {
    /// Whether a file is compared by its rows.
    pub(super) fn is_shared(&self, path: &str) -> bool {
        !self.shared.is_empty() && self.shared.contains(&key_of(path))
    }

    /// The protocol after the winning commit.
    pub(super) fn protocol(&self) -> &Protocol {
        let adopted = self.winning_commit.protocol.as_ref();
        adopted.unwrap_or(self.attempt.base.table.protocol())
    }

    /// Whether files that the winning commit added are checked.
    pub(super) fn counts_added_files(&self) -> bool {
        let Attempt {
            proposal,
            read,
            level,
            ..
        } = *self.attempt;
        let winning_commit = self.winning_commit;
        // A commit that is valid only for exactly the files that it read is checked at any isolation level.
        if read.requires_exact_files() {
            return true;
        }
        // Assigning or removing row ids adds no rows.
        let is_about_row_ids = proposal.is_backfill()
            || proposal.is_unbackfill()
            || winning_commit.is_backfill()
            || winning_commit.is_unbackfill();
        !is_about_row_ids
            && !is_blind_append(proposal, read)
            && match level {
                IsolationLevel::Serializable => true,
                IsolationLevel::WriteSerializable => {
                    !winning_commit.is_blind_append || proposal.metadata.is_some()
                }
                IsolationLevel::SnapshotIsolation => false,
            }
    }

    /// The conflict for an added file that this commit would have read.
    pub(super) fn appended(&self, file: &WinningFile) -> ConflictCause {
        ConflictCause::Append {
            version: self.winning_commit.version,
            path: file.path.clone(),
            partition_values: file.partition_values.clone(),
        }
    }

    /// Whether removing a file conflicts with having read it. Assigning or removing row ids does not affect files that
    /// others added or removed concurrently.
    pub(super) fn was_read(&self, path: &str) -> bool {
        let Attempt { proposal, read, .. } = *self.attempt;
        !proposal.is_backfill() && !proposal.is_unbackfill() && read.has_file(path)
    }

    /// The conflict for a removed file that this commit read.
    pub(super) fn removed_and_read(&self, path: &str) -> ConflictCause {
        ConflictCause::DeleteRead {
            version: self.winning_commit.version,
            path: path.to_owned(),
        }
    }

    /// The conflict for a removed file that this commit removes too.
    pub(super) fn removed_twice(&self, path: &str) -> ConflictCause {
        ConflictCause::DeleteDelete {
            version: self.winning_commit.version,
            path: path.to_owned(),
        }
    }
}
