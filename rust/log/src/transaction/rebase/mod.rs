//! Rebases a proposal over a winning commit, for the version after it.
//!
//! Actions contain versions, row ids and timestamps, so the commit content of one attempt is never reused for another.

mod base;
mod dropped_feature;
mod row_ids;
mod stamps;
#[cfg(test)]
mod tests;

pub use base::Base;
pub(super) use dropped_feature::dropped_feature;
pub use row_ids::assign_row_ids;
pub use stamps::stamp_in_commit_timestamp;

use std::collections::HashSet;

use deltaic_protocol::Result;
use deltaic_protocol::actions::DomainMetadata;
use deltaic_protocol::row_tracking;

use super::proposal::key_of;
use super::{Proposal, WinningCommit};

/// Rebases a proposal over a winning commit that does not conflict, and advances `base` to it.
///
/// The caller must also apply [`follow`](super::follow) to shared files, and [`stamp_in_commit_timestamp`] at each
/// attempt.
///
/// Protocol: *Row Tracking*, *Domain Metadata*; *Type Widening* and *Checkpoint Protection* of the table features.
///
/// # Errors
///
/// `CorruptLog` if the winning commit's metadata or domains cannot be read, `InvalidArgument` if a file that
/// needs row ids has no `numRecords`.
pub fn rebase(proposal: &mut Proposal, base: &mut Base, winning_commit: &WinningCommit) -> Result<()> {
    let (before, read_mark) = (base.table.clone(), base.high_water_mark);
    base.advance(winning_commit)?;
    if proposal.operation.replaces_table() {
        remove_new_domains(proposal, winning_commit);
    }
    leave_to_winning_commit(proposal, winning_commit);
    let given = row_ids::inherit_row_ids(proposal, winning_commit);
    if row_ids::are_handed_out(&proposal.applied_to(&base.table))? {
        row_ids::reassign_row_ids(proposal, base, read_mark, winning_commit.version, &given)?;
    }
    stamps::restamp_type_changes(proposal, winning_commit.version)?;
    stamps::restamp_checkpoint_protection(proposal, before.protocol(), winning_commit.version)?;
    proposal.validate()
}

/// Removes domains that the winning commit added to a table that is being replaced.
fn remove_new_domains(proposal: &mut Proposal, winning_commit: &WinningCommit) {
    let ours: HashSet<String> = proposal
        .domains
        .iter()
        .map(|domain| domain.domain.clone())
        .collect();
    let theirs = winning_commit.domains.iter().filter(|domain| {
        !domain.removed && domain.domain != row_tracking::DOMAIN && !ours.contains(&domain.domain)
    });
    proposal.domains.extend(theirs.map(|domain| DomainMetadata {
        removed: true,
        ..domain.clone()
    }));
}

/// If the proposal is a row-id backfill or un-backfill, drops its adds of files that the winning commit added or
/// removed: these files already have their ids or no longer exist.
fn leave_to_winning_commit(proposal: &mut Proposal, winning_commit: &WinningCommit) {
    if !proposal.is_backfill() && !proposal.is_unbackfill() {
        return;
    }
    let files = winning_commit.adds.iter().chain(&winning_commit.removes);
    let touched: HashSet<String> = files.map(|file| key_of(&file.path)).collect();
    proposal.adds.retain(|add| !touched.contains(&key_of(&add.path)));
}
