//! Isolation levels: what a table promises its writers, and what a single commit needs.

#[cfg(test)]
mod tests;

use std::fmt;

use deltaic_protocol::actions::Metadata;
use deltaic_protocol::row_tracking;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::{Proposal, ReadSet};

const PROPERTY: &str = "delta.isolationLevel";

/// What may come between what a transaction read and what it commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    /// Nothing that it would have read: the order of versions is a serial order.
    Serializable,
    /// Blind appends: some serial order of the writes explains the table.
    WriteSerializable,
    /// Anything but the end of a file that it has read or removes. No table promises so little; a commit that changes no
    /// row needs no more.
    SnapshotIsolation,
}

impl IsolationLevel {
    /// What a table promises: `Serializable` unless its properties say otherwise.
    ///
    /// Errors: `CorruptLog` with the property as `field`, for a level that no table can have.
    pub fn of(metadata: &Metadata) -> Result<Self> {
        let Some(text) = metadata.property(PROPERTY) else {
            return Ok(Self::Serializable);
        };
        [Self::Serializable, Self::WriteSerializable]
            .into_iter()
            .find(|level| level.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| {
                let what = format!("the table property {PROPERTY} is {text:?}, which no table can promise");
                Error::new(ErrorKind::CorruptLog, what)
                    .with("field", PROPERTY)
                    .hint("set it to Serializable or WriteSerializable; the table itself is readable")
            })
    }

    /// What a table promises a commit that may change its metadata. A commit that corrects a level that no table can have
    /// is promised the most.
    ///
    /// Errors: `CorruptLog` with the property as `field`, for a level that no table can have.
    pub fn of_change(before: &Metadata, after: Option<&Metadata>) -> Result<Self> {
        let level = Self::of(before);
        match after {
            Some(after) if level.is_err() && Self::of(after).is_ok() => Ok(Self::Serializable),
            _ => level,
        }
    }

    /// The level of a name, upper and lower case alike.
    ///
    /// Errors: `ValueError` for a name that no level has.
    pub fn parse(name: &str) -> Result<Self> {
        let levels = [
            Self::Serializable,
            Self::WriteSerializable,
            Self::SnapshotIsolation,
        ];
        let mut levels = levels.into_iter();
        let found = levels.find(|level| level.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let what = format!("isolation may not be {name:?}");
            Error::new(ErrorKind::InvalidArgument, what)
                .hint("give Serializable, WriteSerializable or SnapshotIsolation")
        })
    }

    /// The name as properties and `commitInfo` spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Serializable => "Serializable",
            Self::WriteSerializable => "WriteSerializable",
            Self::SnapshotIsolation => "SnapshotIsolation",
        }
    }

    /// What a commit to a table of this level needs: snapshot isolation where it changes no row and nothing but files,
    /// and, where the table promises less than `Serializable`, where it is of no operation that changes rows either.
    #[must_use]
    pub fn of_commit(self, mine: &Proposal) -> Self {
        let only_files = mine.protocol.is_none()
            && mine.metadata.is_none()
            && mine.txns.is_empty()
            && mine
                .domains
                .iter()
                .all(|domain| domain.domain == row_tracking::DOMAIN);
        let allowed = match self {
            Self::Serializable => true,
            Self::WriteSerializable => !mine.operation.changes_data(),
            Self::SnapshotIsolation => return self,
        };
        if only_files && allowed && !mine.changes_rows() {
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

/// Whether a transaction only adds files and has read none, so that it fits behind any files that come or go. It is
/// computed and never declared.
#[must_use]
pub fn is_blind_append(mine: &Proposal, read: &ReadSet) -> bool {
    mine.removes.is_empty() && mine.cdc.is_empty() && !read.depends_on_files()
}
