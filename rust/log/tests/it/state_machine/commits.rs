//! Commits: the result that the writer received is compared with the log and the model.

use std::sync::Arc;

use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::transaction::{Committed, Vectors};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result};
use serde_json::json;

use super::clocks::DAY_MS;
use super::machine::{Machine, WRITERS, number_of};
use super::model::{PlannedCommit, State};
use super::planned_commit::{PARTITION, transaction};
use super::table_location::{Ended, Mishap};
use super::vectors::{Uniter, VectorPlacement};

/// An attempted commit.
pub(crate) struct Tried {
    pub(crate) planned: PlannedCommit,
    /// The version that its writer had read.
    pub(crate) read: usize,
    /// Whether the log was cleaned up since the writer opened the table, or while it committed.
    pub(crate) has_outlived: bool,
    /// Whether it was stalled while others continued: their writes may hide it.
    pub(crate) is_stalled: bool,
    /// The version that it was observed to have created before it ended.
    pub(crate) landed: Option<usize>,
}

impl Machine {
    /// A writer commits, possibly based on an old version, and possibly with a mishap.
    pub(crate) async fn commit(&mut self) -> Result<()> {
        let writer = self.chance.below(WRITERS);
        let mishap = Mishap::by(&mut self.chance);
        self.commit_by(writer, mishap).await
    }

    pub(crate) async fn commit_by(&mut self, writer: usize, mishap: Mishap) -> Result<()> {
        let snapshot = self.hold(writer).await?;
        let read = number_of(&snapshot);
        let state = self.history.state(read).clone();
        let planned = self.planned(&state, writer);
        let kept = self.kept();
        let uniter = self.uniter(kept, &state);
        let committer = self.place.committer();
        let mut ours = transaction(&snapshot, &state, &planned, kept).await?;
        ours.vectors = uniter.as_ref().map(|uniter| uniter as &dyn Vectors);
        ours.committer = committer.as_ref();
        ours.options.post_commit = self.maintain();
        self.trace.begin(format!(
            "writer {writer} at {read}: {}, {:?}, rows: {}, {:?}, {mishap:?}",
            described(&planned),
            planned.isolation,
            ours.vectors.is_some(),
            ours.options.post_commit,
        ));
        let work = Box::pin(self.clocks.as_writer(writer, ours.commit()));
        let ended = self.place.run(mishap, work).await;
        self.trace.end(&ended, |committed| {
            format!(
                "{} {}",
                committed.version,
                if committed.skipped { "skipped" } else { "" }
            )
        });
        let has_outlived = self.outlived[writer];
        self.check(
            &ended,
            Tried {
                planned,
                read,
                has_outlived,
                is_stalled: false,
                landed: None,
            },
        )
        .await?;
        self.go_on(writer, &ended).await
    }

    /// A cut-off writer is lost; others continue with their snapshot, or refresh it.
    pub(crate) async fn go_on<T>(&mut self, writer: usize, ended: &Ended<T>) -> Result<()> {
        self.tally.mishaps += usize::from(ended.was_met);
        let held = self.held[writer].clone();
        match held.filter(|_| ended.outcome.is_some() && self.chance.below(10) > 0) {
            None => {
                self.held[writer] = None;
                self.compare_newest().await?;
            }
            Some(snapshot) if self.chance.below(3) > 0 => {
                let fresh = self.clocks.as_writer(writer, snapshot.refresh()).await?;
                assert_eq!(number_of(&fresh), self.history.newest(), "a refresh is behind");
                self.glance(&fresh).await?;
                self.held[writer] = Some(fresh);
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Where the vectors of a commit are stored.
    pub(crate) fn kept(&mut self) -> VectorPlacement {
        [VectorPlacement::InLog, VectorPlacement::InFile][self.chance.below(2)]
    }

    /// The merger of the commit's vectors with those of others; some writers have none.
    pub(crate) fn uniter(&mut self, kept: VectorPlacement, state: &State) -> Option<Uniter> {
        let uniter = Uniter {
            location: Arc::clone(&self.place.location),
            kept,
            rows: state.rows(),
        };
        (self.chance.below(4) > 0).then_some(uniter)
    }

    /// The maintenance after a commit.
    pub(crate) fn maintain(&mut self) -> PostCommitPolicy {
        let compaction_interval = [0, 0, 2, 5][self.chance.below(4)];
        match self.chance.below(3) {
            0 => PostCommitPolicy::none(),
            _ => PostCommitPolicy {
                compaction_interval,
                ..PostCommitPolicy::default()
            },
        }
    }

    /// Adds the next version to the model if it exists: it is the attempted commit.
    pub(crate) async fn take_in(&mut self, planned: &PlannedCommit, read: usize) -> Result<Option<usize>> {
        let version = self.history.newest() + 1;
        let Some(info) = self.place.info_of(version).await? else {
            return Ok(None);
        };
        assert!(
            self.place.info_of(version + 1).await?.is_none(),
            "a commit was made twice"
        );
        assert!(!self.history.is_done(planned), "what was done is done again");
        assert!(
            !self.history.must_lose(planned, read),
            "a commit is there that must not follow a winner"
        );
        let modified_ms = self.place.modified_ms(version).await?;
        let time_ms = info["inCommitTimestamp"].as_i64();
        let mut planned = planned.clone();
        // Replacing a table removes its files at the time of the replacement.
        if let Some(removed_ms) = self.place.removed_ms(version).await? {
            planned.removed_ms = removed_ms;
        }
        self.history.commit(planned, time_ms, modified_ms);
        self.tally.commits += 1;
        Ok(Some(version))
    }

    /// Verifies the reported result; an existing commit becomes the model's next version.
    pub(crate) async fn check(&mut self, ended: &Ended<Result<Committed>>, tried: Tried) -> Result<()> {
        let is_done = self.history.is_done(&tried.planned);
        let may_lose = self.history.may_lose(&tried.planned, tried.read);
        let landed = match tried.landed {
            Some(version) => Some(version),
            None => self.take_in(&tried.planned, tried.read).await?,
        };
        match &ended.outcome {
            None => self.tally.unknown += 1,
            Some(Ok(committed)) if committed.skipped => {
                assert!(landed.is_none() && is_done, "it was not done and is said to be");
                self.tally.skipped += 1;
            }
            Some(Ok(committed)) => {
                let version = landed.expect("an acknowledged commit does not exist");
                assert_eq!(
                    usize::try_from(committed.version.as_i64()),
                    Ok(version),
                    "it is there and elsewhere"
                );
                let winning_commits = version - 1 - tried.read;
                assert_eq!(committed.conflicts_resolved.len(), winning_commits);
                self.tally.rebased += usize::from(winning_commits > 0);
                let united = |how: &String| how.contains("it deleted other rows");
                self.tally.united += usize::from(committed.conflicts_resolved.iter().any(united));
                self.tally.phantoms += usize::from(tried.planned.reads.is_some() && winning_commits > 0);
                assert!(
                    committed.post_commit.failures.is_empty() || ended.was_met || tried.has_outlived,
                    "{:?}",
                    committed.post_commit.failures
                );
                self.tally.kept_up += usize::from(committed.post_commit.checkpoint.is_some());
            }
            Some(Err(error)) => self.check_failure(error, (ended.was_met, may_lose), landed, &tried),
        }
        self.compare_oldest().await
    }

    fn check_failure(
        &mut self,
        error: &Error,
        (was_met, may_lose): (bool, bool),
        landed: Option<usize>,
        tried: &Tried,
    ) {
        match error.kind() {
            ErrorKind::CommitUnknown => {
                assert!(was_met || tried.is_stalled, "nothing befell it: {error}");
                self.tally.unknown += 1;
            }
            ErrorKind::CommitConflict(kind) => {
                assert!(landed.is_none(), "it is there: {error}");
                // Commits that were cleaned up, or that the store claims not to have, cannot be read.
                let has_no_way = (tried.has_outlived || was_met) && kind == Conflict::ConcurrentWrite;
                assert!(may_lose || has_no_way, "there was no such winner: {error}");
                self.tally.conflicts += 1;
                self.tally.outlived += usize::from(has_no_way);
            }
            kind => {
                // A cleanup may have deleted a file between its listing and its read.
                let is_gone = kind == ErrorKind::StorageError && tried.is_stalled && tried.has_outlived;
                assert!((was_met || is_gone) && landed.is_none(), "{kind:?}: {error}");
            }
        }
    }

    /// Another client, whose clock is days ahead, appends.
    pub(crate) async fn commit_ahead(&mut self) -> Result<()> {
        let version = self.history.newest() + 1;
        let mut planned = PlannedCommit {
            name: "WRITE",
            adds: self.new_files(1),
            changes_rows: true,
            ..PlannedCommit::default()
        };
        planned
            .adds
            .truncate(if self.history.last().files.len() > 8 { 0 } else { 1 });
        let days = i64::try_from(1 + self.chance.below(3)).unwrap_or(1);
        self.trace.begin(format!(
            "another client, {days} days ahead: {}",
            described(&planned)
        ));
        let after = self
            .history
            .last()
            .after(&planned, version, self.history.numbers_rows);
        let mut info = json!({"operation": "WRITE", "isBlindAppend": true});
        let has_times = self.history.last().has_times();
        let before = &self.history.versions[version - 1];
        let time_ms = has_times.then(|| before.time_ms.unwrap_or(before.modified_ms) + days * DAY_MS);
        if let Some(time_ms) = time_ms {
            info["inCommitTimestamp"] = json!(time_ms);
        }
        let mut lines = vec![json!({ "commitInfo": info })];
        for (path, _) in &planned.adds {
            let file = &after.files[path];
            let values = file
                .partition
                .as_ref()
                .map_or(json!({}), |value| json!({ PARTITION: value }));
            let mut add = json!({"path": path, "partitionValues": values, "size": file.size, "modificationTime": 1,
                "dataChange": true, "stats": json!({"numRecords": file.rows}).to_string()});
            if let Some((first, version)) = file.numbered {
                (add["baseRowId"], add["defaultRowCommitVersion"]) = (json!(first), json!(version));
                let mark = json!({"rowIdHighWaterMark": after.mark}).to_string();
                lines.push(json!({"domainMetadata": {"domain": "delta.rowTracking", "configuration": mark, "removed": false}}));
            }
            lines.push(json!({ "add": add }));
        }
        self.place.put_commit(version, &lines).await?;
        let modified_ms = self.place.modified_ms(version).await?;
        self.history.commit(planned, time_ms, modified_ms);
        self.compare_newest().await.map(|_| ())
    }
}

/// A short description of a planned commit.
pub(crate) fn described(planned: &PlannedCommit) -> String {
    let mut described = planned.name.to_owned();
    for (path, file) in &planned.adds {
        described += &format!(" +{path}({})", file.rows.unwrap_or(0));
    }
    for path in &planned.removes {
        described += &format!(" -{path}");
    }
    for (path, rows) in &planned.deletes {
        described += &format!(" {path}{rows:?}");
    }
    if let Some(change) = &planned.change {
        described += &format!(" {change:?}");
    }
    if let Some(selection) = &planned.reads {
        described += &format!(" where {selection:?}");
    }
    if let Some((name, configuration)) = &planned.domain {
        described += &format!(" {name}={configuration:?}");
    }
    if let Some((id, version)) = &planned.app {
        described += &format!(" {id}@{version}");
    }
    described
}
