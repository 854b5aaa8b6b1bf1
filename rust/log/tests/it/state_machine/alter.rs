//! Table changes through the library's API, which retries them after a winning commit, and replacements.

use deltaic_log::transaction::{CommitOptions, Committed, IfExists, alter, create};
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::own_commits::without_maintenance;

use super::change::Change;
use super::machine::{Machine, WRITERS, number_of};
use super::model::{PlannedCommit, State};
use super::table_location::{Ended, Mishap};

impl Machine {
    /// A writer changes the table, possibly based on an old version.
    pub(crate) async fn alter(&mut self) -> Result<()> {
        let writer = self.chance.below(WRITERS);
        let mishap = Mishap::by(&mut self.chance);
        let snapshot = self.hold(writer).await?;
        let read = number_of(&snapshot);
        let state = self.history.state(read).clone();
        let change = self.change(&state);
        let options = CommitOptions {
            max_attempts: 100,
            post_commit: self.maintain(),
            row_level: self.chance.below(3) > 0,
            ..CommitOptions::default()
        };
        let again = options.row_level || change.replaces();
        if change.replaces() {
            // A replacement in the millisecond in which the table was created may have the same metadata.
            self.clocks.tick();
        }
        self.trace.begin(format!(
            "writer {writer} at {read}: {change:?}, again: {again}, {:?}, {mishap:?}",
            options.post_commit
        ));
        let planned = PlannedCommit {
            name: "ALTER",
            change: Some(change.clone()),
            removed_ms: self.clocks.writer_ms(writer),
            ..PlannedCommit::default()
        };
        let work = async {
            match change.as_table_change() {
                Some(change) => alter(&snapshot, &[change], &options, None).await,
                None => {
                    let table = self.form.new_table(IfExists::Replace);
                    let made = create(&self.place.location, table, &without_maintenance()).await?;
                    Ok(made.expect("what is there is replaced"))
                }
            }
        };
        let work = Box::pin(self.clocks.as_writer(writer, work));
        let ended = self.place.run(mishap, work).await;
        self.trace.end(&ended, |committed| {
            format!(
                "{} {}",
                committed.version,
                if committed.skipped { "skipped" } else { "" }
            )
        });
        let has_outlived = self.outlived[writer];
        // A repeated change is based on the newest version.
        let stands_on = if again { self.history.newest() } else { read };
        self.check_change(&ended, &planned, (read, stands_on), has_outlived)
            .await?;
        self.go_on(writer, &ended).await
    }

    async fn check_change(
        &mut self,
        ended: &Ended<Result<Committed>>,
        planned: &PlannedCommit,
        (read, stands_on): (usize, usize),
        has_outlived: bool,
    ) -> Result<()> {
        let change = planned.change.as_ref().expect("it is a change");
        let before = [self.history.state(read).clone(), self.history.last().clone()];
        let after = before
            .each_ref()
            .map(|state| change.apply(state, self.history.newest() + 1, planned.removed_ms));
        let winning_commits = self.history.newest() - read;
        let landed = self.take_in(planned, stands_on).await?;
        self.tally.changes += usize::from(landed.is_some());
        match &ended.outcome {
            None => self.tally.unknown += 1,
            Some(Ok(committed)) if committed.skipped => {
                let is_nothing = |(before, after): (&State, &Option<State>)| after.as_ref() == Some(before);
                assert!(landed.is_none(), "it was not done, it is said");
                assert!(
                    before.iter().zip(&after).any(is_nothing),
                    "something was to be changed"
                );
            }
            Some(Ok(committed)) => {
                let version = landed.expect("an acknowledged change is not there");
                assert_eq!(usize::try_from(committed.version.as_i64()), Ok(version));
                assert!(
                    committed.post_commit.failures.is_empty() || ended.was_met || has_outlived,
                    "{:?}",
                    committed.post_commit.failures
                );
            }
            Some(Err(error)) => {
                let is_refused = after.iter().any(Option::is_none) || change.may_be_refused();
                let may_fail = match error.kind() {
                    ErrorKind::CommitConflict(_) => winning_commits > 0,
                    // Log files are read lazily, and may have been deleted.
                    ErrorKind::CorruptLog | ErrorKind::VersionNotFound => has_outlived,
                    ErrorKind::InvalidArgument
                    | ErrorKind::SchemaMismatch
                    | ErrorKind::UnsupportedFeature => is_refused,
                    _ => false,
                };
                assert!(ended.was_met || may_fail, "{:?}: {error}", error.kind());
                assert!(
                    landed.is_none() || error.kind() == ErrorKind::CommitUnknown,
                    "it is there: {error}"
                );
            }
        }
        self.compare_oldest().await
    }

    fn change(&mut self, read: &State) -> Change {
        let column = |machine: &mut Self| match read.columns.len() {
            0 => "c0".to_owned(),
            count => read.columns[machine.chance.below(count)].0.clone(),
        };
        match self.chance.below(12) {
            0..=1 => Change::AddColumn(format!("c{}", self.chance.below(6))),
            2..=3 => {
                let from = column(self);
                Change::Rename(from, format!("c{}", self.chance.below(6)))
            }
            4 => match column(self) {
                // One column with data is retained.
                name if read.columns.len() > 2 => Change::Drop(name),
                _ => Change::Set("machine.0", "1".to_owned()),
            },
            5 => Change::Widen(column(self)),
            6 => Change::Set("delta.columnMapping.mode", "name".to_owned()),
            7 => {
                let value = (self.chance.below(3) > 0).to_string();
                Change::Set("delta.enableTypeWidening", value)
            }
            8 => Change::Set("delta.enableInCommitTimestamps", "true".to_owned()),
            9 => {
                let value = (self.chance.below(3) > 0).to_string();
                Change::Set("delta.enableDeletionVectors", value)
            }
            10 if self.chance.below(2) == 0 => Change::Replace(Box::new(self.form.blank())),
            10 => Change::Set("machine.1", self.chance.below(3).to_string()),
            _ => Change::DropFeature(["deletionVectors", "typeWidening"][self.chance.below(2)]),
        }
    }
}
