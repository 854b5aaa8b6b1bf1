//! Commits a transaction, and runs post-commit maintenance.

use deltaic_protocol::{Error, Result};

use super::state::Attempts;
use crate::post_commit::{OwnCommit, run_post_commit};
use crate::transaction::{Committed, Transaction, already_done, assign_row_ids};

impl Transaction<'_> {
    /// Commits as the version after the snapshot, or after winning commits that do not conflict. Rebases the actions
    /// over each winning commit: row ids, versions and timestamps are those of the next commit.
    ///
    /// # Errors
    ///
    /// `CommitConflict` with the conflict class; `CommitUnknown` if the outcome could not be determined.
    /// Any other error means that nothing was committed and nothing will be. Post-commit maintenance cannot fail the
    /// commit.
    #[tracing::instrument(target = "deltaic::commit", name = "commit", level = "info", skip_all, fields(table = self.location().uri(), version = tracing::field::Empty))]
    pub async fn commit(mut self) -> Result<Committed> {
        let (location, snapshot) = (self.location(), self.snapshot());
        let located = |error: Error| {
            let error = error.with("table", location.uri());
            match snapshot {
                Some(snapshot) => error.with("version", snapshot.version()),
                None => error,
            }
        };
        if let Some(app) = &self.options.app_transaction
            && let Some(done) = snapshot.and_then(|snapshot| already_done(snapshot, app))
        {
            return Ok(done);
        }
        self.stage_app_transaction();
        if let Some(snapshot) = snapshot {
            (self.support_check)(snapshot.configuration()).map_err(located)?;
        }
        let base = self.base().await.map_err(located)?;
        let mut proposal = self.proposal.clone();
        assign_row_ids(&mut proposal, &base).map_err(located)?;
        proposal.validate().map_err(located)?;
        let mut attempts = Attempts::new(&self, proposal, base);
        let mut committed = attempts.run().await?;
        tracing::Span::current().record("version", committed.version.as_i64());
        if !committed.skipped {
            let made = OwnCommit {
                location,
                read: snapshot,
                version: committed.version,
                bytes: &|| attempts.bytes_of(&committed),
            };
            committed.post_commit = run_post_commit(made, self.options.post_commit).await;
        }
        Ok(committed)
    }
}
