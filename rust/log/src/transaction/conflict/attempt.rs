//! A proposal that lost its version, beside the winner.

use std::collections::HashSet;

use deltaic_protocol::Result;
use deltaic_protocol::actions::{Metadata, Protocol};
use deltaic_protocol::schema::StructType;

use super::Conflict;
use crate::transaction::isolation::is_blind_append;
use crate::transaction::proposal::key_of;
use crate::transaction::winner::WinnerFile;
use crate::transaction::{Base, IsolationLevel, Proposal, ReadSet, Winner};

/// Proves that an operation may be done to a table of a protocol, metadata and schema, such as
/// [`ensure_appendable`](deltaic_protocol::features::ensure_appendable).
pub type Gate = fn(&Protocol, &Metadata, &StructType) -> Result<()>;

/// What two commits must not both touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// A file.
    Files,
    /// A row, where both have deleted rows of one file by vectors.
    Rows,
}

/// A proposal that lost its version, and all that decides whether it fits behind the winner.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The proposal.
    pub mine: &'a Proposal,
    /// What was read for it.
    pub read: &'a ReadSet,
    /// The version that it was made for, or the last winner that it was rebased over.
    pub base: &'a Base,
    /// The isolation level of the commit: [`IsolationLevel::of_commit`].
    pub level: IsolationLevel,
    /// What two commits must not both touch.
    pub granularity: Granularity,
    /// What must hold of the table for the operation.
    pub gate: Gate,
}

/// An attempt beside a winner.
pub(in super::super) struct Case<'a> {
    pub(in super::super) attempt: &'a Attempt<'a>,
    pub(in super::super) winner: &'a Winner,
    /// Paths of files that are judged by their rows.
    pub(super) shared: HashSet<String>,
}

impl Case<'_> {
    /// Whether a file is judged by its rows.
    pub(super) fn is_shared(&self, path: &str) -> bool {
        !self.shared.is_empty() && self.shared.contains(&key_of(path))
    }

    /// The protocol as of the winner.
    pub(super) fn protocol(&self) -> &Protocol {
        let adopted = self.winner.protocol.as_ref();
        adopted.unwrap_or(&self.attempt.base.form.protocol)
    }

    /// Whether files that the winner brought are looked at.
    pub(in super::super) fn counts_added_files(&self) -> bool {
        let Attempt {
            mine, read, level, ..
        } = *self.attempt;
        let winner = self.winner;
        // No level makes good a proof that looked at other files.
        if read.rests_on_every_file() {
            return true;
        }
        // Who gives or takes row ids brings no row.
        let is_about_row_ids =
            mine.is_backfill() || mine.is_unbackfill() || winner.is_backfill() || winner.is_unbackfill();
        !is_about_row_ids
            && !is_blind_append(mine, read)
            && match level {
                IsolationLevel::Serializable => true,
                IsolationLevel::WriteSerializable => !winner.is_blind_append || mine.metadata.is_some(),
                IsolationLevel::SnapshotIsolation => false,
            }
    }

    /// What it means that a file was added which would have been read.
    pub(in super::super) fn appended(&self, file: &WinnerFile) -> Conflict {
        Conflict::Append {
            version: self.winner.version,
            path: file.path.clone(),
            partition_values: file.partition_values.clone(),
        }
    }

    /// Whether the end of a file would be the end of what was read. Who gives or takes row ids leaves alone what others
    /// brought or took meanwhile.
    pub(in super::super) fn was_read(&self, path: &str) -> bool {
        let Attempt { mine, read, .. } = *self.attempt;
        !mine.is_backfill() && !mine.is_unbackfill() && read.has_file(path)
    }

    /// What it means that a file was removed which was read.
    pub(in super::super) fn removed_and_read(&self, path: &str) -> Conflict {
        Conflict::DeleteRead {
            version: self.winner.version,
            path: path.to_owned(),
        }
    }

    /// What it means that a file was removed which we remove.
    pub(in super::super) fn removed_twice(&self, path: &str) -> Conflict {
        Conflict::DeleteDelete {
            version: self.winner.version,
            path: path.to_owned(),
        }
    }
}
