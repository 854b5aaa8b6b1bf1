//! Checkpoints, compactions, checksums and cleanups: the table is unchanged, and reported results are correct.

use std::sync::Arc;

use deltaic_log::checkpoint::{CheckpointName, CheckpointOptions, HELD_BYTES, HintOutcome, write_checkpoint};
use deltaic_log::checksum::write_missing_checksum;
use deltaic_log::cleanup::clean_up_now;
use deltaic_log::compaction::compact;
use deltaic_log::listing::Listing;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::location::TableLocation;

use super::machine::{Machine, WRITERS, number_of};
use super::table_location::{Ended, Mishap, to_version};

impl Machine {
    /// Verifies that an operation without mishaps succeeded.
    fn ends_well<T>(&mut self, ended: &Ended<Result<T>>) {
        self.tally.mishaps += usize::from(ended.was_met);
        if let Some(Err(error)) = &ended.outcome {
            assert!(ended.was_met, "nothing befell it: {error}");
        }
    }

    /// Writes a checkpoint of a version that a writer holds.
    pub(crate) async fn checkpoint(&mut self) -> Result<()> {
        let writer = self.chance.below(WRITERS);
        let mishap = Mishap::by(&mut self.chance);
        self.checkpoint_by(writer, mishap).await
    }

    pub(crate) async fn checkpoint_by(&mut self, writer: usize, mishap: Mishap) -> Result<()> {
        let snapshot = self.hold_listed(writer).await?;
        let options = CheckpointOptions {
            name: [CheckpointName::BySpec, CheckpointName::Classic][self.chance.below(2)],
            sidecar_actions: 1 + self.chance.below(8),
            held_bytes: [HELD_BYTES, 0][self.chance.below(2)],
            now_ms: None,
        };
        let version = number_of(&snapshot);
        self.trace
            .begin(format!("checkpoint of {version}, {options:?}, {mishap:?}"));
        let work = self
            .clocks
            .as_writer(writer, write_checkpoint(&snapshot, &options));
        let ended = self.place.run(mishap, work).await;
        self.trace
            .end(&ended, |done| format!("{}, {:?}", done.path, done.hint));
        if self.outlived[writer]
            && let Some(Err(error)) = &ended.outcome
        {
            // Log files are read again, and may have been deleted: the table has to be opened again.
            let known = [ErrorKind::CorruptLog, ErrorKind::VersionNotFound];
            assert!(ended.was_met || known.contains(&error.kind()), "{error}");
            self.held[writer] = None;
        } else {
            self.ends_well(&ended);
        }
        if let Some(Ok(done)) = &ended.outcome {
            assert_eq!(done.version, to_version(version));
            assert!(ended.was_met || !matches!(done.hint, HintOutcome::Failed(_)));
            self.tally.checkpoints += usize::from(done.is_new);
            let opened = self.load(Some(version)).await?;
            let base = opened.segment().checkpoint.as_ref().map(|base| base.version);
            assert_eq!(base, Some(to_version(version)), "the checkpoint is not there");
            self.compare(&opened).await?;
        }
        self.compare_newest().await.map(|_| ())
    }

    pub(crate) async fn compact(&mut self) -> Result<()> {
        let (oldest, newest) = (self.history.oldest, self.history.newest());
        if oldest == newest {
            return Ok(());
        }
        let mishap = Mishap::by(&mut self.chance);
        let from = oldest + self.chance.below(newest - oldest);
        let to = (from + 1 + self.chance.below(8)).min(newest);
        self.trace.begin(format!("compact {from}..={to}, {mishap:?}"));
        let snapshot = self.load(None).await?;
        let ended = self
            .place
            .run(mishap, compact(&snapshot, to_version(from), to_version(to)))
            .await;
        self.trace.end(&ended, |done| format!("{done:?}"));
        if is_there(&self.place.location, from).await? {
            self.ends_well(&ended);
        } else if let Some(done) = &ended.outcome {
            // An interrupted cleanup leaves a checkpoint without its commit: the version can be opened, but not
            // compacted.
            let error = done.as_ref().err().map(Error::kind);
            assert!(
                ended.was_met || error == Some(ErrorKind::VersionNotFound),
                "{done:?}"
            );
        }
        self.tally.compactions += usize::from(matches!(ended.outcome, Some(Ok(Some(_)))));
        // Opening a version in or after the range may use the file.
        let between = to + self.chance.below(newest - to + 1);
        self.compare(&self.load(Some(between)).await?).await?;
        self.compare_newest().await.map(|_| ())
    }

    pub(crate) async fn checksum(&mut self) -> Result<()> {
        let writer = self.chance.below(WRITERS);
        let mishap = Mishap::by(&mut self.chance);
        let snapshot = self.hold_listed(writer).await?;
        self.trace
            .begin(format!("checksum of {}, {mishap:?}", number_of(&snapshot)));
        let ended = self
            .place
            .run(
                mishap,
                write_missing_checksum(&snapshot, self.clocks.writer_ms(writer)),
            )
            .await;
        self.trace.end(&ended, |done| format!("{done:?}"));
        self.ends_well(&ended);
        self.tally.checksums += usize::from(matches!(ended.outcome, Some(Ok(_))));
        // Opening the version compares both.
        self.compare(&self.load(Some(number_of(&snapshot))).await?).await
    }

    /// Cleans up with the clock of some writer.
    pub(crate) async fn clean_up(&mut self) -> Result<()> {
        let writer = self.chance.below(WRITERS);
        let mishap = Mishap::by(&mut self.chance);
        self.clean_up_by(writer, mishap).await
    }

    pub(crate) async fn clean_up_by(&mut self, writer: usize, mishap: Mishap) -> Result<()> {
        self.trace
            .begin(format!("clean up by writer {writer}, {mishap:?}"));
        let snapshot = self.load(None).await?;
        let work = self.clocks.as_writer(writer, clean_up_now(&snapshot));
        let ended = self.place.run(mishap, work).await;
        self.trace.end(&ended, |done| {
            format!("{:?}, {} files", done.plan.oldest_kept(), done.deleted.len())
        });
        self.ends_well(&ended);
        self.compare_oldest().await?;
        if let Some(Ok(done)) = &ended.outcome
            && let Some(kept) = done.plan.oldest_kept()
        {
            assert_eq!(
                kept,
                to_version(self.history.oldest),
                "the log begins elsewhere than it is said"
            );
        }
        self.compare(&self.load(Some(self.history.oldest)).await?).await?;
        self.compare_newest().await.map(|_| ())
    }

    /// Advances the time of all clocks.
    pub(crate) async fn pass_time(&mut self) -> Result<()> {
        let passed_ms = self.clocks.pass(&mut self.chance).await;
        self.trace.begin(format!("{} seconds pass", passed_ms / 1000));
        Ok(())
    }
}

/// Whether the commit of a version is in the log.
async fn is_there(location: &Arc<TableLocation>, version: usize) -> Result<bool> {
    let listing = Listing::whole(location).await?;
    Ok(listing
        .commits()
        .any(|commit| commit.path.version == to_version(version)))
}
