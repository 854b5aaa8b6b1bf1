//! Commits that stall between two requests while others continue: they commit, write checkpoints, clean up, and time
//! passes.

use std::time::Duration;

use deltaic_log::transaction::Vectors;
use deltaic_protocol::Result;
use deltaic_storage::clock::{Deadline, with_clock};
use deltaic_testkit::hold::HoldPoint;

use super::commits::{Tried, described};
use super::machine::{Machine, WRITERS, number_of};
use super::planned_commit::transaction;
use super::table_location::{Ended, Held, Mishap};

/// Maximum number of requests before a commit stalls: most make few.
const MOST_REQUESTS: usize = 8;

impl Machine {
    pub(crate) async fn commit_stalled(&mut self) -> Result<()> {
        let writer = self.chance.below(WRITERS);
        let snapshot = self.hold(writer).await?;
        let read = number_of(&snapshot);
        let state = self.history.state(read).clone();
        let planned = self.planned(&state, writer);
        let kept = self.kept();
        let most = 1 + self.chance.below(MOST_REQUESTS);
        let request = self.chance.below(most);
        let point = [HoldPoint::Before, HoldPoint::After][self.chance.below(2)];
        let uniter = self.uniter(kept, &state);
        let mut ours = transaction(&snapshot, &state, &planned, kept).await?;
        ours.vectors = uniter.as_ref().map(|uniter| uniter as &dyn Vectors);
        ours.options.post_commit = self.maintain();
        // It continues however long it was stalled.
        ours.options.deadline = Some(Deadline::after(Duration::MAX));
        self.trace.begin(format!(
            "writer {writer} at {read}, held up {point:?} request {request}: {}, {:?}, rows: {}, {:?}",
            described(&planned),
            planned.isolation,
            ours.vectors.is_some(),
            ours.options.post_commit,
        ));
        let mut work = Box::pin(with_clock(self.clocks.of(writer), ours.commit()));
        let mut has_outlived = self.outlived[writer];
        let (mut landed, mut is_stalled) = (None, false);
        let outcome = match self.place.until_held(&mut work, request, point).await {
            Held::Ended(outcome) => outcome,
            Held::Waits(hold) => {
                landed = self.take_in(&planned, read).await?;
                let oldest = self.history.oldest;
                let others = 1 + self.chance.below(6);
                for _ in 0..others {
                    self.meanwhile(writer).await?;
                }
                has_outlived |= self.history.oldest > oldest;
                is_stalled = true;
                self.tally.stalls += 1;
                self.trace.begin(format!("writer {writer} goes on"));
                drop(hold);
                work.await
            }
        };
        let ended = Ended {
            outcome: Some(outcome),
            was_met: false,
        };
        self.trace.end(&ended, |committed| {
            format!(
                "{} {}",
                committed.version,
                if committed.skipped { "skipped" } else { "" }
            )
        });
        let tried = Tried {
            planned,
            read,
            has_outlived,
            is_stalled,
            landed,
        };
        self.check(&ended, tried).await?;
        self.go_on(writer, &ended).await
    }

    /// A step of another writer while a writer is stalled.
    async fn meanwhile(&mut self, writer: usize) -> Result<()> {
        let other = (writer + 1 + self.chance.below(WRITERS - 1)) % WRITERS;
        match self.chance.below(8) {
            0 => Box::pin(self.checkpoint_by(other, Mishap::None)).await,
            1 => Box::pin(self.clean_up_by(other, Mishap::None)).await,
            2 => self.pass_time().await,
            3 => {
                // The steps required to clean up the log that the stalled writer uses.
                self.pass_time().await?;
                self.held[other] = None;
                Box::pin(self.checkpoint_by(other, Mishap::None)).await?;
                self.pass_time().await?;
                Box::pin(self.clean_up_by(other, Mishap::None)).await
            }
            _ => Box::pin(self.commit_by(other, Mishap::None)).await,
        }
    }
}
