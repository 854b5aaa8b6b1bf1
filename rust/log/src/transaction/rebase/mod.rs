//! A proposal that fits behind a winner becomes one for the version after it. Its actions name versions, row ids and
//! times, so what was written for one attempt is never the commit of another.

mod row_ids;
mod stamps;
#[cfg(test)]
mod tests;

pub use row_ids::hand_out_row_ids;
pub use stamps::stamp_in_commit_timestamp;

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol};
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::row_tracking::{self, RowTracking};
use deltaic_protocol::{Result, Version};

use super::proposal::key_of;
use super::{Proposal, Winner};
use crate::changes::TableForm;

/// What a proposal stands on: the version that was read, and later the last winner that it was rebased over.
#[derive(Clone, Debug)]
pub struct Base {
    /// The version.
    pub version: Version,
    /// The table's protocol and metadata as of it.
    pub form: TableForm,
    /// The highest row id that was handed out; none where none was.
    pub high_water_mark: Option<i64>,
    /// The version's time in milliseconds since the epoch: its in-commit timestamp, or that of its file.
    pub timestamp_ms: i64,
    /// Whether row tracking was enabled by a winner, so that the rows that we copied have lost their ids.
    pub lost_row_ids: bool,
}

impl Base {
    /// Whether a commit behind this version has an in-commit timestamp.
    pub(super) fn stamps(&self, mine: &Proposal) -> Result<bool> {
        let times = InCommitTimestamps::of(self.protocol(mine), self.metadata(mine))?;
        Ok(times != InCommitTimestamps::Disabled)
    }

    /// The protocol as the commit leaves it.
    fn protocol<'a>(&'a self, mine: &'a Proposal) -> &'a Protocol {
        mine.protocol.as_ref().unwrap_or(&self.form.protocol)
    }

    /// The metadata as the commit leaves them.
    fn metadata<'a>(&'a self, mine: &'a Proposal) -> &'a Metadata {
        mine.metadata.as_ref().unwrap_or(&self.form.metadata)
    }

    /// Goes on to a winner: its protocol and metadata, its high water mark, its time.
    fn go_on(&mut self, winner: &Winner) -> Result<()> {
        let enables_rows = |form: &TableForm| {
            RowTracking::of(&form.protocol, &form.metadata)
                .map(|rows| matches!(rows, RowTracking::Enabled(_)))
        };
        let were_enabled = enables_rows(&self.form)?;
        if let Some(protocol) = &winner.protocol {
            self.form.protocol = Arc::new(protocol.clone());
        }
        if let Some(metadata) = &winner.metadata {
            self.form.metadata = Arc::new(metadata.clone());
        }
        self.lost_row_ids |= !were_enabled && enables_rows(&self.form)?;
        self.high_water_mark = winner.high_water_mark()?.or(self.high_water_mark);
        // Properties that do not parse fail a commit that does not correct them when it is stamped.
        let has_times = InCommitTimestamps::of(&self.form.protocol, &self.form.metadata)
            .is_ok_and(|times| times != InCommitTimestamps::Disabled);
        self.timestamp_ms = match winner.in_commit_timestamp {
            Some(timestamp_ms) if has_times => timestamp_ms,
            // The time of a file can be earlier than the commit before it: clocks differ, and so do copies.
            _ => winner.modified_ms.max(self.timestamp_ms.saturating_add(1)),
        };
        self.version = winner.version;
        Ok(())
    }
}

/// Rebases a proposal over a winner that is no conflict. `base` goes on to the winner.
///
/// Shared files must [`follow`](super::follow) the winner besides, and the time of the commit is set at each attempt:
/// [`stamp_in_commit_timestamp`].
///
/// Protocol: *Row Tracking*, *Domain Metadata*; *Type Widening* and *Checkpoint Protection* of the table features.
///
/// Errors: `CorruptLog` where the winner's metadata or domains cannot be read, `InvalidArgument` where a file has no
/// `numRecords` that its row ids hang on.
pub fn rebase(mine: &mut Proposal, base: &mut Base, winner: &Winner) -> Result<()> {
    let (before, read_mark) = (base.form.clone(), base.high_water_mark);
    base.go_on(winner)?;
    if mine.operation.replaces_table() {
        remove_new_domains(mine, winner);
    }
    leave_to_winner(mine, winner);
    let given = row_ids::take_over(mine, winner);
    if row_ids::are_handed_out(base.protocol(mine), base.metadata(mine))? {
        row_ids::hand_out_again(mine, base, read_mark, winner.version, &given)?;
    }
    stamps::restamp_type_changes(mine, winner.version)?;
    stamps::restamp_checkpoint_protection(mine, &before.protocol, winner.version)?;
    mine.validate()
}

/// A table that is replaced keeps no domain that came meanwhile.
fn remove_new_domains(mine: &mut Proposal, winner: &Winner) {
    let ours: HashSet<String> = mine.domains.iter().map(|domain| domain.domain.clone()).collect();
    let theirs = winner.domains.iter().filter(|domain| {
        !domain.removed && domain.domain != row_tracking::DOMAIN && !ours.contains(&domain.domain)
    });
    mine.domains.extend(theirs.map(|domain| DomainMetadata {
        removed: true,
        ..domain.clone()
    }));
}

/// Who gives or takes row ids leaves alone what the winner brought or took: it has its ids, or has gone.
fn leave_to_winner(mine: &mut Proposal, winner: &Winner) {
    if !mine.is_backfill() && !mine.is_unbackfill() {
        return;
    }
    let files = winner.adds.iter().chain(&winner.removes);
    let touched: HashSet<String> = files.map(|file| key_of(&file.path)).collect();
    mine.adds.retain(|add| !touched.contains(&key_of(&add.path)));
}
