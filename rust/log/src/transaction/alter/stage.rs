//! Stages changes of the table configuration in a transaction.

use deltaic_protocol::Result;
use deltaic_protocol::change::{ChangeContext, Precondition, TableChange, change, preconditions};
use deltaic_protocol::clustering;

use crate::snapshot::Snapshot;
use crate::transaction::rebase::dropped_feature;
use crate::transaction::{Proposal, ReadSet};
use deltaic_storage::clock::{new_id, now_ms};

/// The parts of a transaction in which changes are staged.
pub struct Staging<'a> {
    /// The read version.
    pub snapshot: &'a Snapshot,
    /// The read set.
    pub read: &'a mut ReadSet,
    /// The staged actions.
    pub proposal: &'a mut Proposal,
}

/// Stages changes of the table configuration in a transaction, in order and on top of the staged actions. Returns their
/// preconditions on the files of the table.
///
/// # Errors
///
/// As [`change`]. The transaction is unchanged after an error.
pub fn stage_changes(staging: &mut Staging<'_>, changes: &[TableChange]) -> Result<Vec<Precondition>> {
    let snapshot = staging.snapshot;
    let first = snapshot.configuration();
    let before = staging.proposal.applied_to(first);
    let mut context = ChangeContext {
        version: snapshot.version().next()?,
        timestamp_ms: now_ms(),
        new_id: &mut new_id,
    };
    let mut after = before.clone();
    for one in changes {
        after = change(&after, one, &mut context)?;
    }
    let owed = preconditions(&before, &after)?;
    let actions = after.actions_since(first);
    if !actions.is_empty() {
        // The clustering columns determine how a column may be changed.
        staging.read.read_domain(clustering::DOMAIN);
    }
    let drops = dropped_feature(first.protocol(), after.protocol()).is_some();
    let proposal = &mut *staging.proposal;
    proposal.drop_proved_at = drops.then(|| snapshot.version()).or(proposal.drop_proved_at);
    proposal.protocol = actions.protocol;
    proposal.metadata = actions.metadata;
    proposal.domains = actions.domains;
    Ok(owed)
}
