//! The state of the attempts of one transaction.

use std::sync::Arc;
use std::time::Duration;

use deltaic_protocol::{Error, Version};

use super::gap::Continuity;
use crate::transaction::commit::Transaction;
use crate::transaction::proposal::Proposal;
use crate::transaction::rebase::Base;
use crate::transaction::winning_commit::WinningCommit;
use deltaic_storage::clock::{Deadline, new_id};
use deltaic_storage::location::TableLocation;

/// The time limit of a commit whose transaction has no deadline.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(600);

/// The default deadline of a commit that starts now.
pub(in crate::transaction) fn default_deadline() -> Deadline {
    Deadline::after(DEFAULT_DEADLINE)
}

/// The attempts of one transaction.
pub(super) struct Attempts<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) proposal: Proposal,
    pub(super) base: Base,
    pub(super) txn_id: String,
    /// A version whose proposal got no definitive response and that was not read afterwards: it may still be written.
    pub(super) open: Option<Version>,
    /// The last version whose proposal got no definitive response.
    pub(super) unanswered: Option<Version>,
    /// Whether a proposal got no definitive response, so that a version may reference its files.
    pub(super) is_unanswered: bool,
    /// The result of the last listing.
    pub(super) continuity: Continuity,
    pub(super) deadline: Deadline,
    /// Whether the table was verified, after a winning commit, to be the one that was read.
    pub(super) is_same_table: bool,
    /// Number of winning commits that this one was rebased over.
    pub(super) won: usize,
    /// Number of lost proposals.
    pub(super) lost: usize,
    /// Number of proposals of the next version that got no definitive response.
    pub(super) responses_missing: usize,
    /// The error of a failed repeated proposal.
    pub(super) refused: Option<Error>,
    /// The `commitInfo` of the last proposal: a repeated one is identical, so that both are the same commit.
    pub(super) stamped: Option<Stamped>,
    pub(super) warnings: Vec<String>,
    pub(super) conflicts_resolved: Vec<String>,
    /// Number of files that are removed because winning commits deleted their other rows.
    pub(super) emptied_files: i64,
}

/// The `commitInfo` of a proposal.
pub(super) struct Stamped {
    pub(super) version: Version,
    pub(super) info: serde_json::Value,
    pub(super) in_commit_timestamp: Option<i64>,
}

/// The transaction that committed a version.
pub(super) enum CommittedBy {
    /// This version.
    Ours,
    /// Another one.
    Another(Box<WinningCommit>),
}

/// The effect of a winning commit on the transaction.
pub(super) enum Effect {
    /// The application's version is committed already.
    Done,
    /// No conflict: the proposal was rebased.
    Rebased,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(transaction: &'a Transaction<'a>, proposal: Proposal, base: Base) -> Self {
        Self {
            transaction,
            proposal,
            txn_id: new_id(),
            open: None,
            unanswered: None,
            is_unanswered: false,
            continuity: transaction
                .snapshot()
                .map_or_else(Continuity::unknown, |snapshot| Continuity::of(snapshot, &base)),
            base,
            deadline: transaction.options.deadline.unwrap_or_else(default_deadline),
            is_same_table: false,
            won: 0,
            lost: 0,
            responses_missing: 0,
            refused: None,
            stamped: None,
            warnings: Vec::new(),
            conflicts_resolved: Vec::new(),
            emptied_files: 0,
        }
    }

    pub(super) fn location(&self) -> &'a Arc<TableLocation> {
        self.transaction.location()
    }
}
