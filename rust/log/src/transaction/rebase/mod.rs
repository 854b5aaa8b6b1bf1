//! Rebases a proposal over a winning commit, for the version after it.
//!
//! Actions contain versions, row ids and timestamps, so the commit content of one attempt is never reused for another.

mod row_ids;
mod stamps;
#[cfg(test)]
mod tests;

pub use row_ids::assign_row_ids;
pub use stamps::stamp_in_commit_timestamp;

use std::collections::HashSet;

use deltaic_protocol::actions::DomainMetadata;
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::row_tracking::{self, RowTracking};
use deltaic_protocol::{Result, TableConfiguration, Version};

use super::proposal::key_of;
use super::{Proposal, WinningCommit};

/// The base of a proposal: the read version, or the last winning commit over which it was rebased; for the first commit
/// of a table the new table itself.
#[derive(Clone, Debug)]
pub struct Base {
    /// The version to propose: the one after the base.
    pub next: Version,
    /// The table configuration at the base version.
    pub table: TableConfiguration,
    /// The highest assigned row id; `None` if none was assigned.
    pub high_water_mark: Option<i64>,
    /// Timestamp of the version in milliseconds since the epoch: its in-commit timestamp, or that of its file.
    pub timestamp_ms: i64,
    /// Whether a winning commit enabled row tracking, so that rows copied by the proposal have lost their ids.
    pub lost_row_ids: bool,
}

impl Base {
    /// The version itself; `None` if there is no table yet.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.next.previous()
    }

    /// Whether a commit after this version has an in-commit timestamp.
    pub(super) fn stamps(&self, proposal: &Proposal) -> Result<bool> {
        let times = InCommitTimestamps::of(&proposal.applied_to(&self.table))?;
        Ok(times != InCommitTimestamps::Disabled)
    }

    /// Advances to a winning commit: its version, protocol, metadata, high water mark and timestamp.
    fn advance(&mut self, winning_commit: &WinningCommit) -> Result<()> {
        let enables_rows = |table: &TableConfiguration| {
            RowTracking::of(table).map(|rows| matches!(rows, RowTracking::Enabled(_)))
        };
        let were_enabled = enables_rows(&self.table)?;
        self.table = self.table.after(
            winning_commit.protocol.as_ref(),
            winning_commit.metadata.as_ref(),
            &winning_commit.domains,
        );
        self.lost_row_ids |= !were_enabled && enables_rows(&self.table)?;
        self.high_water_mark = winning_commit.high_water_mark()?.or(self.high_water_mark);
        // Invalid properties fail the commit later, when it is stamped, unless it corrects them.
        let has_times =
            InCommitTimestamps::of(&self.table).is_ok_and(|times| times != InCommitTimestamps::Disabled);
        self.timestamp_ms = match winning_commit.in_commit_timestamp {
            Some(timestamp_ms) if has_times => timestamp_ms,
            // A modification time can be earlier than that of the version before: clocks differ, and logs are copied.
            _ => winning_commit
                .modified_ms
                .max(self.timestamp_ms.saturating_add(1)),
        };
        self.next = winning_commit.version.next()?;
        Ok(())
    }
}

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
