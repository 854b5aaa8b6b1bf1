//! Readers: old versions, and refreshes to the newest one.

use deltaic_protocol::{ErrorKind, Result};

use super::machine::{Machine, WRITERS, number_of};
use super::table_location::{Mishap, to_version};

impl Machine {
    /// Reads any version: the table as it was then, or the error that it was cleaned up.
    pub(crate) async fn travel(&mut self) -> Result<()> {
        let version = self.chance.below(self.history.newest() + 1);
        self.trace.begin(format!("travel to {version}"));
        let writer = self.chance.below(WRITERS);
        match self.clocks.as_writer(writer, self.load(Some(version))).await {
            Ok(snapshot) => {
                assert_eq!(snapshot.version(), to_version(version));
                self.compare(&snapshot).await?;
                self.tally.compared += 1;
                // Some continue to work with it.
                if version >= self.history.oldest && self.chance.below(3) == 0 {
                    self.held[writer] = Some(snapshot);
                    self.outlived[writer] = false;
                }
            }
            Err(error) => {
                assert!(version < self.history.oldest, "{error}");
                assert_eq!(error.kind(), ErrorKind::VersionNotFound, "{error}");
            }
        }
        Ok(())
    }

    /// A refreshed snapshot equals a newly opened one, also after a failed attempt.
    pub(crate) async fn refresh(&mut self) -> Result<()> {
        let writer = self.chance.below(WRITERS);
        let mishap = Mishap::by(&mut self.chance);
        let snapshot = self.hold(writer).await?;
        self.trace
            .begin(format!("refresh of {}, {mishap:?}", number_of(&snapshot)));
        let ended = self
            .place
            .run(mishap, self.clocks.as_writer(writer, snapshot.refresh()))
            .await;
        self.trace.end(&ended, |snapshot| snapshot.version().to_string());
        match ended.outcome {
            Some(Ok(fresh)) if ended.was_met => {
                // Only what the store hid from it may be missing.
                assert!(number_of(&fresh) >= number_of(&snapshot));
                self.compare_hindered(&fresh, self.outlived[writer]).await?;
            }
            Some(Ok(fresh)) => {
                assert_eq!(number_of(&fresh), self.history.newest());
                self.compare_held(&fresh, self.outlived[writer]).await?;
                self.tally.compared += 1;
                self.held[writer] = Some(fresh);
            }
            Some(Err(error)) => assert!(ended.was_met, "nothing befell it: {error}"),
            None => self.held[writer] = None,
        }
        self.compare_newest().await.map(|_| ())
    }
}
