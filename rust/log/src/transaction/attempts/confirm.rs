//! Verifies by the log that a version can be proposed, and that readers see a commit.

use deltaic_protocol::{Result, Version};

use super::contains_commit::is_shown_by;
use super::gap::{Next, Readable, UnverifiedVersion, cleaned_up, ensure_same_table, look_for};
use super::state::{Attempts, CommittedBy};
use super::words::{exists, not_shown, not_synced};
use crate::snapshot::{LoadOptions, Snapshot};
use crate::transaction::already_done;

impl Attempts<'_> {
    /// Verifies that a version can be proposed. Returns the winning commit if the log shows that the version is taken.
    pub(super) async fn check_before_proposal(&mut self, version: Version) -> Result<Option<CommittedBy>> {
        // The catalog determines the versions, not the files.
        if self.is_from_catalog() {
            return Ok(None);
        }
        // An open proposal may be repeated without a check, unless the log may have been cleaned up since.
        if self.open.is_some() && !self.continuity.needs_listing(&self.base) {
            return Ok(None);
        }
        let Some(snapshot) = self.transaction.snapshot() else {
            return self.check_before_creation().await;
        };
        let (next, readable) = self.continuity.before_proposal(snapshot, &self.base).await?;
        // The table was loaded for this check.
        self.is_same_table |= readable == Readable::No;
        match next {
            Next::Free => Ok(None),
            Next::Taken => match self.see(version).await? {
                Some(seen) => Ok(Some(seen)),
                None => Err(cleaned_up(version, "a listing of the log contained it")),
            },
        }
    }

    /// Verifies that no table exists, and creates the folder of its log.
    async fn check_before_creation(&mut self) -> Result<Option<CommittedBy>> {
        if self.continuity.before_first_version(self.location()).await? == Next::Taken {
            return Err(exists(self.location()));
        }
        if let Some(why) = self.transaction.committer.prepare().await? {
            self.warnings.push(not_synced(Version::ZERO, &why));
        }
        Ok(None)
    }

    /// Verifies that readers see this commit at a version. An error means that this is unknown.
    pub(super) async fn confirm(&self, version: Version) -> Result<()> {
        let Some(found) = self.look_for(version).await? else {
            return Ok(());
        };
        let UnverifiedVersion { newest, file } = &found;
        let Some(read) = self.transaction.snapshot() else {
            return match newest.metadata().id == self.base.table.metadata().id {
                true => Ok(()),
                false => Err(not_shown(version, newest.version())),
            };
        };
        let is_whole = [self.base.table.metadata(), newest.metadata()]
            .into_iter()
            .all(|metadata| !self.continuity.may_be_cleaned_up(metadata));
        if is_shown_by(newest, read, &self.base, &self.proposal, *file, is_whole).await? {
            return Ok(());
        }
        Err(not_shown(version, newest.version()))
    }

    /// Verifies that readers see the application's version in a winning commit, which makes this commit unnecessary.
    pub(super) async fn confirm_done(&self, version: Version) -> Result<()> {
        let Some(found) = self.look_for(version).await? else {
            return Ok(());
        };
        let app = self.transaction.options.app_transaction.as_ref();
        if app.is_some_and(|app| already_done(&found.newest, app).is_some()) {
            return Ok(());
        }
        let state = format!(
            "the newest version, {}, does not contain it",
            found.newest.version()
        );
        Err(cleaned_up(version, &state))
    }

    /// Looks for a version in the log if it may have been written after a cleanup. `None` if readers see it.
    pub(super) async fn look_for(&self, version: Version) -> Result<Option<UnverifiedVersion>> {
        if self.is_from_catalog() || !self.continuity.needs_confirmation(self.base.table.metadata()) {
            return Ok(None);
        }
        let mut options = LoadOptions::default();
        if let Some(snapshot) = self.transaction.snapshot() {
            // A delayed proposal may have been written to a table that was recreated at the same path.
            ensure_same_table(snapshot).await?;
            options.max_line_bytes = snapshot.max_line_bytes();
        }
        look_for(self.location(), version, options).await
    }

    /// Whether a catalog determines which versions exist, not the files of the log.
    pub(super) fn is_from_catalog(&self) -> bool {
        self.transaction.committer.is_gapless()
            || (self.transaction.snapshot()).is_some_and(Snapshot::is_from_catalog)
    }
}
