//! The one loop of every commit: propose, and behind a winner that is no conflict propose again.

mod words;

use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use self::words::{describe, no_answer, no_commit, not_to_be_seen, not_utf8, out_of_time, outrun, unknown};
use super::commit_info::Provenance;
use super::gap::{ensure_goes_on, ensure_same_table};
use super::{
    Attempt, Base, Committed, IsolationLevel, Proposal, Transaction, UnitedVector, Winner, check, follow,
    is_blind_append, rebase, stamp_in_commit_timestamp, time_of,
};
use crate::clock::{Deadline, new_id, now_ms, pause, pause_by_chance};
use crate::committer::Outcome;
use crate::upkeep::Upkept;

/// How often a version is proposed to which no answer comes that tells; the store's client has asked again each time.
/// `max_attempts` counts winners, and many of them are no sign that anything is out of order.
const MOST_UNANSWERED: usize = 10;

/// Behind more winners in a row than these the next proposal waits a little, so that not all who lost meet again.
const AT_ONCE: usize = 2;

/// The attempts of one transaction.
pub(super) struct Attempts<'a> {
    transaction: &'a Transaction<'a>,
    mine: Proposal,
    base: Base,
    txn_id: String,
    /// A version that was proposed without an answer and not seen since: the proposal may still land.
    open: Option<Version>,
    /// When the version that the next attempt stands on was seen, in milliseconds since the epoch.
    seen_ms: i64,
    /// Whether it was asked, behind a winner, that the table is the one that was read.
    is_same_table: bool,
    conflicts_resolved: Vec<String>,
    /// How many files are removed because winning commits deleted the rest of their rows.
    emptied_files: i64,
}

/// Whose a version is.
enum Seen {
    /// Our own commit stands there.
    Ours,
    /// Another's does.
    Another(Box<Winner>),
}

/// What a version that another has won means for the transaction.
enum Judged {
    /// It says that what we were about to do is done.
    Done,
    /// It is another's, and the proposal is rebased over it.
    Rebased,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(transaction: &'a Transaction<'a>, mine: Proposal, base: Base) -> Self {
        Self {
            transaction,
            mine,
            base,
            txn_id: new_id(),
            open: None,
            seen_ms: transaction.snapshot.seen_ms(),
            is_same_table: false,
            conflicts_resolved: Vec::new(),
            emptied_files: 0,
        }
    }

    /// Commits, or says why not. An error other than `CommitUnknown` means that nothing was committed and nothing will be.
    pub(super) async fn run(&mut self) -> Result<Committed> {
        let ended = self.attempt().await;
        match (ended, self.open) {
            (Err(error), Some(version)) => {
                Err(unknown(self.transaction.snapshot.location(), version, &error))
            }
            (ended, _) => ended,
        }
    }

    async fn attempt(&mut self) -> Result<Committed> {
        let location = self.transaction.snapshot.location();
        let (mut won, mut lost, mut unanswered) = (0, 0, 0);
        let mut said: Option<(Version, serde_json::Value, Option<i64>)> = None;
        while won < self.transaction.max_attempts.max(1) {
            let is_late = self.transaction.deadline.is_some_and(Deadline::has_passed);
            if is_late && self.open.is_none() {
                return Err(out_of_time(location, self.base.version, won));
            }
            let version = self.base.version.next()?;
            let mut known = None;
            if is_late {
                // What was proposed may have landed by now.
                known = self.see(version).await?;
                if known.is_none() {
                    return Err(out_of_time(location, self.base.version, won));
                }
            } else if won > AT_ONCE && self.open.is_none() {
                // Who is far behind reads on: a proposal would be lost, and during a pause for each winner others would
                // win still more.
                known = self.see(version).await?;
                if known.is_none() {
                    lost += 1;
                    pause_by_chance(lost).await;
                }
            }
            let attempted_ms = now_ms();
            if known.is_none() && self.open.is_none() {
                let snapshot = self.transaction.snapshot;
                let listed = ensure_goes_on(snapshot, &self.base, self.seen_ms, attempted_ms).await;
                if listed.map_err(|error| error.with("table", location.uri()))? {
                    self.seen_ms = attempted_ms;
                }
            }
            // What is proposed once more is proposed as it was: whichever of both lands, it is the same commit.
            let (info, timestamp_ms) = match said.take() {
                Some((of, info, timestamp_ms)) if of == version => (info, timestamp_ms),
                _ => self.provenance(attempted_ms)?,
            };
            let mut refused = None;
            let outcome = if known.is_some() {
                Outcome::Lost(version)
            } else {
                let commit = self.mine.to_bytes(&info)?;
                match self.transaction.committer.propose(version, commit).await {
                    // This proposal has not landed, and the one before may have.
                    Err(error) if self.open.is_some() => {
                        refused = Some(error);
                        Outcome::Unknown(version)
                    }
                    outcome => outcome?,
                }
            };
            let seen = if let Outcome::Committed(_) = outcome {
                Seen::Ours
            } else {
                // Until the version has been seen, what took it may be this very commit: a store can lose an answer.
                let before = self.open.replace(version);
                let seen = match known {
                    Some(seen) => Some(seen),
                    None => self.see(version).await?,
                };
                match (seen, outcome) {
                    (Some(seen), _) => seen,
                    (None, Outcome::Lost(_)) => {
                        let path = location.below(&LogPath::commit(version))?;
                        if before.is_none() && location.is_no_regular_file(&path) {
                            self.open = None;
                            return Err(no_commit(version));
                        }
                        self.see_again(version).await?
                    }
                    // Nothing is there yet, so the version is proposed again: whichever proposal lands is ours.
                    (None, _) => {
                        unanswered += 1;
                        if unanswered == MOST_UNANSWERED || refused.is_some() {
                            return Err(refused.unwrap_or_else(|| no_answer(version)));
                        }
                        pause(unanswered).await;
                        said = Some((version, info, timestamp_ms));
                        continue;
                    }
                }
            };
            // The version is taken, so no earlier proposal of it can land any more.
            self.open = None;
            unanswered = 0;
            let Seen::Another(winner) = seen else {
                // With in-commit timestamps the commit itself says when.
                let timestamp_ms = match timestamp_ms {
                    Some(timestamp_ms) => timestamp_ms,
                    None => time_of(location, version, attempted_ms).await,
                };
                return Ok(Committed {
                    version,
                    timestamp_ms,
                    commit_info: Some(info.to_string()),
                    conflicts_resolved: std::mem::take(&mut self.conflicts_resolved),
                    skipped: false,
                    upkept: Upkept::default(),
                });
            };
            let judged = self.judge(&winner).await;
            match judged.map_err(|error| error.with("table", location.uri()))? {
                Judged::Done => {
                    let timestamp_ms = time_of(location, version, attempted_ms).await;
                    return Ok(Committed {
                        conflicts_resolved: std::mem::take(&mut self.conflicts_resolved),
                        ..Committed::skipped(version, timestamp_ms)
                    });
                }
                Judged::Rebased => won += 1,
            }
        }
        Err(outrun(location, self.base.version, self.transaction.max_attempts))
    }

    /// What was committed in the end, as the log has it.
    pub(super) fn bytes_of(&self, committed: &Committed) -> Result<Vec<u8>> {
        let info = committed.commit_info.as_deref().unwrap_or_default();
        let info = serde_json::from_str(info)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("our own commitInfo: {error}")))?;
        self.mine.to_bytes(&info)
    }

    /// The `commitInfo` of the next attempt, and its in-commit timestamp where the table has them.
    fn provenance(&mut self, attempted_ms: i64) -> Result<(serde_json::Value, Option<i64>)> {
        let in_commit_timestamp = stamp_in_commit_timestamp(&mut self.mine, &self.base, attempted_ms)?;
        let transaction = self.transaction;
        let info = transaction.operation.to_commit_info(
            &transaction.user,
            &Provenance {
                timestamp_ms: in_commit_timestamp.unwrap_or(attempted_ms),
                in_commit_timestamp,
                read: Some(self.base.version),
                level: self.level()?,
                is_blind_append: is_blind_append(&self.mine, &transaction.read),
                keeps_row_ids: self.keeps_row_ids()?,
                txn_id: &self.txn_id,
                emptied_files: self.emptied_files,
            },
        );
        Ok((info, in_commit_timestamp))
    }

    /// Whether the rows that are copied keep their ids; none where rows have none.
    fn keeps_row_ids(&self) -> Result<Option<bool>> {
        let form = &self.base.form;
        let protocol = self.mine.protocol.as_ref().unwrap_or(&form.protocol);
        let metadata = self.mine.metadata.as_ref().unwrap_or(&form.metadata);
        let rows = RowTracking::of(protocol, metadata)?;
        let kept = !self.base.lost_row_ids && !self.mine.may_copy_rows();
        Ok(matches!(rows, RowTracking::Enabled(_)).then_some(kept))
    }

    /// What this commit needs of the table's isolation level, or of the one that was asked for.
    fn level(&self) -> Result<IsolationLevel> {
        let level = match self.transaction.isolation {
            Some(level) => level,
            None => IsolationLevel::of_change(&self.base.form.metadata, self.mine.metadata.as_ref())?,
        };
        Ok(level.of_commit(&self.mine))
    }

    /// Whether a winner makes our commit needless, or is one that ours fits behind; else the conflict.
    async fn judge(&mut self, winner: &Winner) -> Result<Judged> {
        if !self.is_same_table {
            // A version that was taken looks alike in a table that was made anew.
            ensure_same_table(self.transaction.snapshot).await?;
            self.is_same_table = true;
        }
        let app = self.transaction.app_transaction.as_ref();
        if app.is_some_and(|(app_id, version)| {
            let theirs = winner.txns.iter().find(|txn| txn.app_id == *app_id);
            theirs.is_some_and(|txn| txn.version >= *version)
        }) {
            return Ok(Judged::Done);
        }
        let shared = check(
            &Attempt {
                mine: &self.mine,
                read: &self.transaction.read,
                base: &self.base,
                level: self.level()?,
                granularity: self.transaction.granularity(),
                gate: self.transaction.gate,
            },
            winner,
        )?;
        let mut united = Vec::with_capacity(shared.len());
        for file in shared {
            // A transaction without vectors judges by files, and shares none.
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
        follow(&mut self.mine, &united)?;
        rebase(&mut self.mine, &mut self.base, winner)?;
        self.seen_ms = now_ms();
        self.conflicts_resolved.push(describe(winner, united.len()));
        Ok(Judged::Rebased)
    }

    /// Whose a version is; none where it is not there.
    ///
    /// Our own commit is known by its id before anything is decoded: a line of ours may be longer than the user lets a line
    /// be that is read, and a commit that stands is no failure for that.
    async fn see(&mut self, version: Version) -> Result<Option<Seen>> {
        let snapshot = self.transaction.snapshot;
        let Some(bytes) = self.transaction.committer.read_commit(version).await? else {
            return Ok(None);
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            // Damaged after it was written, maybe in its id: an open proposal stays open.
            return Err(not_utf8(version));
        };
        let ours = format!("\"txnId\":\"{}\"", self.txn_id);
        let mut infos = text.lines().filter(|line| line.starts_with("{\"commitInfo\":"));
        if infos.any(|info| info.contains(&ours)) {
            return Ok(Some(Seen::Ours));
        }
        if !text.contains(&self.txn_id) {
            // A commit of ours is seen whole, so this is another's, also where it cannot be decoded.
            self.open = None;
        }
        let mut winner = Winner::decode(version, now_ms(), &bytes, snapshot.max_line_bytes())?;
        if winner.txn_id.as_deref() == Some(self.txn_id.as_str()) {
            return Ok(Some(Seen::Ours));
        }
        // Only who brings times into a table looks at those of files.
        if winner.in_commit_timestamp.is_none() && self.mine.metadata.is_some() {
            winner.modified_ms = time_of(snapshot.location(), version, winner.modified_ms).await;
        }
        Ok(Some(Seen::Another(Box::new(winner))))
    }

    /// Whose a version is that is taken and was not there a moment ago. What is taken is not proposed again: where the store
    /// has lost it, a commit of ours would stand in a gap.
    async fn see_again(&mut self, version: Version) -> Result<Seen> {
        for nth in 1..MOST_UNANSWERED {
            pause(nth).await;
            if let Some(seen) = self.see(version).await? {
                return Ok(seen);
            }
        }
        Err(not_to_be_seen(version))
    }
}
