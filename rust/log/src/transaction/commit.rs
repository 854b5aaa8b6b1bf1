//! A transaction: its read set, its proposal, and how it commits.
//!
//! Protocol: *Requirements for Writers*, *Creation of New Log Entries*, *Transaction Identifiers*.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::row_tracking::{self, high_water_mark};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, TableConfiguration, Version};

use super::{
    Base, CommitOptions, Committed, Granularity, Operation, OperationDetails, Proposal, ReadSet, SharedFile,
    SupportCheck, UnitedVector,
};
use crate::committer::Committer;
use crate::history::{file_time_of, timestamp_of};
use crate::snapshot::{Snapshot, VersionFile};
use deltaic_storage::clock::now_ms;
use deltaic_storage::location::TableLocation;

/// Future of the merged deletion vector of a file that two commits share.
pub type United<'a> = Pin<Box<dyn Future<Output = Result<UnitedVector>> + Send + 'a>>;

/// Reads and writes deletion vectors of files in which two commits deleted rows.
pub trait Vectors: Send + Sync {
    /// Merges the rows that both commits deleted, and writes the deletion vector unless no rows remain.
    fn unite<'a>(&'a self, file: &'a SharedFile) -> United<'a>;
}

/// The start of a transaction.
#[derive(Clone, Copy)]
enum Start<'a> {
    /// The version that was read.
    Version(&'a Snapshot),
    /// No table: the commit creates it with this configuration.
    NoTable(&'a TableConfiguration),
}

/// A change to a table, based on one version of it; or the first commit of a table.
pub struct Transaction<'a> {
    location: &'a Arc<TableLocation>,
    start: Start<'a>,
    /// The read set.
    pub read: ReadSet,
    /// The actions to commit.
    pub proposal: Proposal,
    /// Parameters and metrics for the `commitInfo`.
    pub details: OperationDetails,
    /// The commit options.
    pub options: CommitOptions,
    /// Checks that the operation supports the table.
    pub support_check: SupportCheck,
    /// Merges deletion vectors; without it, two commits that touch the same file conflict.
    pub vectors: Option<&'a dyn Vectors>,
    /// Decides which proposal becomes a version: the table's object store or its catalog.
    pub committer: &'a dyn Committer,
}

impl<'a> Transaction<'a> {
    /// Returns a transaction that has read nothing and has no actions.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the table's metadata is inconsistent.
    pub fn try_new(
        snapshot: &'a Snapshot,
        operation: Operation,
        support_check: SupportCheck,
    ) -> Result<Self> {
        let read = ReadSet::try_new(snapshot.configuration())?;
        let start = Start::Version(snapshot);
        Ok(Self::on(
            snapshot.location(),
            start,
            read,
            operation,
            support_check,
        ))
    }

    /// Returns a transaction whose commit is the first version of a table, with the actions of its configuration. The
    /// commit fails with `TableExists` if the table has a version.
    pub(super) fn create(
        location: &'a Arc<TableLocation>,
        table: &'a TableConfiguration,
        operation: Operation,
    ) -> Result<Self> {
        let (start, read) = (Start::NoTable(table), ReadSet::try_new(table)?);
        let mut transaction = Self::on(location, start, read, operation, |_| Ok(()));
        transaction.proposal.protocol = Some(table.protocol().clone());
        transaction.proposal.metadata = Some(table.metadata().clone());
        transaction.proposal.domains = table.domains().values().cloned().collect();
        Ok(transaction)
    }

    fn on(
        location: &'a Arc<TableLocation>,
        start: Start<'a>,
        read: ReadSet,
        operation: Operation,
        support_check: SupportCheck,
    ) -> Self {
        Self {
            location,
            start,
            read,
            proposal: Proposal {
                operation,
                ..Proposal::default()
            },
            details: OperationDetails::default(),
            options: CommitOptions::default(),
            support_check,
            vectors: None,
            committer: location.as_ref(),
        }
    }

    pub(super) fn location(&self) -> &'a Arc<TableLocation> {
        self.location
    }

    /// The version that was read; `None` for the first commit of a table.
    pub(super) fn snapshot(&self) -> Option<&'a Snapshot> {
        match self.start {
            Start::Version(snapshot) => Some(snapshot),
            Start::NoTable(_) => None,
        }
    }

    /// The granularity at which two commits conflict.
    pub(super) fn granularity(&self) -> Granularity {
        if self.options.row_level && self.vectors.is_some() {
            Granularity::Rows
        } else {
            Granularity::Files
        }
    }

    /// Stages the `txn` action of the application transaction and adds its `appId` to the read set.
    pub(super) fn stage_app_transaction(&mut self) {
        if let Some(txn) = self.options.txn(now_ms()) {
            self.read.read_app_id(&txn.app_id);
            self.proposal.txns.push(txn);
        }
    }

    pub(super) async fn base(&self) -> Result<Base> {
        let snapshot = match self.start {
            Start::Version(snapshot) => snapshot,
            Start::NoTable(table) => {
                return Ok(Base {
                    next: Version::ZERO,
                    table: table.clone(),
                    high_water_mark: None,
                    timestamp_ms: 0,
                    lost_row_ids: false,
                });
            }
        };
        let rows = snapshot.domains().get(row_tracking::DOMAIN);
        let table = snapshot.configuration();
        let after = self.proposal.applied_to(table);
        let timestamp_ms = match (InCommitTimestamps::of(table), InCommitTimestamps::of(&after)) {
            // Without in-commit timestamps, the time of the commit file is not needed.
            (_, Ok(InCommitTimestamps::Disabled)) => 0,
            // This commit fixes table properties that do not parse.
            (Err(_), Ok(_)) => file_time_of(snapshot).await?,
            _ => read_timestamp_ms(snapshot).await?,
        };
        Ok(Base {
            next: snapshot.version().next()?,
            table: table.clone(),
            high_water_mark: rows.map(high_water_mark).transpose()?.flatten(),
            timestamp_ms,
            lost_row_ids: false,
        })
    }
}

/// Commit time of the version that was read.
///
/// # Errors
///
/// `CommitConflict` if its commit was cleaned up in between.
async fn read_timestamp_ms(snapshot: &Snapshot) -> Result<i64> {
    let version = snapshot.version();
    match timestamp_of(snapshot).await {
        Err(_) if matches!(snapshot.version_file().await, Ok(VersionFile::Gone)) => Err(Error::new(
            ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
            format!("version {version}, which was read, was cleaned up, so its commit timestamp is unknown"),
        )
        .hint("reopen the table, and run the operation on its newest version")),
        timestamp_ms => timestamp_ms,
    }
}

/// Returns a skipped commit if the table already records this version of the application or a later one; otherwise
/// `None`.
///
/// Protocol: *Transaction Identifiers*.
#[must_use]
pub fn already_done(snapshot: &Snapshot, (app_id, version): &(String, i64)) -> Option<Committed> {
    let now = now_ms();
    let known = snapshot.current_txns(now);
    let is_there = known
        .into_iter()
        .any(|txn| txn.app_id == *app_id && txn.version >= *version);
    is_there.then(|| Committed::skipped(snapshot.version(), snapshot.file_time_ms().unwrap_or(now)))
}
