//! Checks a winning commit for conflicts and rebases over it; creates the `commitInfo` of this commit.

use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::{Result, Version};

use super::gap::{Readable, ensure_same_table};
use super::state::{Attempts, Effect, Stamped};
use super::words::{describe, exists};
use crate::transaction::commit_info::Provenance;
use crate::transaction::{
    Attempt, IsolationLevel, UnitedVector, WinningCommit, check, follow, is_blind_append, rebase,
    stamp_in_commit_timestamp,
};
use deltaic_storage::clock::now_ms;

impl Attempts<'_> {
    /// Whether a winning commit makes this commit unnecessary or allows it after a rebase.
    ///
    /// # Errors
    ///
    /// The conflict.
    pub(super) async fn handle(&mut self, winning_commit: &WinningCommit) -> Result<Effect> {
        let Some(snapshot) = self.transaction.snapshot() else {
            return Err(exists(self.location()));
        };
        if !self.is_same_table {
            // A recreated table also has a commit of this version.
            let readable = ensure_same_table(snapshot).await?;
            if readable == Readable::No && !self.is_from_catalog() {
                // The winning commit may be from a stale writer, before the first checkpoint.
                self.continuity.list_again(snapshot, &self.base, readable).await?;
            }
            self.is_same_table = true;
        }
        let app = self.transaction.options.app_transaction.as_ref();
        if app.is_some_and(|(app_id, version)| {
            let theirs = winning_commit.txns.iter().find(|txn| txn.app_id == *app_id);
            theirs.is_some_and(|txn| txn.version >= *version)
        }) {
            return Ok(Effect::Done);
        }
        let shared = check(
            &Attempt {
                proposal: &self.proposal,
                read: &self.transaction.read,
                base: &self.base,
                level: self.level()?,
                granularity: self.transaction.granularity(),
                support_check: self.transaction.support_check,
            },
            winning_commit,
        )?;
        let mut united = Vec::with_capacity(shared.len());
        for file in shared {
            // Without deletion vectors, conflicts are determined per file, so no file is shared.
            let Some(vectors) = self.transaction.vectors else {
                return Err(file.otherwise.into());
            };
            match vectors.unite(&file).await? {
                UnitedVector::Overlap => return Err(file.otherwise.into()),
                vector => united.push((file, vector)),
            }
        }
        let emptied = united
            .iter()
            .filter(|(_, vector)| *vector == UnitedVector::Emptied);
        self.emptied_files += i64::try_from(emptied.count()).unwrap_or(i64::MAX);
        follow(&mut self.proposal, &united)?;
        rebase(&mut self.proposal, &mut self.base, winning_commit)?;
        self.conflicts_resolved
            .push(describe(winning_commit, united.len()));
        Ok(Effect::Rebased)
    }

    /// The isolation level of this commit, from the options or from the table.
    pub(super) fn level(&self) -> Result<IsolationLevel> {
        let level = match self.transaction.options.isolation {
            Some(level) => level,
            None => IsolationLevel::of_change(self.base.table.metadata(), self.proposal.metadata.as_ref())?,
        };
        Ok(level.of_commit(&self.proposal))
    }

    /// Whether copied rows keep their ids; `None` without row tracking.
    pub(super) fn keeps_row_ids(&self) -> Result<Option<bool>> {
        let rows = RowTracking::of(&self.proposal.applied_to(&self.base.table))?;
        let kept = !self.base.lost_row_ids && !self.proposal.may_copy_rows();
        Ok(matches!(rows, RowTracking::Enabled(_)).then_some(kept))
    }

    /// The `commitInfo` of this commit as a version.
    pub(super) fn stamp(&mut self, version: Version) -> Result<serde_json::Value> {
        if let Some(stamped) = &self.stamped
            && stamped.version == version
        {
            return Ok(stamped.info.clone());
        }
        let attempted_ms = now_ms();
        let in_commit_timestamp = stamp_in_commit_timestamp(&mut self.proposal, &self.base, attempted_ms)?;
        let transaction = self.transaction;
        // A new table has no rows that could be read or copied.
        let is_creation = transaction.snapshot().is_none();
        let about = Provenance {
            timestamp_ms: in_commit_timestamp.unwrap_or(attempted_ms),
            in_commit_timestamp,
            read: self.base.version(),
            level: if is_creation {
                IsolationLevel::Serializable
            } else {
                self.level()?
            },
            is_blind_append: is_creation || is_blind_append(&self.proposal, &transaction.read),
            keeps_row_ids: if is_creation { None } else { self.keeps_row_ids()? },
            txn_id: &self.txn_id,
            emptied_files: self.emptied_files,
        };
        let details = &transaction.details;
        let info = details.to_commit_info(self.proposal.operation, &transaction.options.user, &about);
        self.stamped = Some(Stamped {
            version,
            info: info.clone(),
            in_commit_timestamp,
        });
        Ok(info)
    }
}
