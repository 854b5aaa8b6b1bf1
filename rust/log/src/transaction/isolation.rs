//! Isolation levels of tables and of single commits.

#[cfg(test)]
mod tests;

use std::fmt;

use deltaic_protocol::actions::Metadata;
use deltaic_protocol::row_tracking;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::{Proposal, ReadSet};

const PROPERTY: &str = "delta.isolationLevel";

/// Which concurrent changes are allowed between the read version of a transaction and its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    /// No change to the data that the transaction read: the order of versions is a serial order.
    Serializable,
    /// Blind appends: some serial order of the writes produces the table.
    WriteSerializable,
    /// Everything except removing a file that the transaction read or removes. Not allowed as the level of a table, but
    /// sufficient for a commit that changes no rows.
    SnapshotIsolation,
}

impl IsolationLevel {
    /// Returns the isolation level of a table, by default `Serializable`.
    ///
    /// # Errors
    ///
    /// `CorruptLog` with the property as `field`, for an invalid level.
    pub fn of(metadata: &Metadata) -> Result<Self> {
        let Some(text) = metadata.property(PROPERTY) else {
            return Ok(Self::Serializable);
        };
        [Self::Serializable, Self::WriteSerializable]
            .into_iter()
            .find(|level| level.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| {
                let what = format!(
                    "the table property {PROPERTY} is {text:?}, which is not an isolation level for tables"
                );
                Error::new(ErrorKind::CorruptLog, what)
                    .with("field", PROPERTY)
                    .hint("set it to Serializable or WriteSerializable; the table itself is readable")
            })
    }

    /// Returns the isolation level for a commit that may change the metadata. A commit that replaces an invalid level
    /// by a valid one runs as `Serializable`.
    ///
    /// # Errors
    ///
    /// `CorruptLog` with the property as `field`, for an invalid level.
    pub fn of_change(before: &Metadata, after: Option<&Metadata>) -> Result<Self> {
        let level = Self::of(before);
        match after {
            Some(after) if level.is_err() && Self::of(after).is_ok() => Ok(Self::Serializable),
            _ => level,
        }
    }

    /// Parses the name of a level, ignoring case.
    ///
    /// # Errors
    ///
    /// `ValueError` for an unknown name.
    pub fn parse(name: &str) -> Result<Self> {
        let levels = [
            Self::Serializable,
            Self::WriteSerializable,
            Self::SnapshotIsolation,
        ];
        let mut levels = levels.into_iter();
        let found = levels.find(|level| level.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let what = format!("{name:?} is not an isolation level");
            Error::new(ErrorKind::InvalidArgument, what)
                .hint("use Serializable, WriteSerializable or SnapshotIsolation")
        })
    }

    /// The name in table properties and in `commitInfo`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Serializable => "Serializable",
            Self::WriteSerializable => "WriteSerializable",
            Self::SnapshotIsolation => "SnapshotIsolation",
        }
    }

    /// Returns the level that a commit needs on a table of this level: `SnapshotIsolation` if it changes only files and
    /// no rows. Below `Serializable`, its operation must also be one that never changes rows.
    #[must_use]
    pub fn of_commit(self, proposal: &Proposal) -> Self {
        let only_files = proposal.protocol.is_none()
            && proposal.metadata.is_none()
            && proposal.txns.is_empty()
            && proposal
                .domains
                .iter()
                .all(|domain| domain.domain == row_tracking::DOMAIN);
        let allowed = match self {
            Self::Serializable => true,
            Self::WriteSerializable => !proposal.operation.changes_data(),
            Self::SnapshotIsolation => return self,
        };
        if only_files && allowed && !proposal.changes_rows() {
            Self::SnapshotIsolation
        } else {
            self
        }
    }
}

impl fmt::Display for IsolationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a transaction only adds files and has read none, so that no concurrent file change conflicts with it.
/// Derived from the transaction, never declared by the caller.
#[must_use]
pub fn is_blind_append(proposal: &Proposal, read: &ReadSet) -> bool {
    proposal.removes.is_empty() && proposal.cdc.is_empty() && !read.depends_on_files()
}
