//! A blind append: the shortest transaction.

use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::features::ensure_appendable;

use super::{Committed, Operation, Transaction, UserInfo};
use crate::snapshot::Snapshot;
use crate::upkeep::UpkeepPolicy;

/// An append, its data files already written.
#[derive(Clone, Debug)]
pub struct Append {
    /// The files.
    pub adds: Vec<Add>,
    /// What the commit says about itself.
    pub operation: Operation,
    /// What the user adds to that.
    pub user: UserInfo,
    /// How many proposals may be lost to other writers.
    pub max_attempts: usize,
    /// An application, and how far it comes with this append: nothing is done where it is as far already.
    pub app_transaction: Option<(String, i64)>,
    /// What is done for the log behind the commit.
    pub upkeep: UpkeepPolicy,
}

/// Commits an append to the version after the snapshot's, or after the winners'.
///
/// An error other than `CommitUnknown` means that nothing was committed and nothing will be.
///
/// Protocol: *Requirements for Writers*, *Creation of New Log Entries*.
pub async fn append(snapshot: &Snapshot, append: &Append) -> Result<Committed> {
    let mut transaction = Transaction::try_new(snapshot, append.operation.clone(), ensure_appendable)?;
    transaction.proposal.adds.clone_from(&append.adds);
    transaction.user = append.user.clone();
    transaction.max_attempts = append.max_attempts;
    transaction.app_transaction.clone_from(&append.app_transaction);
    transaction.upkeep = append.upkeep;
    transaction.commit().await
}
