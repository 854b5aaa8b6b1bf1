//! Identifies the transaction that committed a version.

use std::collections::HashSet;

use deltaic_protocol::{Result, Version};

use super::commit_time::modified_ms;
use super::gap::Readable;
use super::state::{Attempts, CommittedBy};
use super::words::{MOST_UNANSWERED, exists, not_to_be_seen, not_utf8};
use crate::snapshot::LoadOptions;
use crate::transaction::WinningCommit;
use crate::transaction::proposal::key_of;
use deltaic_storage::clock::{now_ms, pause};

impl Attempts<'_> {
    /// Returns the transaction that committed a version; `None` if the version does not exist.
    ///
    /// This commit is identified by its id before it is decoded, since its lines may exceed the limit for reading.
    pub(super) async fn see(&mut self, version: Version) -> Result<Option<CommittedBy>> {
        let Some(bytes) = self.transaction.committer.read_commit(version).await? else {
            return Ok(None);
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            // The id may be damaged, so the outcome of an open proposal remains unknown.
            return Err(not_utf8(version));
        };
        let ours = format!("\"txnId\":\"{}\"", self.txn_id);
        let mut infos = text.lines().filter(|line| line.starts_with("{\"commitInfo\":"));
        if infos.any(|info| info.contains(&ours)) {
            return Ok(Some(CommittedBy::Ours));
        }
        if !text.contains(&self.txn_id) {
            // Without the id it is another commit, even if it cannot be decoded.
            self.ensure_never_ours(version).await?;
            self.open = None;
            if self.transaction.snapshot().is_none() {
                return Err(exists(self.location()));
            }
        }
        let limit = match self.transaction.snapshot() {
            Some(snapshot) => snapshot.max_line_bytes(),
            None => LoadOptions::default().max_line_bytes,
        };
        let mut winning_commit = WinningCommit::decode(version, now_ms(), &bytes, limit)?;
        if winning_commit.txn_id.as_deref() == Some(self.txn_id.as_str()) {
            return Ok(Some(CommittedBy::Ours));
        }
        // The first in-commit timestamp of a table must be later than the time of the file before it.
        let may_be_first = winning_commit.in_commit_timestamp.is_none() && self.proposal.metadata.is_some();
        if may_be_first && self.base.stamps(&self.proposal).unwrap_or(false) {
            winning_commit.modified_ms = modified_ms(self.location(), version).await?;
        }
        Ok(Some(CommittedBy::Another(Box::new(winning_commit))))
    }

    /// Verifies that a proposal without a response was never committed, although the version now is another commit: a
    /// cleanup may have deleted it, and a stale writer may have written the version again.
    ///
    /// # Errors
    ///
    /// Errors of the store; the outcome of the proposal then remains unknown.
    pub(super) async fn ensure_never_ours(&mut self, version: Version) -> Result<()> {
        if self.unanswered != Some(version) || self.is_from_catalog() {
            return Ok(());
        }
        self.open = Some(version);
        if let Some(snapshot) = self.transaction.snapshot() {
            let listed = self.continuity.list_again(snapshot, &self.base, Readable::Yes);
            listed.await?;
        }
        self.unanswered = None;
        Ok(())
    }

    /// Returns the transaction that committed a version that exists but could not be read before. The version is not
    /// proposed again: if the store lost it, the commit would be in a gap.
    pub(super) async fn see_again(&mut self, version: Version) -> Result<CommittedBy> {
        for nth in 1..MOST_UNANSWERED {
            pause(nth).await;
            if let Some(seen) = self.see(version).await? {
                return Ok(seen);
            }
        }
        Err(not_to_be_seen(version))
    }

    /// Whether a winning commit adds a file of this commit: then it may be this commit, written by a catalog without
    /// its id.
    pub(super) fn shares_file_with(&self, winning_commit: &WinningCommit) -> bool {
        let theirs: HashSet<String> = winning_commit.adds.iter().map(|add| key_of(&add.path)).collect();
        self.proposal
            .adds
            .iter()
            .any(|add| theirs.contains(&key_of(&add.path)))
    }
}
