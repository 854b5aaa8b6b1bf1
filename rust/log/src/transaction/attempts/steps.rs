//! The steps of the attempts of one transaction.

use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Error, Result};

use super::commit_time::time_of;
use super::state::{Attempts, CommittedBy, Effect};
use super::words::{
    MOST_UNANSWERED, creation_unknown, no_answer, no_commit, not_synced, out_of_time, outrun, unknown,
};
use crate::committer::Outcome;
use crate::post_commit::PostCommit;
use crate::transaction::committed::Committed;
use crate::transaction::winning_commit::WinningCommit;
use deltaic_storage::clock::{now_ms, pause, pause_after_loss};

/// The next step.
enum State {
    /// Check whether the next version is free.
    Look,
    /// Propose it.
    Propose,
    /// Identify the transaction that committed it: the committer reported that it exists, or did not respond.
    Identify { is_taken: bool },
    /// Verify that readers see this commit.
    Confirm { warnings: Vec<String> },
    /// Check a winning commit for conflicts, and rebase over it.
    Follow {
        winning_commit: Box<WinningCommit>,
        is_loss: bool,
    },
}

impl Attempts<'_> {
    /// Commits. After any error other than `CommitUnknown`, nothing was committed and nothing will be.
    pub(super) async fn run(&mut self) -> Result<Committed> {
        let ended = self.attempt().await;
        match (ended, self.open) {
            (Err(error), Some(version)) => Err(match self.transaction.snapshot() {
                Some(_) => unknown(self.location(), version, &error),
                None => creation_unknown(self.location(), &error),
            }),
            (ended, _) => ended,
        }
    }

    async fn attempt(&mut self) -> Result<Committed> {
        let mut state = State::Look;
        loop {
            state = match state {
                State::Look => self.look().await?,
                State::Propose => self.propose().await?,
                State::Identify { is_taken } => self.identify(is_taken).await?,
                State::Confirm { warnings } => return self.finish(warnings).await,
                State::Follow {
                    winning_commit,
                    is_loss,
                } => match self.handle(&winning_commit).await {
                    Ok(Effect::Done) => return self.finish_done(&winning_commit).await,
                    Ok(Effect::Rebased) => {
                        self.won += 1;
                        if is_loss {
                            self.count_loss()?;
                        }
                        State::Look
                    }
                    Err(error) => return Err(error.with("table", self.location().uri())),
                },
            };
        }
    }

    /// Checks whether the next version is free.
    async fn look(&mut self) -> Result<State> {
        let is_late = self.deadline.has_passed();
        if is_late && self.open.is_none() {
            return Err(out_of_time(self.location(), self.base.version(), self.won));
        }
        let version = self.base.next;
        // After a lost proposal, all winning commits are read before the next one. A delayed proposal may have been
        // written in between.
        if is_late || (self.won > 0 && self.open.is_none()) {
            if let Some(seen) = self.see(version).await? {
                return Ok(self.settle(seen, false));
            }
            if is_late {
                return Err(out_of_time(self.location(), self.base.version(), self.won));
            }
        }
        match self.check_before_proposal(version).await {
            Ok(Some(seen)) => Ok(self.settle(seen, false)),
            Ok(None) => Ok(State::Propose),
            Err(error) => Err(error.with("table", self.location().uri())),
        }
    }

    /// Proposes the next version.
    async fn propose(&mut self) -> Result<State> {
        let version = self.base.next;
        let info = self.stamp(version)?;
        let commit = self.proposal.to_bytes(&info)?;
        let outcome = match self.transaction.committer.propose(version, commit).await {
            Ok(outcome) => outcome,
            Err(error) if self.open.is_none() => return Err(error),
            Err(error) => {
                // This proposal failed, but an earlier proposal of the version may still succeed.
                self.refused = Some(error);
                Outcome::Unknown(version)
            }
        };
        if matches!(outcome, Outcome::Unknown(_) | Outcome::Taken(_)) {
            self.unanswered = Some(version);
            self.is_unanswered = true;
        }
        tracing::debug!(target: "deltaic::commit", ?outcome, "proposed version {version}");
        Ok(match outcome {
            Outcome::Committed(_) => State::Confirm { warnings: Vec::new() },
            Outcome::NotSynced(_, why) => State::Confirm {
                warnings: vec![not_synced(version, &why)],
            },
            Outcome::Withdrawn(_) => {
                self.continuity.forget();
                self.count_loss()?;
                pause_after_loss().await;
                State::Look
            }
            Outcome::Lost(_) | Outcome::Taken(_) => {
                pause_after_loss().await;
                State::Identify { is_taken: true }
            }
            Outcome::Unknown(_) => State::Identify { is_taken: false },
        })
    }

    /// Identifies the transaction that committed the proposed version. Until the version is read, it may be this one,
    /// since a store can lose a response.
    async fn identify(&mut self, is_taken: bool) -> Result<State> {
        let version = self.base.next;
        let before = self.open.replace(version);
        if let Some(seen) = self.see(version).await? {
            return Ok(self.settle(seen, true));
        }
        if is_taken {
            let path = self.location().below(&LogPath::commit(version))?;
            if before.is_none() && self.location().is_not_regular_file(&path) {
                self.open = None;
                return Err(no_commit(version));
            }
            let seen = self.see_again(version).await?;
            return Ok(self.settle(seen, true));
        }
        // The version does not exist, so it is proposed again: either proposal is this commit.
        self.responses_missing += 1;
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        if self.responses_missing == MOST_UNANSWERED {
            return Err(no_answer(version));
        }
        pause(self.responses_missing).await;
        Ok(State::Look)
    }

    /// Returns the next step after the next version was read. `is_loss` is true if it was proposed.
    fn settle(&mut self, seen: CommittedBy, is_loss: bool) -> State {
        self.responses_missing = 0;
        self.refused = None;
        match seen {
            CommittedBy::Ours => State::Confirm { warnings: Vec::new() },
            CommittedBy::Another(winning_commit) => {
                // The version is taken, so no earlier proposal of it can succeed.
                self.open = None;
                State::Follow {
                    winning_commit,
                    is_loss,
                }
            }
        }
    }

    /// Counts a lost proposal.
    ///
    /// # Errors
    ///
    /// `CommitConflict` if no further proposal is allowed.
    fn count_loss(&mut self) -> Result<()> {
        self.lost += 1;
        if self.lost >= self.transaction.options.max_attempts.max(1) {
            return Err(outrun(self.location(), self.base.version(), self.lost));
        }
        Ok(())
    }

    /// Verifies that readers see this commit, and describes it.
    async fn finish(&mut self, warnings: Vec<String>) -> Result<Committed> {
        let version = self.base.next;
        self.open = Some(version);
        self.confirm(version).await?;
        self.open = None;
        let info = self.stamp(version)?;
        let timestamp_ms = match self
            .stamped
            .as_ref()
            .and_then(|stamped| stamped.in_commit_timestamp)
        {
            Some(timestamp_ms) => timestamp_ms,
            None => time_of(self.location(), version, now_ms()).await,
        };
        Ok(Committed {
            version,
            timestamp_ms,
            commit_info: Some(info.to_string()),
            conflicts_resolved: std::mem::take(&mut self.conflicts_resolved),
            skipped: false,
            keeps_files: true,
            warnings: self.warnings.drain(..).chain(warnings).collect(),
            post_commit: PostCommit::default(),
        })
    }

    /// Verifies that readers see a winning commit that makes this one unnecessary.
    async fn finish_done(&mut self, winning_commit: &WinningCommit) -> Result<Committed> {
        self.confirm_done(winning_commit.version).await?;
        let timestamp_ms = time_of(self.location(), winning_commit.version, now_ms()).await;
        Ok(Committed {
            conflicts_resolved: std::mem::take(&mut self.conflicts_resolved),
            keeps_files: self.is_unanswered || self.shares_file_with(winning_commit),
            ..Committed::skipped(winning_commit.version, timestamp_ms)
        })
    }

    /// The content of the commit file.
    pub(super) fn bytes_of(&self, committed: &Committed) -> Result<Vec<u8>> {
        let info = committed.commit_info.as_deref().unwrap_or_default();
        let info = serde_json::from_str(info)
            .map_err(|error| Error::internal(format!("the commitInfo cannot be parsed: {error}")))?;
        self.proposal.to_bytes(&info)
    }
}
