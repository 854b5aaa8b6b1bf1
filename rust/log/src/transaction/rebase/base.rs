//! The version that a proposal follows.

use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::{Result, TableConfiguration, Version};

use crate::transaction::proposal::Proposal;
use crate::transaction::winning_commit::WinningCommit;

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
    pub(in crate::transaction) fn stamps(&self, proposal: &Proposal) -> Result<bool> {
        let times = InCommitTimestamps::of(&proposal.applied_to(&self.table))?;
        Ok(times != InCommitTimestamps::Disabled)
    }

    /// Advances to a winning commit: its version, protocol, metadata, high water mark and timestamp.
    pub(super) fn advance(&mut self, winning_commit: &WinningCommit) -> Result<()> {
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
