//! A transaction: its read set, its proposal, and how it commits.
//!
//! Protocol: *Requirements for Writers*, *Creation of New Log Entries*, *Transaction Identifiers*.

use std::future::Future;
use std::pin::Pin;

use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::row_tracking::{self, high_water_mark};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result};

use super::attempts::Attempts;
use super::{
    Base, CommitOptions, Committed, Gate, Granularity, Operation, OperationDetails, Proposal, ReadSet,
    SharedFile, UnitedVector, hand_out_row_ids,
};
use crate::changes::TableForm;
use crate::clock::now_ms;
use crate::committer::Committer;
use crate::history::{file_time_of, timestamp_of};
use crate::snapshot::{Snapshot, Standing};
use crate::upkeep::{OwnCommit, keep_up};

/// Future of the merged deletion vector of a file that two commits share.
pub type United<'a> = Pin<Box<dyn Future<Output = Result<UnitedVector>> + Send + 'a>>;

/// Reads and writes deletion vectors of files in which two commits deleted rows.
pub trait Vectors: Send + Sync {
    /// Merges the rows that both commits deleted, and writes the deletion vector unless no rows remain.
    fn unite<'a>(&'a self, file: &'a SharedFile) -> United<'a>;
}

/// A change to a table, based on one version of it.
pub struct Transaction<'a> {
    /// The version that was read.
    pub snapshot: &'a Snapshot,
    /// What the transaction read of it.
    pub read: ReadSet,
    /// The actions to commit.
    pub proposal: Proposal,
    /// Parameters and metrics for the `commitInfo`.
    pub details: OperationDetails,
    /// The commit options.
    pub options: CommitOptions,
    /// Checks that the operation supports the table.
    pub gate: Gate,
    /// Merges deletion vectors; without it, two commits that touch the same file conflict.
    pub vectors: Option<&'a dyn Vectors>,
    /// Decides which proposal becomes a version: the table's object store or its catalog.
    pub committer: &'a dyn Committer,
}

impl<'a> Transaction<'a> {
    /// Returns a transaction that has read nothing and has no actions.
    ///
    /// Errors: `CorruptLog` if the table's metadata is inconsistent.
    pub fn try_new(snapshot: &'a Snapshot, operation: Operation, gate: Gate) -> Result<Self> {
        Ok(Self {
            snapshot,
            read: ReadSet::try_new(snapshot.protocol(), snapshot.metadata())?,
            proposal: Proposal {
                operation,
                ..Proposal::default()
            },
            details: OperationDetails::default(),
            options: CommitOptions::default(),
            gate,
            vectors: None,
            committer: snapshot.location().as_ref(),
        })
    }

    /// Commits as the version after the snapshot, or after winning commits that do not conflict. Rebases the actions
    /// over each winning commit: row ids, versions and timestamps are those of the next commit.
    ///
    /// Errors: `CommitConflict` with the conflict class; `CommitUnknown` if the outcome could not be determined.
    /// Any other error means that nothing was committed and nothing will be. Post-commit maintenance cannot fail the
    /// commit.
    pub async fn commit(mut self) -> Result<Committed> {
        let snapshot = self.snapshot;
        let located = |error: Error| {
            error
                .with("table", snapshot.location().uri())
                .with("version", snapshot.version())
        };
        if let Some(app) = &self.options.app_transaction
            && let Some(done) = already_done(snapshot, app)
        {
            return Ok(done);
        }
        self.stage_app_transaction();
        (self.gate)(snapshot.protocol(), snapshot.metadata(), snapshot.schema()).map_err(located)?;
        let base = self.base().await.map_err(located)?;
        let mut mine = self.proposal.clone();
        hand_out_row_ids(&mut mine, &base).map_err(located)?;
        mine.validate().map_err(located)?;
        let mut attempts = Attempts::new(&self, mine, base);
        let mut committed = attempts.run().await?;
        if !committed.skipped {
            let made = OwnCommit {
                location: snapshot.location(),
                read: Some(snapshot),
                version: committed.version,
                bytes: &|| attempts.bytes_of(&committed),
            };
            committed.upkept = keep_up(made, self.options.upkeep).await;
        }
        Ok(committed)
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
    fn stage_app_transaction(&mut self) {
        if let Some(txn) = self.options.txn(now_ms()) {
            self.read.read_app_id(&txn.app_id);
            self.proposal.txns.push(txn);
        }
    }

    async fn base(&self) -> Result<Base> {
        let snapshot = self.snapshot;
        let rows = snapshot.domains().get(row_tracking::DOMAIN);
        let protocol = self.proposal.protocol.as_ref().unwrap_or(snapshot.protocol());
        let metadata = self.proposal.metadata.as_ref().unwrap_or(snapshot.metadata());
        let before = InCommitTimestamps::of(snapshot.protocol(), snapshot.metadata());
        let timestamp_ms = match (before, InCommitTimestamps::of(protocol, metadata)) {
            // Without in-commit timestamps, the time of the commit file is not needed.
            (_, Ok(InCommitTimestamps::Disabled)) => 0,
            // This commit fixes table properties that do not parse.
            (Err(_), Ok(_)) => file_time_of(snapshot).await?,
            _ => read_timestamp_ms(snapshot).await?,
        };
        Ok(Base {
            version: snapshot.version(),
            form: TableForm::from(snapshot),
            high_water_mark: rows.map(high_water_mark).transpose()?.flatten(),
            timestamp_ms,
            lost_row_ids: false,
        })
    }
}

/// Commit time of the version that was read.
///
/// Errors: `CommitConflict` if its commit was cleaned up in between.
async fn read_timestamp_ms(snapshot: &Snapshot) -> Result<i64> {
    let version = snapshot.version();
    match timestamp_of(snapshot).await {
        Err(_) if matches!(snapshot.standing().await, Ok(Standing::Gone)) => Err(Error::new(
            ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
            format!(
                "version {version}, which was read, was cleaned up, so the time of its commit is not known"
            ),
        )
        .hint("open the table again, and run the operation on its newest version")),
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
