//! A transaction: what was read of a version, what is to become of it, and the way to commit it.
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

/// What becomes of a file that two commits share.
pub type United<'a> = Pin<Box<dyn Future<Output = Result<UnitedVector>> + Send + 'a>>;

/// Reads and writes the deletion vectors of files of which two commits deleted rows.
pub trait Vectors: Send + Sync {
    /// Unites the rows that both commits deleted, and writes the vector if some are left.
    fn unite<'a>(&'a self, file: &'a SharedFile) -> United<'a>;
}

/// A change of a table, made against one version of it.
pub struct Transaction<'a> {
    /// The version that was read.
    pub snapshot: &'a Snapshot,
    /// What was read of it.
    pub read: ReadSet,
    /// What is to be done.
    pub proposal: Proposal,
    /// What the commit records of its operation.
    pub details: OperationDetails,
    /// How it commits.
    pub options: CommitOptions,
    /// What must hold of the table for the operation.
    pub gate: Gate,
    /// What unites deletion vectors; without it two commits must not touch one file.
    pub vectors: Option<&'a dyn Vectors>,
    /// Decides which proposal becomes a version: the table's store, or its catalog.
    pub committer: &'a dyn Committer,
}

impl<'a> Transaction<'a> {
    /// One that has read nothing yet and does nothing.
    ///
    /// Errors: `CorruptLog` where the table's metadata contradict themselves.
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

    /// Commits to the version after the snapshot's, or after those of winners that are no conflict. Behind each winner the
    /// actions are made to fit: row ids, versions and times are the next commit's.
    ///
    /// Errors: `CommitConflict` of a class that says with what; `CommitUnknown` where the outcome could not be learnt.
    /// Any other error means that nothing was committed and nothing will be. What the log is given behind the commit cannot
    /// fail it.
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

    /// What two commits must not both touch.
    pub(super) fn granularity(&self) -> Granularity {
        if self.options.row_level && self.vectors.is_some() {
            Granularity::Rows
        } else {
            Granularity::Files
        }
    }

    /// The commit says how far the application comes, and that this was asked.
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
            // A table without in-commit timestamps needs no request for the time of a file.
            (_, Ok(InCommitTimestamps::Disabled)) => 0,
            // The commit corrects properties that do not parse.
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

/// When the version that was read was committed.
///
/// Errors: `CommitConflict` if its commit was cleaned up meanwhile.
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

/// What a commit that brings an application to a version comes to where it is as far already: nothing. None where it is
/// not, so that there is something to do.
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
