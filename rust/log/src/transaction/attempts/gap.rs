//! Verifies that the log continues from the version that a transaction is based on.
//!
//! A log is cleaned up from its beginning. A stale writer may find the next version free after later commits were
//! cleaned up; no reader would see a commit there. The same names are free in a table that was dropped and recreated.
//! So the log is listed before a proposal if the last listing is old, and after a commit that took long.
//!
//! Protocol: *Metadata Cleanup*, *Creation of New Log Entries*.

use std::sync::Arc;

use deltaic_protocol::actions::Metadata;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::properties::log_retention_ms;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};

use super::contains_commit::CommitFile;
use crate::cleanup::SHORT_RETENTION_MS;
use crate::listing::Listing;
use crate::segment::{complete_checkpoints, newest_version};
use crate::snapshot::{LoadOptions, Snapshot, VersionFile};
use crate::transaction::Base;
use deltaic_storage::clock::Observed;
use deltaic_storage::location::TableLocation;

/// A listing older than this is repeated before a proposal.
const SEEN_LATELY_MS: i64 = 60_000;

/// How long a dropped and recreated table may remain undetected on a store where the check costs a request.
const FRESH_MS: i64 = 5_000;

/// A commit that succeeds this long after the last listing is verified in the log.
const SLOW_COMMIT_MS: i64 = 1_000;

/// Whether the version after the base is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Not known to exist.
    Free,
    /// A listing contains it.
    Taken,
}

/// The result of the last listing of the log: no gap after the version that a transaction is based on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Continuity {
    /// The time of the listing; `None` if the log must be listed before the next proposal.
    listed: Option<Observed>,
    /// The newest version that existed at that time.
    newest: Option<Version>,
    /// The version after the base when the file of the version that was read last existed: by then neither it nor a
    /// later version was cleaned up.
    verified: Version,
}

impl Continuity {
    /// The state of the log when the snapshot of a transaction was loaded.
    pub(in crate::transaction) fn of(snapshot: &Snapshot, base: &Base) -> Self {
        Self {
            listed: snapshot.listed(),
            newest: Some(snapshot.version()),
            verified: base.next,
        }
    }

    /// The state of a log that has not been listed yet.
    pub(in crate::transaction) fn unknown() -> Self {
        Self {
            listed: None,
            newest: None,
            verified: Version::ZERO,
        }
    }

    /// Requires a listing before the next proposal.
    pub(super) fn forget(&mut self) {
        self.listed = None;
    }

    fn age_ms(self) -> i64 {
        self.listed.map_or(i64::MAX, Observed::age_ms)
    }

    /// Whether the last listing contains a version.
    fn next(self, version: Version) -> Next {
        if self.newest >= Some(version) {
            Next::Taken
        } else {
            Next::Free
        }
    }

    /// Verifies that no table exists, by a listing that is not old.
    pub(super) async fn before_first_version(&mut self, location: &TableLocation) -> Result<Next> {
        if self.age_ms() >= SEEN_LATELY_MS {
            let observed = Observed::now();
            *self = Self {
                listed: Some(observed),
                newest: newest_version(&Listing::whole(location).await?),
                verified: Version::ZERO,
            };
        }
        Ok(self.next(Version::ZERO))
    }

    /// Whether the log must be listed before the next proposal.
    pub(super) fn needs_listing(self, base: &Base) -> bool {
        required(base.table.metadata(), self.age_ms(), true) == Required::Listing
    }

    /// Verifies that readers of the table that was read will see a commit after the base. If the file of the version
    /// that was read was deleted, the table is opened once for this check.
    ///
    /// # Errors
    ///
    /// `CommitConflict` if later versions were cleaned up or the table was recreated; errors of the store.
    pub(super) async fn before_proposal(
        &mut self,
        snapshot: &Snapshot,
        base: &Base,
    ) -> Result<(Next, Readable)> {
        let is_on_disk = snapshot.location().file_system().is_some();
        let mut readable = Readable::Yes;
        match required(base.table.metadata(), self.age_ms(), is_on_disk) {
            Required::Nothing => return Ok((self.next(base.next), readable)),
            Required::SameFile => {
                readable = ensure_same_table(snapshot).await?;
                if readable == Readable::Yes {
                    self.verified = base.next;
                    return Ok((self.next(base.next), readable));
                }
                // Later versions may be cleaned up as well.
            }
            Required::Listing => {}
        }
        readable = self.list_again(snapshot, base, readable).await?;
        Ok((self.next(base.next), readable))
    }

    /// Lists the log. `readable` shows whether the file of the version that was read was deleted.
    ///
    /// # Errors
    ///
    /// See [`before_proposal`](Self::before_proposal).
    pub(super) async fn list_again(
        &mut self,
        snapshot: &Snapshot,
        base: &Base,
        mut readable: Readable,
    ) -> Result<Readable> {
        let observed = Observed::now();
        let listing = ensure_no_gap(snapshot.location(), self.verified).await?;
        if readable == Readable::Yes && !snapshot.is_shown_in(&listing) {
            readable = ensure_same_table(snapshot).await?;
        }
        if readable == Readable::No {
            ensure_not_cleaned_up(&listing, self.verified)?;
        }
        *self = Self {
            listed: Some(observed),
            newest: newest_version(&listing),
            verified: if readable == Readable::Yes {
                base.next
            } else {
                self.verified
            },
        };
        Ok(readable)
    }

    /// Whether a successful commit must be verified in the log: since the last listing, other writers may have
    /// committed the same version and later ones, and cleaned them up.
    pub(super) fn needs_confirmation(self, metadata: &Metadata) -> bool {
        is_confirmed(metadata, self.age_ms())
    }

    /// Whether a cleanup may have deleted commits that were made since the last listing. Otherwise it retains them: see
    /// [`SHORT_RETENTION_MS`].
    pub(super) fn may_be_cleaned_up(self, metadata: &Metadata) -> bool {
        has_short_retention(metadata) || self.age_ms() >= SHORT_RETENTION_MS
    }
}

/// Whether a successful commit is verified in the log, by the age of the last listing.
fn is_confirmed(metadata: &Metadata, age_ms: i64) -> bool {
    has_short_retention(metadata) || age_ms >= SLOW_COMMIT_MS
}

/// The check before a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Required {
    Nothing,
    /// The file of the version that was read.
    SameFile,
    /// The log from the base version on.
    Listing,
}

/// The check that is required, by the age of the last listing. On a disk, checking a file is cheap.
fn required(metadata: &Metadata, age_ms: i64, is_on_disk: bool) -> Required {
    if has_short_retention(metadata) || age_ms >= SEEN_LATELY_MS {
        Required::Listing
    } else if is_on_disk || age_ms >= FRESH_MS {
        Required::SameFile
    } else {
        Required::Nothing
    }
}

fn has_short_retention(metadata: &Metadata) -> bool {
    !log_retention_ms(metadata).is_ok_and(|kept| kept >= SHORT_RETENTION_MS)
}

/// The newest version of a log whose listing does not prove that it contains a commit.
pub(super) struct UnverifiedVersion {
    pub(in crate::transaction) newest: Snapshot,
    pub(in crate::transaction) file: CommitFile,
}

/// Looks in the log for a commit that was made as `version`. `None` if every reader sees it.
///
/// A version with later versions and a checkpoint at or after it may precede the gap that a cleanup left, since the
/// checkpoint may have been written before the version. Only the content of the checkpoint decides.
pub(super) async fn look_for(
    location: &Arc<TableLocation>,
    version: Version,
    options: LoadOptions,
) -> Result<Option<UnverifiedVersion>> {
    let listing = Listing::from(location, version).await?;
    let is_replayed = newest_version(&listing)
        .is_some_and(|newest| first_missing(&listing, version).is_ok_and(|missing| missing > newest));
    let has_checkpoint = complete_checkpoints(&listing, None)
        .iter()
        .any(|checkpoint| checkpoint.version >= version);
    if is_replayed && !has_checkpoint {
        return Ok(None);
    }
    let is_listed = listing.commits().any(|commit| commit.path.version == version);
    Ok(Some(UnverifiedVersion {
        newest: Snapshot::load(Arc::clone(location), None, options).await?,
        file: if is_listed {
            CommitFile::Listed
        } else {
            CommitFile::Deleted
        },
    }))
}

/// The first version at or after `from` whose commit is not listed.
fn first_missing(listing: &Listing, from: Version) -> Result<Version> {
    let mut missing = from;
    for commit in listing.commits() {
        if commit.path.version == missing {
            missing = missing.next()?;
        }
    }
    Ok(missing)
}

/// Whether the file of the version that was read still exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readable {
    Yes,
    /// It was cleaned up.
    No,
}

/// Verifies that the table is the one that was read: the file of the version is unchanged, or it was cleaned up and the
/// newest version belongs to the same table.
///
/// # Errors
///
/// `CommitConflict` if it is another table; errors of the store.
pub(super) async fn ensure_same_table(snapshot: &Snapshot) -> Result<Readable> {
    if snapshot.is_from_catalog() {
        return Ok(Readable::Yes);
    }
    let version = snapshot.version();
    let what = match snapshot.version_file().await? {
        VersionFile::Same => return Ok(Readable::Yes),
        VersionFile::Another => format!("version {version} is not the version that was read"),
        VersionFile::Gone => {
            let options = LoadOptions {
                max_line_bytes: snapshot.max_line_bytes(),
            };
            match Snapshot::load(Arc::clone(snapshot.location()), None, options).await {
                Ok(newest) if newest.metadata().id != snapshot.metadata().id => "its id differs".to_owned(),
                Ok(newest) if newest.version() < version => {
                    format!(
                        "version {version} was read, but it is at version {}",
                        newest.version()
                    )
                }
                Ok(_) => return Ok(Readable::No),
                Err(error) if error.kind() == ErrorKind::TableNotFound => "no table exists".to_owned(),
                Err(error) => return Err(error),
            }
        }
    };
    Err(Error::new(
        ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
        format!("the table that was read was dropped or restored concurrently, and another one is at its path: {what}"),
    )
    .with("version", version)
    .hint("reopen the table, check that it is the intended one, and run the operation on its newest version"))
}

/// Verifies that no version is missing between `next` and the newest. Returns the listing from the version before
/// `next` on.
///
/// # Errors
///
/// `CommitConflict` if a version is missing; errors of the store.
async fn ensure_no_gap(location: &TableLocation, next: Version) -> Result<Listing> {
    let mut is_again = false;
    loop {
        let listing = Listing::from(location, next.previous().unwrap_or(next)).await?;
        let missing = first_missing(&listing, next)?;
        match newest_version(&listing) {
            // A listing during a commit may contain the checkpoint but not the commit before it.
            Some(newest) if newest >= missing && !is_again => is_again = true,
            Some(newest) if newest >= missing => {
                return Err(cleaned_up(missing, &format!("the table is at version {newest}")));
            }
            // If a stale listing lacks the version, its proposal fails.
            _ => return Ok(listing),
        }
    }
}

/// Verifies that `next` was not cleaned up together with the version that was read. A commit of that version was
/// otherwise made by a stale writer, and readers begin at the checkpoint after it.
fn ensure_not_cleaned_up(listing: &Listing, next: Version) -> Result<()> {
    let checkpoints = complete_checkpoints(listing, None);
    let versions = checkpoints.iter().map(|checkpoint| checkpoint.version);
    match versions.filter(|version| Some(*version) >= next.previous()).min() {
        Some(first) if first > next => Err(cleaned_up(next, &format!("readers begin at version {first}"))),
        _ => Ok(()),
    }
}

/// The conflict of a transaction whose next version was cleaned up. Nothing was committed.
pub(super) fn cleaned_up(version: Version, state: &str) -> Error {
    Error::new(
        ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
        format!("version {version} was committed by another writer and cleaned up before this transaction could be rebased: {state}"),
    )
    .with("path", LogPath::commit(version))
    .with("version", version)
    .hint("open the table again, and run the operation on its newest version")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::samples::metadata;

    fn listed_now() -> Continuity {
        Continuity {
            listed: Some(Observed::now()),
            ..Continuity::unknown()
        }
    }

    #[test]
    fn the_older_the_listing_the_more_is_checked() {
        let lasting = metadata(&[], &[]);
        let expires = metadata(&[], &[("delta.logRetentionDuration", "interval 0 days")]);
        for (age_ms, network, disk) in [
            (0, Required::Nothing, Required::SameFile),
            (FRESH_MS - 1, Required::Nothing, Required::SameFile),
            (FRESH_MS, Required::SameFile, Required::SameFile),
            (SEEN_LATELY_MS - 1, Required::SameFile, Required::SameFile),
            (SEEN_LATELY_MS, Required::Listing, Required::Listing),
            (i64::MAX, Required::Listing, Required::Listing),
        ] {
            for (is_on_disk, expected) in [(false, network), (true, disk)] {
                assert_eq!(required(&lasting, age_ms, is_on_disk), expected, "{age_ms}");
                assert_eq!(required(&expires, age_ms, is_on_disk), Required::Listing);
            }
        }
    }

    #[test]
    fn a_commit_is_confirmed_after_a_while_or_if_commits_expire_soon() {
        let lasting = metadata(&[], &[]);
        let expires = metadata(&[], &[("delta.logRetentionDuration", "interval 59 minutes")]);
        let unreadable = metadata(&[], &[("delta.logRetentionDuration", "soon")]);
        for (age_ms, expected) in [
            (0, false),
            (SLOW_COMMIT_MS - 1, false),
            (SLOW_COMMIT_MS, true),
            (i64::MAX, true),
        ] {
            assert_eq!(is_confirmed(&lasting, age_ms), expected, "{age_ms}");
            assert!(is_confirmed(&expires, age_ms));
            assert!(is_confirmed(&unreadable, age_ms));
        }
        let mut forgotten = listed_now();
        forgotten.forget();
        assert!(forgotten.needs_confirmation(&lasting));
    }

    /// The age is at least the time on the paused clock; on the wall clock the machine may add to it.
    #[tokio::test(start_paused = true)]
    #[expect(clippy::disallowed_methods, reason = "the test's clock is paused")]
    async fn a_second_after_the_listing_is_long() {
        let listed = listed_now();
        let ms = u64::try_from(SLOW_COMMIT_MS).unwrap_or_default();
        tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
        assert!(listed.needs_confirmation(&metadata(&[], &[])));
    }
}
