//! The commit loop: propose a version; after a winning commit without a conflict, rebase and propose the next.

mod words;

use std::collections::HashSet;
use std::time::Duration;

use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use self::words::{describe, no_answer, no_commit, not_to_be_seen, not_utf8, out_of_time, outrun};
pub(super) use self::words::{not_shown, not_synced, unknown};
use super::commit_info::Provenance;
use super::evidence::is_shown_by;
use super::gap::{Continuity, Next, Readable, Unproved, cleaned_up, ensure_same_table, look_for};
use super::proposal::key_of;
use super::{
    Attempt, Base, Committed, IsolationLevel, Proposal, Transaction, UnitedVector, Winner, already_done,
    check, follow, is_blind_append, modified_ms, rebase, stamp_in_commit_timestamp, time_of,
};
use crate::clock::{Deadline, new_id, now_ms, pause, pause_after_loss};
use crate::committer::Outcome;
use crate::snapshot::LoadOptions;
use crate::upkeep::Upkept;

/// How often a version is proposed without a definitive response, in addition to the retries of the store's client.
/// `max_attempts` counts lost proposals, which are normal under contention.
const MOST_UNANSWERED: usize = 10;

/// The time limit of a commit whose transaction has no deadline.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(600);

/// The default deadline of a commit that starts now.
pub(super) fn default_deadline() -> Deadline {
    Deadline::after(DEFAULT_DEADLINE)
}

/// The attempts of one transaction.
pub(super) struct Attempts<'a> {
    transaction: &'a Transaction<'a>,
    mine: Proposal,
    base: Base,
    txn_id: String,
    /// A version whose proposal got no definitive response and that was not read since: it may still be written.
    open: Option<Version>,
    /// Whether a proposal got no definitive response, so that a version may reference its files.
    is_unanswered: bool,
    /// What the last listing showed.
    continuity: Continuity,
    deadline: Deadline,
    /// Whether the table was verified, after a winning commit, to be the one that was read.
    is_same_table: bool,
    conflicts_resolved: Vec<String>,
    /// Number of files that are removed because winning commits deleted their other rows.
    emptied_files: i64,
}

/// Which transaction committed a version.
enum Seen {
    /// This one.
    Ours,
    /// Another one.
    Another(Box<Winner>),
}

/// The effect of a winning commit on the transaction.
enum Judged {
    /// The application's version is committed already.
    Done,
    /// No conflict: the proposal was rebased.
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
            is_unanswered: false,
            continuity: Continuity::of(transaction.snapshot),
            deadline: transaction.options.deadline.unwrap_or_else(default_deadline),
            is_same_table: false,
            conflicts_resolved: Vec::new(),
            emptied_files: 0,
        }
    }

    /// Commits. After any error other than `CommitUnknown`, nothing was committed and nothing will be.
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
        loop {
            let is_late = self.deadline.has_passed();
            if is_late && self.open.is_none() {
                return Err(out_of_time(location, self.base.version, won));
            }
            let version = self.base.version.next()?;
            // After a lost proposal, all winning commits are read before the next proposal. A late proposal may have
            // been written by now.
            let mut known = None;
            if is_late || (won > 0 && self.open.is_none()) {
                known = self.see(version).await?;
            }
            if is_late && known.is_none() {
                return Err(out_of_time(location, self.base.version, won));
            }
            if known.is_none() {
                let looked = self.look_before_proposal(version).await;
                known = looked.map_err(|error| error.with("table", location.uri()))?;
            }
            let is_proposed = known.is_none();
            let attempted_ms = now_ms();
            // A repeated proposal is identical, so both are the same commit.
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
                    // This proposal failed, but the previous one may succeed.
                    Err(error) if self.open.is_some() => {
                        refused = Some(error);
                        Outcome::Unknown(version)
                    }
                    outcome => outcome?,
                }
            };
            if matches!(outcome, Outcome::Withdrawn(_)) {
                self.continuity.forget();
                lost += 1;
                if lost >= self.transaction.options.max_attempts.max(1) {
                    return Err(outrun(location, self.base.version, lost));
                }
                pause_after_loss().await;
                said = Some((version, info, timestamp_ms));
                continue;
            }
            self.is_unanswered |= matches!(outcome, Outcome::Unknown(_));
            let mut warnings = Vec::new();
            if let Outcome::NotSynced(_, why) = &outcome {
                warnings.push(not_synced(version, why));
            }
            let seen = if matches!(outcome, Outcome::Committed(_) | Outcome::NotSynced(..)) {
                Seen::Ours
            } else {
                if is_proposed && matches!(outcome, Outcome::Lost(_)) {
                    pause_after_loss().await;
                }
                // The version may be this commit until it is read: a store can lose a response.
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
                    // The version does not exist, so it is proposed again: either proposal is this commit.
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
            unanswered = 0;
            let Seen::Another(winner) = seen else {
                self.open = Some(version);
                self.confirm(version).await?;
                self.open = None;
                // The in-commit timestamp, if there is one.
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
                    keeps_files: true,
                    warnings,
                    upkept: Upkept::default(),
                });
            };
            // The version is taken, so no earlier proposal of it can succeed.
            self.open = None;
            let judged = self.judge(&winner).await;
            match judged.map_err(|error| error.with("table", location.uri()))? {
                Judged::Done => {
                    self.confirm_done(version).await?;
                    let timestamp_ms = time_of(location, version, attempted_ms).await;
                    return Ok(Committed {
                        conflicts_resolved: std::mem::take(&mut self.conflicts_resolved),
                        keeps_files: self.is_unanswered || self.shares_file_with(&winner),
                        ..Committed::skipped(version, timestamp_ms)
                    });
                }
                Judged::Rebased => won += 1,
            }
            lost += usize::from(is_proposed);
            if lost >= self.transaction.options.max_attempts.max(1) {
                return Err(outrun(location, self.base.version, lost));
            }
        }
    }

    /// Verifies that a version can be proposed. Returns the winning commit if the log shows that the version is taken.
    async fn look_before_proposal(&mut self, version: Version) -> Result<Option<Seen>> {
        // The catalog determines the versions, not the files.
        if self.is_told_by_catalog() {
            return Ok(None);
        }
        // An open proposal may be repeated without a check, unless the log may have been cleaned up since.
        if self.open.is_some() && !self.continuity.needs_listing(&self.base) {
            return Ok(None);
        }
        let snapshot = self.transaction.snapshot;
        let (next, readable) = self.continuity.before_proposal(snapshot, &self.base).await?;
        // The table was loaded for this check.
        self.is_same_table |= readable == Readable::No;
        match next {
            Next::Free => Ok(None),
            Next::Taken => match self.see(version).await? {
                Some(seen) => Ok(Some(seen)),
                None => Err(cleaned_up(version, "a listing of the log showed it")),
            },
        }
    }

    /// Verifies that readers see this commit at a version. After an error, this is not known.
    async fn confirm(&self, version: Version) -> Result<()> {
        let Some(found) = self.look_for(version).await? else {
            return Ok(());
        };
        let Unproved { newest, file } = &found;
        let is_whole = [&self.base.form.metadata, newest.metadata()]
            .into_iter()
            .all(|metadata| !self.continuity.may_be_cleaned_up(metadata));
        let read = self.transaction.snapshot;
        if is_shown_by(newest, read, &self.base, &self.mine, *file, is_whole).await? {
            return Ok(());
        }
        Err(not_shown(version, newest.version()))
    }

    /// Verifies that readers see the application's version in a winning commit, which makes this commit unnecessary.
    async fn confirm_done(&self, version: Version) -> Result<()> {
        let Some(found) = self.look_for(version).await? else {
            return Ok(());
        };
        let app = self.transaction.options.app_transaction.as_ref();
        if app.is_some_and(|app| already_done(&found.newest, app).is_some()) {
            return Ok(());
        }
        let state = format!("the newest version, {}, does not show it", found.newest.version());
        Err(cleaned_up(version, &state))
    }

    /// Looks for a version in the log if it may have been written after a cleanup. `None` if readers see it.
    async fn look_for(&self, version: Version) -> Result<Option<Unproved>> {
        let snapshot = self.transaction.snapshot;
        if self.is_told_by_catalog() || !self.continuity.needs_confirmation(&self.base.form.metadata) {
            return Ok(None);
        }
        let options = LoadOptions {
            max_line_bytes: snapshot.max_line_bytes(),
        };
        look_for(snapshot.location(), version, options).await
    }

    /// Whether a catalog determines which versions exist, not the files of the log.
    fn is_told_by_catalog(&self) -> bool {
        self.transaction.committer.is_gapless() || self.transaction.snapshot.is_told_by_catalog()
    }

    /// The content of the commit file.
    pub(super) fn bytes_of(&self, committed: &Committed) -> Result<Vec<u8>> {
        let info = committed.commit_info.as_deref().unwrap_or_default();
        let info = serde_json::from_str(info)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("our own commitInfo: {error}")))?;
        self.mine.to_bytes(&info)
    }

    /// The `commitInfo` of the next attempt, and its in-commit timestamp if enabled.
    fn provenance(&mut self, attempted_ms: i64) -> Result<(serde_json::Value, Option<i64>)> {
        let in_commit_timestamp = stamp_in_commit_timestamp(&mut self.mine, &self.base, attempted_ms)?;
        let transaction = self.transaction;
        let info = transaction.details.to_commit_info(
            self.mine.operation,
            &transaction.options.user,
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

    /// Whether copied rows keep their ids; `None` without row tracking.
    fn keeps_row_ids(&self) -> Result<Option<bool>> {
        let form = &self.base.form;
        let protocol = self.mine.protocol.as_ref().unwrap_or(&form.protocol);
        let metadata = self.mine.metadata.as_ref().unwrap_or(&form.metadata);
        let rows = RowTracking::of(protocol, metadata)?;
        let kept = !self.base.lost_row_ids && !self.mine.may_copy_rows();
        Ok(matches!(rows, RowTracking::Enabled(_)).then_some(kept))
    }

    /// The isolation level of this commit, from the options or from the table.
    fn level(&self) -> Result<IsolationLevel> {
        let level = match self.transaction.options.isolation {
            Some(level) => level,
            None => IsolationLevel::of_change(&self.base.form.metadata, self.mine.metadata.as_ref())?,
        };
        Ok(level.of_commit(&self.mine))
    }

    /// Whether a winning commit makes this commit unnecessary or allows it after a rebase.
    ///
    /// Errors: the conflict.
    async fn judge(&mut self, winner: &Winner) -> Result<Judged> {
        if !self.is_same_table {
            // A recreated table has a commit of this version, too.
            let snapshot = self.transaction.snapshot;
            let readable = ensure_same_table(snapshot).await?;
            if readable == Readable::No && !self.is_told_by_catalog() {
                // The winning commit may be that of a stale writer, below the first checkpoint.
                let listed = self.continuity.list_again(snapshot, &self.base, readable).await;
                if listed.is_err() && self.is_unanswered {
                    // Our proposal may have been written and cleaned up before the winning commit.
                    self.open = Some(winner.version);
                }
                listed?;
            }
            self.is_same_table = true;
        }
        let app = self.transaction.options.app_transaction.as_ref();
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
            // Without deletion vectors, conflicts are determined by file, and no file is shared.
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
        self.conflicts_resolved.push(describe(winner, united.len()));
        Ok(Judged::Rebased)
    }

    /// Whether a winning commit adds a file of this commit: then it may be this commit, written by a catalog without its id.
    fn shares_file_with(&self, winner: &Winner) -> bool {
        let theirs: HashSet<String> = winner.adds.iter().map(|add| key_of(&add.path)).collect();
        self.mine
            .adds
            .iter()
            .any(|add| theirs.contains(&key_of(&add.path)))
    }

    /// Which transaction committed a version; `None` if the version does not exist.
    ///
    /// This commit is identified by its id before it is decoded, since its lines may exceed the limit for reading.
    async fn see(&mut self, version: Version) -> Result<Option<Seen>> {
        let snapshot = self.transaction.snapshot;
        let Some(bytes) = self.transaction.committer.read_commit(version).await? else {
            return Ok(None);
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            // The id may be damaged, so an open proposal remains open.
            return Err(not_utf8(version));
        };
        let ours = format!("\"txnId\":\"{}\"", self.txn_id);
        let mut infos = text.lines().filter(|line| line.starts_with("{\"commitInfo\":"));
        if infos.any(|info| info.contains(&ours)) {
            return Ok(Some(Seen::Ours));
        }
        if !text.contains(&self.txn_id) {
            // Without the id it is another commit, even if it cannot be decoded.
            self.open = None;
        }
        let mut winner = Winner::decode(version, now_ms(), &bytes, snapshot.max_line_bytes())?;
        if winner.txn_id.as_deref() == Some(self.txn_id.as_str()) {
            return Ok(Some(Seen::Ours));
        }
        // The first in-commit timestamp of a table must be later than the time of the file before it.
        let may_be_first = winner.in_commit_timestamp.is_none() && self.mine.metadata.is_some();
        if may_be_first && self.base.stamps(&self.mine).unwrap_or(false) {
            winner.modified_ms = modified_ms(snapshot.location(), version).await?;
        }
        Ok(Some(Seen::Another(Box::new(winner))))
    }

    /// Which transaction committed a version that is taken and could not be read a moment ago. It is not proposed again: if
    /// the store has lost it, the commit would be in a gap.
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
