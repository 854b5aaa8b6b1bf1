//! Runs a cleanup.

use std::collections::HashSet;

use deltaic_protocol::features::{Maintenance, ensure_maintainable};
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use tracing::Span;

use super::cutoff::{Cutoff, SHORT_RETENTION_MS, cutoff_ms, left_behind_ms};
use super::delete::delete_all;
use super::deletion::Deletion;
use super::plan::{CleanupPlan, LogFacts, RetentionReason, plan};
use super::protected::all_are_understood;
use super::rules::CleanupRules;
use super::sidecars::unreferenced;
use super::stale_files::{left_behind, stale_proposals};
use super::store_time::store_time_ms;
use crate::checksum::ensure_counted;
use crate::decode::checkpoint::Checkpoint;
use crate::last_checkpoint::{Hint, read_last_checkpoint};
use crate::listing::{Listing, list_folder};
use crate::segment::CheckpointFiles;
use crate::snapshot::Snapshot;
use crate::time_travel::newest_not_after;
use deltaic_storage::location::TableLocation;
use deltaic_storage::{is_not_a_folder, store_error};

/// Maximum number of unreadable checkpoints to skip in the search for a readable one.
const MOST_UNREADABLE: usize = 8;

/// Result of a cleanup.
#[derive(Clone, Debug)]
pub struct CleanedUp {
    /// The plan, with reasons.
    pub plan: CleanupPlan,
    /// The deleted files, in order.
    pub deleted: Vec<Deletion>,
    /// Descriptions of what was retained although it may have expired.
    pub not_deleted: Vec<String>,
}

/// Plans a cleanup without deleting anything. `now_ms` is the time in milliseconds since the epoch.
///
/// # Errors
///
/// See [`clean_up`].
pub async fn plan_cleanup(snapshot: &Snapshot, now_ms: i64) -> Result<CleanupPlan> {
    let planned = async {
        let (snapshot, mut plan) = plan_of_log(snapshot, now_ms).await?;
        let (beside, _) = beside_the_log(&snapshot, &plan, now_ms).await?;
        plan.waves.extend(beside);
        Ok(plan)
    };
    planned
        .await
        .map_err(|error: Error| error.with("table", snapshot.location().uri()))
}

/// Runs [`clean_up`] with the store's current time.
///
/// # Errors
///
/// See [`clean_up`].
pub async fn clean_up_now(snapshot: &Snapshot) -> Result<CleanedUp> {
    let location = snapshot.location();
    let located = |error: Error| error.with("table", location.uri());
    validate(snapshot).map_err(located)?;
    let now_ms = store_time_ms(location).await.map_err(located)?;
    clean_up(snapshot, now_ms).await
}

/// Deletes the expired files of a table's log: commits, version checksums, checkpoints and compaction files before the
/// newest checkpoint that is old enough, then unreferenced sidecars and files of interrupted writers. `now_ms` is the
/// time in milliseconds since the epoch by the store's clock, which stamps the files: with a clock that is ahead,
/// commits that writers still need would expire.
///
/// The retained checkpoint is read in full first. Must be called inside a runtime.
///
/// # Errors
///
/// `UnsupportedFeature` for a catalog-managed table or one with an unknown feature; `CorruptLog` for a damaged log, of
/// which nothing is deleted, and for a property with an invalid value; `StorageError`. Whatever was deleted before an
/// error, the table is as readable as after a complete cleanup.
#[tracing::instrument(target = "deltaic::maintenance", name = "clean up log", level = "info", skip_all, fields(table = snapshot.location().uri(), deleted = tracing::field::Empty))]
pub async fn clean_up(snapshot: &Snapshot, now_ms: i64) -> Result<CleanedUp> {
    let cleaned = async {
        let (snapshot, plan) = plan_of_log(snapshot, now_ms).await?;
        let location = snapshot.location();
        let mut deleted = Vec::new();
        for wave in &plan.waves {
            delete_all(location, wave).await?;
            deleted.extend(wave.iter().cloned());
        }
        let (beside, not_deleted) = beside_the_log(&snapshot, &plan, now_ms).await?;
        for wave in beside {
            delete_all(location, &wave).await?;
            deleted.extend(wave);
        }
        Span::current().record("deleted", deleted.len());
        Ok(CleanedUp {
            plan,
            deleted,
            not_deleted,
        })
    };
    cleaned
        .await
        .map_err(|error: Error| error.with("table", snapshot.location().uri()))
}

fn validate(snapshot: &Snapshot) -> Result<()> {
    let checked = ensure_maintainable(snapshot.configuration(), Maintenance::MetadataCleanup);
    checked.map_err(|error| error.with("version", snapshot.version()))
}

/// Plans the cleanup of the log itself by the newest version's rules, and verifies the checkpoint that it retains.
async fn plan_of_log(snapshot: &Snapshot, now_ms: i64) -> Result<(Snapshot, CleanupPlan)> {
    validate(snapshot)?;
    // Another writer may have changed the rules since then.
    let snapshot = snapshot.refresh().await?;
    validate(&snapshot)?;
    let location = snapshot.location();
    let mut rules = CleanupRules::of(snapshot.configuration())?;
    let listing = Listing::whole(location).await?;
    let timestamp_ms = cutoff_ms(now_ms, rules.log_retention_ms);
    let times = InCommitTimestamps::of(snapshot.configuration())?;
    let mut commit = newest_not_after(location, &listing, &times, timestamp_ms).await?;
    // In-commit timestamps come from the writer's clock. If that lags far enough, a new commit expires at once.
    if rules.log_retention_ms >= SHORT_RETENTION_MS
        && let Some(new) = first_written_lately(&listing, now_ms)
    {
        commit = commit.min(Some(new));
    }
    let cutoff = Cutoff { timestamp_ms, commit };
    let hint = match read_last_checkpoint(location).await {
        Hint::Version(version) => Some(version),
        Hint::Absent | Hint::Unusable(_) => None,
        // Otherwise the checkpoint that it names could be deleted, and readers that start there would fail.
        Hint::Unread(why) => {
            let path = format!("{LOG_FOLDER}/{LAST_CHECKPOINT}");
            let message = format!("_last_checkpoint could not be read: {why}");
            return Err(Error::new(ErrorKind::StorageError, message)
                .with("path", path)
                .hint("nothing was deleted; clean up again when the store responds"));
        }
    };
    let mut unreadable: Vec<CheckpointFiles> = Vec::new();
    loop {
        let known = LogFacts {
            hint,
            unreadable: &unreadable,
        };
        let mut planned = plan(&listing, cutoff, &rules, known)?;
        if let (Some(RetentionReason::Protected(_)), Some(up_to)) = (planned.kept, cutoff.commit)
            && all_are_understood(&snapshot, &listing, up_to).await?
        {
            rules.protected_before = None;
            planned = plan(&listing, cutoff, &rules, known)?;
        }
        let Some(checkpoint) = &planned.checkpoint else {
            return Ok((snapshot, planned));
        };
        match verify_checkpoint(&snapshot, checkpoint).await {
            Ok(()) => {
                let stale = staged_before(location, checkpoint.version).await?;
                if !stale.is_empty() {
                    planned.waves.insert(0, stale);
                }
                return Ok((snapshot, planned));
            }
            Err(error) if error.kind() == ErrorKind::StorageError => return Err(error),
            Err(_) if unreadable.len() < MOST_UNREADABLE => unreadable.push(checkpoint.clone()),
            Err(_) => {
                let uncut = CleanupPlan {
                    cutoff,
                    checkpoint: None,
                    kept: Some(RetentionReason::NoCheckpoint),
                    waves: Vec::new(),
                };
                return Ok((snapshot, uncut));
            }
        }
    }
}

/// The first commit that the store wrote within the last hour, by its own clock.
fn first_written_lately(listing: &Listing, now_ms: i64) -> Option<Version> {
    let mut commits = listing.commits();
    let new = commits.find(|file| file.modified_ms.abs_diff(now_ms) < SHORT_RETENTION_MS.unsigned_abs());
    new.map(|file| file.path.version)
}

/// The staged proposals of versions before a checkpoint. They are deleted before any commit: a writer that stalls
/// before it links its proposal to the version's name must not find that name free. Listed after the checkpoint was
/// written: a proposal staged later is for a later version, or its writer detects the gap.
async fn staged_before(location: &TableLocation, checkpoint: Version) -> Result<Vec<Deletion>> {
    if location.file_system().is_none() {
        return Ok(Vec::new());
    }
    match list_folder(location, &location.below(LOG_FOLDER)?).await {
        Ok(listed) => Ok(stale_proposals(&listed.objects, checkpoint)),
        Err(error) if is_not_a_folder(&error) => Ok(Vec::new()),
        Err(error) => Err(store_error(&error, LOG_FOLDER)),
    }
}

/// Verifies that a checkpoint can replace the commits before it: reads all of it, including sidecars and tombstones,
/// and compares its number of files with the version checksum, if one exists.
async fn verify_checkpoint(snapshot: &Snapshot, checkpoint: &CheckpointFiles) -> Result<()> {
    let read = Checkpoint::read(snapshot.location(), checkpoint, snapshot.max_line_bytes()).await?;
    read.ensure_paths_once()?;
    ensure_counted(snapshot.location(), &read).await?;
    read.read_tombstones().await.map(|_| ())
}

/// The unreferenced sidecars and the files of interrupted writers, and descriptions of what was skipped.
async fn beside_the_log(
    snapshot: &Snapshot,
    plan: &CleanupPlan,
    now_ms: i64,
) -> Result<(Vec<Vec<Deletion>>, Vec<String>)> {
    let mut not_deleted = Vec::new();
    if plan.kept == Some(RetentionReason::Disabled) {
        return Ok((Vec::new(), not_deleted));
    }
    let location = snapshot.location();
    let before_ms = left_behind_ms(now_ms);
    let paths: HashSet<&str> = plan.deletions().map(|deletion| deletion.path.as_str()).collect();
    let sidecars = unreferenced(location, &paths, before_ms, snapshot.max_line_bytes()).await;
    let sidecars = sidecars.unwrap_or_else(|error| {
        not_deleted.push(format!("sidecars were not deleted: {error}"));
        Vec::new()
    });
    let folder = location.below(LOG_FOLDER)?;
    let stale_files = match list_folder(location, &folder).await {
        Ok(listed) => {
            let name =
                |deletion: &'_ Deletion| deletion.path.rsplit('/').next().unwrap_or_default().to_owned();
            let gone: Vec<String> = plan.deletions().map(name).collect();
            let gone = gone.iter().map(String::as_str).collect();
            left_behind(&listed.objects, &gone, before_ms)
        }
        Err(error) if is_not_a_folder(&error) => Vec::new(),
        Err(error) => return Err(store_error(&error, LOG_FOLDER)),
    };
    let mut waves = vec![sidecars, stale_files];
    waves.retain(|wave| !wave.is_empty());
    Ok((waves, not_deleted))
}
