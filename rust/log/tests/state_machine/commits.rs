//! Commits: what the writer was told is held against the log and the model.

use deltaic_log::transaction::{Committed, Vectors};
use deltaic_protocol::{Error, ErrorKind, Result};
use serde_json::{Value, json};

use super::machine::{Machine, WRITERS, number_of};
use super::model::Wish;
use super::place::{Ended, Mishap};
use super::wish::{InLog, PARTITION, transaction};

const DAY_MS: i64 = 86_400_000;

impl Machine {
    /// Someone commits something, maybe to a version that was long ago, and maybe something befalls them.
    pub(crate) async fn commit(&mut self) -> Result<()> {
        let writer = self.chance.below(WRITERS);
        let mishap = Mishap::by(&mut self.chance);
        let snapshot = self.hold(writer).await?;
        let read = number_of(&snapshot);
        let state = self.history.state(read).clone();
        let wish = self.wish(&state);
        let vectors: Option<&dyn Vectors> = if self.chance.below(4) > 0 {
            Some(&InLog)
        } else {
            None
        };
        self.trace.begin(format!(
            "writer {writer} at {read}: {}, rows: {}, {mishap:?}",
            told(&wish),
            vectors.is_some()
        ));
        let ours = transaction(&snapshot, &state, &wish, vectors)?;
        let ended = self.place.run(mishap, ours.commit()).await;
        self.trace.end(&ended, |said| {
            format!("{} {}", said.version, if said.skipped { "skipped" } else { "" })
        });
        self.judge(&ended, wish, read).await?;
        if ended.was_met {
            self.tally.mishaps += 1;
        }
        // Whoever was cut off is gone; others go on with what they hold, or look again.
        if ended.said.is_none() || self.chance.below(10) == 0 {
            self.held[writer] = None;
            self.compare_newest().await?;
        } else if self.chance.below(3) > 0 {
            let fresh = snapshot.refresh().await?;
            assert_eq!(number_of(&fresh), self.history.newest(), "a refresh is behind");
            self.glance(&fresh).await?;
            self.held[writer] = Some(fresh);
        }
        Ok(())
    }

    /// Whether what was said is so; a commit that is there is the model's next version.
    async fn judge(&mut self, ended: &Ended<Result<Committed>>, wish: Wish, read: usize) -> Result<()> {
        let version = self.history.newest() + 1;
        let landed = self.place.info_of(version).await?;
        assert!(
            self.place.info_of(version + 1).await?.is_none(),
            "a commit was made twice"
        );
        let winners = version - 1 - read;
        match &ended.said {
            None => self.tally.unknown += 1,
            Some(Ok(said)) if said.skipped => {
                assert!(
                    landed.is_none() && self.history.is_done(&wish),
                    "it was not done and is said to be"
                );
                self.tally.skipped += 1;
            }
            Some(Ok(said)) => {
                assert!(landed.is_some(), "an acknowledged commit is not there");
                assert_eq!(
                    usize::try_from(said.version.as_i64()),
                    Ok(version),
                    "it is there and elsewhere"
                );
                assert_eq!(said.conflicts_resolved.len(), winners);
                self.tally.rebased += usize::from(winners > 0);
                let united = |how: &String| how.contains("it deleted other rows");
                self.tally.united += usize::from(said.conflicts_resolved.iter().any(united));
            }
            Some(Err(error)) => self.judge_failure(error, ended.was_met, landed.as_ref(), (&wish, read)),
        }
        if let Some(info) = landed {
            assert!(!self.history.is_done(&wish), "what was done is done again");
            assert!(
                !self.history.must_lose(&wish, read),
                "a commit is there that must not follow a winner"
            );
            self.history.commit(wish, self.time_of(&info));
            self.tally.commits += 1;
        }
        Ok(())
    }

    fn judge_failure(
        &mut self,
        error: &Error,
        was_met: bool,
        landed: Option<&Value>,
        (wish, read): (&Wish, usize),
    ) {
        match error.kind() {
            ErrorKind::CommitUnknown => {
                assert!(was_met, "nothing befell it: {error}");
                self.tally.unknown += 1;
            }
            ErrorKind::CommitConflict(_) => {
                assert!(landed.is_none(), "it is there: {error}");
                assert!(
                    self.history.may_lose(wish, read),
                    "there was no such winner: {error}"
                );
                self.tally.conflicts += 1;
            }
            _ => assert!(was_met && landed.is_none(), "{:?}: {error}", error.kind()),
        }
    }

    fn time_of(&self, info: &Value) -> Option<i64> {
        let time_ms = info["inCommitTimestamp"].as_i64();
        assert_eq!(time_ms.is_some(), self.form.has_times, "times are there or not");
        time_ms
    }

    /// Another client, whose clock is days ahead, appends.
    pub(crate) async fn commit_ahead(&mut self) -> Result<()> {
        let version = self.history.newest() + 1;
        let mut wish = Wish {
            name: "WRITE",
            adds: self.new_files(1),
            changes_rows: true,
            ..Wish::default()
        };
        wish.adds
            .truncate(if self.history.last().files.len() > 8 { 0 } else { 1 });
        let days = i64::try_from(1 + self.chance.below(3)).unwrap_or(1);
        let last_ms = self.history.versions.last().and_then(|last| last.time_ms);
        let time_ms = last_ms.map(|last_ms| last_ms + days * DAY_MS);
        self.trace
            .begin(format!("another client at {time_ms:?}: {}", told(&wish)));
        let after = self
            .history
            .last()
            .after(&wish, version, self.history.numbers_rows);
        let mut info = json!({"operation": "WRITE", "isBlindAppend": true});
        if let Some(time_ms) = time_ms {
            info["inCommitTimestamp"] = json!(time_ms);
        }
        let mut lines = vec![json!({ "commitInfo": info })];
        for (path, _) in &wish.adds {
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
        self.history.commit(wish, time_ms);
        self.compare_newest().await.map(|_| ())
    }
}

/// A wish in few words.
fn told(wish: &Wish) -> String {
    let mut told = wish.name.to_owned();
    for (path, file) in &wish.adds {
        told += &format!(" +{path}({})", file.rows.unwrap_or(0));
    }
    for path in &wish.removes {
        told += &format!(" -{path}");
    }
    for (path, rows) in &wish.deletes {
        told += &format!(" {path}{rows:?}");
    }
    if let Some((change, ..)) = &wish.form {
        told += &format!(" {change:?}");
    }
    if let Some((name, configuration)) = &wish.domain {
        told += &format!(" {name}={configuration:?}");
    }
    if let Some((id, version)) = &wish.app {
        told += &format!(" {id}@{version}");
    }
    told
}
